"""Detectors of individual discrimination: people whose decision changes with a protected value."""

from skdisc.individual._exact_tree import ExactTree
from skdisc.individual._kosei import KOSEI
from skdisc.individual._themis import Themis

__all__ = ["KOSEI", "ExactTree", "Themis"]
