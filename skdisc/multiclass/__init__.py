"""Decisions of three classes or more, each audited against the rest."""

from skdisc.multiclass._one_vs_rest import OneVsRest

__all__ = ["OneVsRest"]
