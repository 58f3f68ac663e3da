"""Verdicts on whole groups: who is treated worse, by how much, and how surely."""

from skdisc.group._decomposition._effect_decomposition import EffectDecomposition
from skdisc.group._decomposition._oaxaca_blinder import OaxacaBlinder
from skdisc.group._group_disparity import GroupDisparity
from skdisc.group._outcome_tests._outcome_test import OutcomeTest
from skdisc.group._outcome_tests._risk_adjusted_regression import RiskAdjustedRegression
from skdisc.group._outcome_tests._threshold_test import ThresholdTest
from skdisc.group._proxy_disparity._proxy_disparity import ProxyDisparity
from skdisc.group._ranking_disparity._ranking_disparity import RankingDisparity
from skdisc.group._verifair import VeriFair

__all__ = [
    "EffectDecomposition",
    "GroupDisparity",
    "OaxacaBlinder",
    "OutcomeTest",
    "ProxyDisparity",
    "RankingDisparity",
    "RiskAdjustedRegression",
    "ThresholdTest",
    "VeriFair",
]
