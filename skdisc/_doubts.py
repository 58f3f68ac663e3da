"""Doubts: why finding nothing says nothing about some groups."""

from skdisc._column import UNSEEN, plain


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
