"""Plots of results and of synthetic data. Needs the extra ``plot`` (matplotlib)."""

from skdisc.plotting._case_display import CaseDisplay
from skdisc.plotting._cause_displays import GapDisplay, ShadowsDisplay
from skdisc.plotting._counterfactual_fairness import WorldsDisplay
from skdisc.plotting._effectiveness_cost import EffectivenessCostDisplay
from skdisc.plotting._flipsets import plot_flipsets, plot_transparency
from skdisc.plotting._frontier_display import FrontierDisplay
from skdisc.plotting._group_displays import (
    ForestDisplay,
    LatticeDisplay,
    SizeEffectDisplay,
    WaterfallDisplay,
)
from skdisc.plotting._monitor_display import MonitorDisplay
from skdisc.plotting._number_displays import OaxacaDisplay, QuantilesDisplay
from skdisc.plotting._situation_testing import plot_case_counts, plot_complainant, plot_groups
from skdisc.plotting._synthetic import plot_hierarchy, plot_phases

__all__ = [
    "CaseDisplay",
    "EffectivenessCostDisplay",
    "ForestDisplay",
    "FrontierDisplay",
    "GapDisplay",
    "LatticeDisplay",
    "MonitorDisplay",
    "OaxacaDisplay",
    "QuantilesDisplay",
    "ShadowsDisplay",
    "SizeEffectDisplay",
    "WaterfallDisplay",
    "WorldsDisplay",
    "plot_case_counts",
    "plot_complainant",
    "plot_flipsets",
    "plot_groups",
    "plot_hierarchy",
    "plot_phases",
    "plot_transparency",
]
