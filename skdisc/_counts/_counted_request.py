"""Counts passed to a detector as X: each cell is a row that stands for many people."""

from dataclasses import replace
from typing import Any

from sklearn.utils import check_random_state

from skdisc._blackbox._blackbox import BlackBox
from skdisc._counts._counted_table import CountedTable, SourceRows, is_source, rows_to_draw
from skdisc._counts._counts import Counts
from skdisc._space._bins import Bins
from skdisc._task._task import Request
from skdisc._utils._validation import check_protected

_ANY = 2**62  # numbers that are not binned are items one by one


def with_rows(detector: Any, request: Any, *, at_fit: bool = False) -> Any:
    """Return a request whose X are counts with a row for each cell; others as they are.

    Raises TypeError if the detector, with its settings, needs the rows of single people. Raises
    ValueError if something is passed that counts contain themselves, or bins are not those of fit.
    """
    if is_source(request.X):
        request = _read(detector, request, at_fit)
    counts, name = request.X, type(detector).__name__
    if not isinstance(counts, Counts):
        return request
    if not detector._counts_rows:
        raise TypeError(
            f"{name}, as it is set, needs the rows of people, got Counts. Pass the rows, or a "
            "sample of them."
        )
    arguments = {
        "y": request.y,
        "model": request.model,
        "sample_weight": request.sample_weight,
        "groups": request.groups,
    }
    passed = [what for what, value in arguments.items() if value is not None]
    if passed:
        raise ValueError(
            f"Counts contain labels and decisions: {name} got {', '.join(passed)} besides. Name "
            "the columns when counting, label= and decision=, or count with decide=."
        )
    decisions = counts.outcomes(counts.schema.decision)
    if decisions is None and detector.estimator is not None:
        raise ValueError(
            f"{name} has an estimator, which can't be asked about Counts. Count its decisions with "
            "decide=, or set estimator=None to audit labels."
        )
    edges = counts.schema.edges
    if not at_fit and edges != getattr(detector._counted_bins, "edges", None):
        raise ValueError(
            f"The columns were binned otherwise when {name} was fitted. Count with the schema of "
            "the counts of fit."
        )
    model = None if decisions is None or not at_fit else BlackBox(decisions=decisions)
    rows = {"X": counts.frame(), "y": counts.outcomes(counts.schema.label), "model": model}
    return replace(request, **rows, frequency=counts.n, bins=Bins(n=_ANY, edges=edges))


def _read(detector, request, at_fit):
    """Return a request with the counts of a table, or with a sample of its rows."""
    for name in ("sample_weight", "groups"):
        if getattr(request, name) is not None:
            raise ValueError(f"A table that is read part by part takes no {name}.")
    rows = SourceRows.read(request.X, request.y, request.model, detector.estimator)
    protected = check_protected(detector.protected, rows.columns)
    if detector._counts_rows and at_fit:
        table = CountedTable.of(
            rows,
            protected,
            pos_label=detector.pos_label,
            n_bins=getattr(detector, "n_bins", 4),
            random_state=detector.random_state,
        )
        return Request(table.counts, sample=table.sample)
    if detector._counts_rows:
        raise ValueError("Count the table with the schema of the counts of fit, and pass Counts.")
    n = rows_to_draw(detector, rows.source.n_rows)
    return rows.sample(n, protected, check_random_state(detector.random_state).randint(2**31))
