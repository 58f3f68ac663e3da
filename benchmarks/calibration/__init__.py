"""Do verdicts, intervals and rankings of all detectors mean what they say?

Every detector is run on worlds in which its null hypothesis holds, on worlds in which a disparity
is planted, and on fair worlds. `nulls`, `planted`, `hard` and `grid` draw them and name the null
hypotheses that hold, `detectors` lists the detectors with their settings, `measure` makes one row
of numbers of one fit, `counts` adds rows up, `oracle` is the search that rankings are compared
with, `summary` is the head of the page, and `page` writes ``doc/calibration.md``.
"""
