"""Intervals, tests, rates and multiplicity correction: arrays in, arrays out."""

from skdisc._stats._best import best_p_value, may_be_best
from skdisc._stats._bootstrap import (
    bootstrap,
    cluster_resampler,
    percentiles,
    resample_counts,
    resampler,
    widened,
)
from skdisc._stats._designs import DesignMeans, design_chi2
from skdisc._stats._equivalence import compared_size, level_of_two_tests, people_needed
from skdisc._stats._finite_population import hypergeometric
from skdisc._stats._multiplicity import CORRECTIONS, adjust, false_coverage_level
from skdisc._stats._proportions import (
    STRONG_V,
    clopper_pearson,
    cramers_v,
    fisher,
    min_detectable_gap,
    min_detectable_share,
    newcombe,
    proportions_test,
    score_test,
    wilson,
)
from skdisc._stats._score_intervals import ratio_interval, score_interval, score_z

__all__ = [
    "CORRECTIONS",
    "STRONG_V",
    "DesignMeans",
    "adjust",
    "best_p_value",
    "bootstrap",
    "clopper_pearson",
    "cluster_resampler",
    "compared_size",
    "cramers_v",
    "design_chi2",
    "false_coverage_level",
    "fisher",
    "hypergeometric",
    "level_of_two_tests",
    "may_be_best",
    "min_detectable_gap",
    "min_detectable_share",
    "newcombe",
    "people_needed",
    "percentiles",
    "proportions_test",
    "ratio_interval",
    "resample_counts",
    "resampler",
    "score_interval",
    "score_test",
    "score_z",
    "widened",
    "wilson",
]
