"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._displays import (
    ForestDisplay,
    LatticeDisplay,
    SizeEffectDisplay,
    WaterfallDisplay,
)
from skdisc.plotting._effectiveness_cost import EffectivenessCostDisplay
from skdisc.plotting._flips import plot_flipsets, plot_transparency
from skdisc.plotting._generator import plot_hierarchy, plot_phases
from skdisc.plotting._situation import plot_case_counts, plot_complainant, plot_groups
from skdisc.plotting._worlds import WorldsDisplay

__all__ = [
    "EffectivenessCostDisplay",
    "ForestDisplay",
    "LatticeDisplay",
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
