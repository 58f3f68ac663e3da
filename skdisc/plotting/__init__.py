"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._generator import plot_hierarchy, plot_phases

__all__ = ["plot_hierarchy", "plot_phases"]
