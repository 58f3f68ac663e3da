"""Subgroup detectors with the settings that make results as published."""

from functools import partial

from skdisc import subgroup

PUBLISHED = {"versus": "everyone", "order": "effect", "distinct": False}
FACTS = partial(subgroup.FACTS, order="effect", learn_on=None)
DivExplorer = partial(subgroup.DivExplorer, **PUBLISHED)
SliceFinder = partial(subgroup.SliceFinder, **PUBLISHED)
SliceLine = partial(subgroup.SliceLine, **PUBLISHED)
BiasScan = partial(subgroup.BiasScan, versus="everyone")
