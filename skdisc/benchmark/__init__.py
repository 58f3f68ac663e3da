"""Benchmark of detectors on planted discrimination: resumable runs, scores, tables and figures."""

from skdisc.benchmark._article._article import write_article
from skdisc.benchmark._benchmark_result import BenchmarkResult
from skdisc.benchmark._match import Target, match_cases, match_groups, targets_of
from skdisc.benchmark._protocols import default_detectors, default_grids, run_protocol
from skdisc.benchmark._replication import replicate
from skdisc.benchmark._run import run_benchmark
from skdisc.benchmark._tune import tune_detectors

__all__ = [
    "BenchmarkResult",
    "Target",
    "default_detectors",
    "default_grids",
    "match_cases",
    "match_groups",
    "replicate",
    "run_benchmark",
    "run_protocol",
    "targets_of",
    "tune_detectors",
    "write_article",
]
