"""Intervals, tests, rates and multiplicity correction: arrays in, arrays out."""

from skdisc._stats._bootstrap import bootstrap, percentiles, resample_counts, resampler
from skdisc._stats._multiplicity import adjust
from skdisc._stats._proportions import (
    clopper_pearson,
    fisher,
    min_detectable_gap,
    min_detectable_share,
    newcombe,
    proportions_test,
    score_test,
    wilson,
)

__all__ = [
    "adjust",
    "bootstrap",
    "clopper_pearson",
    "fisher",
    "min_detectable_gap",
    "min_detectable_share",
    "newcombe",
    "percentiles",
    "proportions_test",
    "resample_counts",
    "resampler",
    "score_test",
    "wilson",
]
