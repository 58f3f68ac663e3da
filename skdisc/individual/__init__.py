"""Detectors of individual discrimination: people whose decision changes with a protected value."""

from skdisc.individual._adf import ADF
from skdisc.individual._aequitas import Aequitas
from skdisc.individual._eidig import EIDIG
from skdisc.individual._exact_tree import ExactTree
from skdisc.individual._kosei import KOSEI
from skdisc.individual._themis import Themis

__all__ = ["ADF", "EIDIG", "KOSEI", "Aequitas", "ExactTree", "Themis"]
