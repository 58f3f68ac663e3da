"""Data sets to audit: synthetic ones with a known law, and public ones."""

from skdisc.datasets._copula._copula import GaussianCopula
from skdisc.datasets._copula._schema import Attribute, Schema
from skdisc.datasets._copula._schema_from_frame import schema_from_frame
from skdisc.datasets._fetch import (
    fetch_acs_income,
    fetch_ad_campaign,
    fetch_adult,
    fetch_bank,
    fetch_compas,
    fetch_german,
    fetch_law_school,
    fetch_ssl,
)
from skdisc.datasets._hiring import make_hiring
from skdisc.datasets._loan import make_loan
from skdisc.datasets._pay import make_pay
from skdisc.datasets._plant_bias import plant_bias
from skdisc.datasets._ranking import make_ranking_discrimination
from skdisc.datasets._synthetic._make_discrimination import make_discrimination
from skdisc.datasets._synthetic._truth import Effect, Truth

__all__ = [
    "Attribute",
    "Effect",
    "GaussianCopula",
    "Schema",
    "Truth",
    "fetch_acs_income",
    "fetch_ad_campaign",
    "fetch_adult",
    "fetch_bank",
    "fetch_compas",
    "fetch_german",
    "fetch_law_school",
    "fetch_ssl",
    "make_discrimination",
    "make_hiring",
    "make_loan",
    "make_pay",
    "make_ranking_discrimination",
    "plant_bias",
    "schema_from_frame",
]
