"""Detectors of individual discrimination: people whose decision changes with a protected value."""

from skdisc.individual._adf import ADF
from skdisc.individual._aequitas import Aequitas
from skdisc.individual._boundary_search import BoundarySearch
from skdisc.individual._counterfactual_fairness._counterfactual_fairness import (
    CounterfactualFairness,
)
from skdisc.individual._eidig import EIDIG
from skdisc.individual._expga import ExpGA
from skdisc.individual._fliptest._fliptest import FlipTest
from skdisc.individual._kosei import KOSEI
from skdisc.individual._limi import LIMI
from skdisc.individual._prevalence._exact_tree import ExactTree
from skdisc.individual._prevalence._themis import Themis
from skdisc.individual._sg import SG
from skdisc.individual._situation_testing._counterfactual_situation_testing import (
    CounterfactualSituationTesting,
)
from skdisc.individual._situation_testing._similarity import Similarity
from skdisc.individual._situation_testing._situation_testing import SituationTesting

__all__ = [
    "ADF",
    "EIDIG",
    "KOSEI",
    "LIMI",
    "SG",
    "Aequitas",
    "BoundarySearch",
    "CounterfactualFairness",
    "CounterfactualSituationTesting",
    "ExactTree",
    "ExpGA",
    "FlipTest",
    "Similarity",
    "SituationTesting",
    "Themis",
]
