"""The people whom changes help: the model is queried about each distinct changed row once."""

from copy import copy

import numpy as np

from skdisc._blackbox._queries import AnswerCache

_CELLS = 2**22  # people times changes processed together
_ROWS = 500_000  # changed rows made at once
_KEPT = 2**24  # changed rows whose decisions are kept at once


class DecisionCache:
    """Decisions about rows and changed rows; the model is queried about each distinct row once."""

    def __init__(self, task):
        self._queries, self._budget = task.queries, task.budget
        self._cache, self._is_over = AnswerCache(bool), False

    def parts(self, n_rows):
        """Return in how many parts, by key, this many rows are queried; in one with a budget."""
        limits = self._budget.max_queries, self._budget.max_seconds
        return 1 if any(limit is not None for limit in limits) else max(1, -(-n_rows // _KEPT))

    def empty_copy(self):
        """Return an empty cache of the same model."""
        cache = copy(self)
        cache._cache = AnswerCache(bool)
        return cache

    def learn(self, keys, decided):
        """Enter the decisions about unchanged rows, which were queried before."""
        self._cache.get(keys, decided.__getitem__)

    def decisions_about(self, changed, keys, rows, which, changes):
        """Return the decision about each changed row; None once the budget forbids a query."""
        if self._is_over:
            return None

        def query(new):
            self._is_over = not self._budget.affords(len(new))
            decided = np.zeros(len(new), dtype=bool)
            for start in range(0, 0 if self._is_over else len(new), _ROWS):
                part = slice(start, start + _ROWS)
                batch = new[part]
                answers = self._queries.ask(changed.frame(rows[batch], which[batch], changes))
                decided[part] = answers > 0.5
            return decided

        decided = self._cache.get(keys, query)
        return None if self._is_over else decided


def find_flips(cache, changed, people, changes, members):
    """Query the model about the members of each change, with the change applied.

    If the changed rows are too many to keep the decisions about all, they are queried in parts by
    key, so that equal rows are in one part, and each part is forgotten after it.

    `cache`: DecisionCache. `people`: StudyPeople. Returns `flips`, of shape (n_changes, n_words):
    the members whom the change helps; `n_asked`: number of changes queried before the budget ended,
    all if it did not. Shapes: `changes` (n_changes, n_features), `members` (n_changes, n_words).
    """
    flips, keys = np.zeros_like(members), changed.keys()
    n_parts = cache.parts(int(people.layout.count(members).sum()))
    for part in range(n_parts):
        answers = cache if n_parts == 1 else cache.empty_copy()
        positions = _in_part(keys, part, n_parts)
        answers.learn(keys[positions], people.rows.decided[positions])
        n_asked = _flips_of(answers, changed, people, changes, members, flips, (part, n_parts))
    return flips, n_asked


def _flips_of(cache, changed, people, changes, members, flips, part):
    """Fill in the flips of one part, and return the number of changes queried."""
    layout = people.layout
    size = max(1, _CELLS // max(1, len(people.positions)))
    for start in range(0, len(changes), size):
        block = slice(start, start + size)
        masks = layout.unpack(members[block])
        which, person = np.nonzero(masks)
        rows = people.positions[person]
        keys = changed.keys(rows, which, changes[block])
        positions = _in_part(keys, *part)
        good = cache.decisions_about(
            changed, keys[positions], rows[positions], which[positions], changes[block]
        )
        if good is None:
            return start
        masks[:] = False
        masks[which[positions], person[positions]] = good
        flips[block] |= layout.pack(masks)
    return len(changes)


def _in_part(keys, part, n_parts):
    """Return the positions of the keys of one part."""
    return np.flatnonzero(keys % np.uint64(n_parts) == part) if n_parts > 1 else slice(None)
