"""Expectations: predictions of outcomes and memberships from legitimate columns."""

from skdisc._expectations._covariates import Covariates
from skdisc._expectations._crossings import Crossings, Sampling, Unlearned, widening
from skdisc._expectations._engine import Expectations, estimate, learn, said_about
from skdisc._expectations._least_squares import LEAST
from skdisc._expectations._out_of_fold import deal_rows, n_splits_of

__all__ = [
    "LEAST",
    "Covariates",
    "Crossings",
    "Expectations",
    "Sampling",
    "Unlearned",
    "deal_rows",
    "estimate",
    "learn",
    "n_splits_of",
    "said_about",
    "widening",
]
