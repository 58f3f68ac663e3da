"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._effectiveness_cost import EffectivenessCostDisplay
from skdisc.plotting._generator import plot_hierarchy, plot_phases

__all__ = ["EffectivenessCostDisplay", "plot_hierarchy", "plot_phases"]
