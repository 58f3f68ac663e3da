"""Expectations: what legitimate columns let expect of outcomes and memberships."""

from skdisc._expectations._covariates import Covariates
from skdisc._expectations._crossings import Crossings, Sampling, Unlearned, widening
from skdisc._expectations._engine import Expectations, estimate, learn, said_about
from skdisc._expectations._out_of_fold import deal_rows

__all__ = [
    "Covariates",
    "Crossings",
    "Expectations",
    "Sampling",
    "Unlearned",
    "deal_rows",
    "estimate",
    "learn",
    "said_about",
    "widening",
]
