"""Do verdicts, intervals and rankings of all detectors mean what they say?

Every detector is run on worlds in which its null hypothesis holds, on worlds in which a disparity
is planted, and on fair worlds. `worlds` draws them and names the null hypotheses that hold,
`detectors` lists the detectors with their settings, `measure` makes one row of numbers of one fit,
`oracle` is the search that rankings are compared with, and `page` writes ``doc/calibration.md``.
"""
