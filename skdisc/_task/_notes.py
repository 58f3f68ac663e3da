"""What a reader of a result must know: how it came to be, and what it cannot say."""

from skdisc._space._codes import UNSEEN
from skdisc._utils._validation import plain

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
    if detector._audited.is_assumed:
        notes.append(
            f"The favourable label was assumed to be {detector.pos_label_[0]!r}; set pos_label to "
            "say otherwise."
        )
    if task.people.n_dropped:
        notes.append(f"{task.people.n_dropped} rows with a missing protected value were left out.")
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


def with_doubts(discovery, doubts):
    """Add doubts to the notes of a Discovery; where nothing was found, nothing could have been.

    Parameters
    ----------
    discovery : Discovery
    doubts : list of str

    Returns
    -------
    Discovery
    """
    if doubts and not discovery.n_found and discovery.smallest_gap <= discovery.required_gap:
        discovery.smallest_gap = float("nan")
    discovery.notes = [*discovery.notes, *doubts]
    return discovery


def unseen(task, protected):
    """Say which values of protected columns were not there at fit, a list of str."""
    doubts = []
    for name in protected:
        column, values = task.space[name], task.X[name]
        if column.kind == "numeric":
            continue
        new = values[column.encode(values) == UNSEEN]
        if len(new):
            some = ", ".join(repr(plain(v)) for v in list(dict.fromkeys(new))[:5])
            doubts.append(
                f"{len(new)} rows have values of {name} that were not there at fit, and belong to "
                f"no group that was measured: {some}."
            )
    return doubts


def too_few_draws(n, significance):
    """Say whether n random draws give no p-value that is small enough, a list of str."""
    least = 1 / (n + 1)
    if not n or least <= significance:
        return []
    return [
        f"{n} random draws give no p-value below {least:.2g}: nothing could be found at level "
        f"{significance:g}. Draw more."
    ]


def turned(p_values, significance):
    """Say whether groups differ on new rows as none did at fit, a list of str."""
    n = int((p_values <= significance).sum())
    if not n:
        return []
    return [
        f"{n} single groups differ significantly on these rows (see the tables), but not as "
        "the findings of fit did: fit again on these rows to find them."
    ]
