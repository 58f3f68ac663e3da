"""A cache of answers, by which no row is put to a model twice."""

import numpy as np

from skdisc._utils._hashing import Growing, KeyIndex


class AnswerCache:
    """Answers of a model, by the 64-bit key of the row.

    Parameters
    ----------
    dtype : dtype, default=float
        Of an answer.
    """

    def __init__(self, dtype=float):
        self._index, self._answers = KeyIndex(), Growing(dtype)

    def get(self, keys, query):
        """Return the answer for each key, after `query` has supplied those for new keys.

        Parameters
        ----------
        keys : ndarray of uint64, shape (n,)
            Rows with equal keys are the same row.
        query : callable
            Takes the positions of the keys that are new, each at its first place, and returns one
            answer per position. These rows are known from then on and are never queried again, so
            where a budget forbids the query, `query` returns placeholders.

        Returns
        -------
        ndarray, shape (n,)
        """
        ids, is_new = self._index.add(keys)
        self._answers.extend(query(np.flatnonzero(is_new)))
        return self._answers.rows[ids]
