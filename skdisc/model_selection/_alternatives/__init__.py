"""The search for less discriminatory alternatives, and the test of what it chose."""

from skdisc.model_selection._alternatives._report import AlternativeReport
from skdisc.model_selection._alternatives._search import AlternativeSearch

__all__ = ["AlternativeReport", "AlternativeSearch"]
