"""Data to audit: made by known laws."""

from skdisc.datasets._loan import make_loan

__all__ = ["make_loan"]
