"""Notes: what a reader of a result must know about how it came to be."""

_MANY = 100  # rows from which a column of nearly distinct names looks like an identifier


def notes_on(detector, task):
    """Return the notes that any detector's result owes its reader, a list of str.

    Parameters
    ----------
    detector : BaseDetector
        Fitted; ``audited_``, ``pos_label_`` and what was left out are looked at.
    task : Task
        After the search.
    """
    notes = []
    if detector.audited_ == "surrogate":
        notes.append(
            "Audited was a surrogate, a small tree trained on y because no model was given: it is "
            "not your model."
        )
    if detector._assumed:
        notes.append(
            f"The favourable label was assumed to be {detector.pos_label_[0]!r}; set pos_label to "
            "say otherwise."
        )
    if detector._n_dropped:
        notes.append(f"{detector._n_dropped} rows with a missing protected value were left out.")
    names = _identifiers(task)
    if names:
        notes.append(
            f"The values of {', '.join(names)} hardly ever repeat, as those of an identifier: such "
            "a column tells nothing about groups, and is better left out."
        )
    queries = task.queries
    if queries is not None and queries.constant:
        answer = {0.0: "unfavourable", 1.0: "favourable"}.get(queries.lowest, queries.lowest)
        notes.append(
            f"The model gave the same answer, {answer}, to all {task.budget.queries:,} rows it was "
            "asked about: no decision differs, whoever is asked about."
        )
    return notes


def _identifiers(task):
    """Return the names of nominal columns in which most rows have a value of their own."""
    n = 0 if task.X is None else len(task.X)
    columns = task.space.columns if n >= _MANY else ()
    return [str(c.name) for c in columns if c.kind == "nominal" and c.size > n / 2]
