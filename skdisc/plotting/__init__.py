"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._effectiveness_cost import EffectivenessCostDisplay
from skdisc.plotting._generator import plot_hierarchy, plot_phases
from skdisc.plotting._worlds import WorldsDisplay

__all__ = ["EffectivenessCostDisplay", "WorldsDisplay", "plot_hierarchy", "plot_phases"]
