"""Pictures of results. Needs the extra ``plot``."""

from skdisc.plotting._worlds import WorldsDisplay

__all__ = ["WorldsDisplay"]
