"""Decisions as they arrive: monitors that may be looked at at any time."""

from skdisc.monitoring._disparity_monitor import DisparityMonitor

__all__ = ["DisparityMonitor"]
