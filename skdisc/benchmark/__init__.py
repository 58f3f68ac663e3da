"""Detectors against planted truth: runs that resume, scores with intervals, tables and figures."""

from skdisc.benchmark._match import Target, match_cases, match_groups, targets_of
from skdisc.benchmark._result import BenchmarkResult
from skdisc.benchmark._run import run_benchmark

__all__ = [
    "BenchmarkResult",
    "Target",
    "match_cases",
    "match_groups",
    "run_benchmark",
    "targets_of",
]
