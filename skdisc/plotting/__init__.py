"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._generator import plot_hierarchy, plot_phases
from skdisc.plotting._worlds import WorldsDisplay

__all__ = ["WorldsDisplay", "plot_hierarchy", "plot_phases"]
