"""What several results say together: verdicts that hold after correction for their number."""

from skdisc._results._findings import CaseFindings
from skdisc._results._judgment import FOUND, confirmed_p


def over_all(results):
    """Return the sentence on several results together; '' for fewer than two.

    A finding of one detector holds over all K detectors if K times its p-value is at most the
    level (Bonferroni); see `holds_over_all`.
    """
    n = len(results)
    if n < 2:
        return ""
    positive_results = [r for r in results if r.verdict == FOUND]
    if not positive_results:
        return f"{n} detectors were run, and none finds a disparity."
    confirmed_detectors = [r.detector for r in positive_results if holds_over_all(r, results)]
    return (
        f"{n} detectors were run, and {len(positive_results)} "
        f"find{'s' * (len(positive_results) == 1)} a disparity. Each "
        "keeps to its level by itself only; corrected for their number, "
        f"{', '.join(confirmed_detectors) or 'none'} "
        f"still find{'s' * (len(confirmed_detectors) < 2)} one."
    )


def holds_over_all(result, results):
    """Return True if a disparity is found also at the level corrected for all results.

    A case of a model that was passed is a fact, and not a matter of chance. Whether training
    makes a disparity is one question, answered once: by the cases, if there are any.
    """
    trained = [r for r in results if "training" in r.tables]
    by_cases = [r for r in trained if isinstance(r.findings, CaseFindings)]
    for lead in (by_cases or trained)[:1]:
        if lead.verdict != FOUND:
            return False
    return result.verdict == FOUND and p_of(result) * len(results) <= result.significance


def p_of(result):
    """Return the smallest corrected p-value of a result; 0 where none is needed."""
    frames = [result.findings.table]
    if isinstance(result.findings, CaseFindings):
        frames = [result.tables[n] for n in ("gaps", "effects", "flipsets") if n in result.tables]
    tested = next((f for f in frames if {"held_out_p_adjusted", "p_adjusted"} & {*f}), None)
    return 0.0 if tested is None else float(confirmed_p(tested).min())
