"""The inputs that ExactTree tests: of the parts or of the slab it computed, or of the space."""

import math
import sys

import numpy as np
import pandas as pd

from skdisc._utils._hashing import KeyIndex
from skdisc.individual._prevalence._exact_tree_slab import in_slab, slab_share
from skdisc.individual._prober import all_inputs, n_inputs
from skdisc.individual._search._loop import Strategy, propose

_DRAWS = 100_000
_AT_ONCE, _TURNS = 10_000, 100


class Parts(Strategy):
    """The strategy: uniform draws, then the middle of each part, the largest first.

    Attributes
    ----------
    share : tuple of two floats
        Bounds on the share of discriminatory inputs.
    expected : ndarray of bool
        Whether each distinct input proposed is computed to be a case.
    """

    def __init__(self, space, regions, draws):
        self.space = space
        order = np.argsort(-regions.shares, kind="stable")
        self.sizes, self.shares = regions.sizes[order], regions.shares[order]
        self.share = (float(self.shares.sum()),) * 2
        is_case = np.concatenate([regions.contain(space, draws), np.ones(len(order), dtype=bool)])
        self._propose(np.concatenate([draws, regions.middles(space)[order]]), is_case)

    def _propose(self, rows, is_case):
        """Set the inputs to test, and whether each of them should be a case."""
        self.rows = [propose(self.space, rows)]
        _, first = KeyIndex().add(self.rows[0].keys)
        self.expected = is_case[first]

    def ask(self):
        return self.rows.pop() if self.rows else None

    def tables(self):
        """Return the tables of the result."""
        return {"parts": pd.DataFrame({"inputs": self.sizes, "share": self.shares})}

    def notes_on(self, ledger, total):
        """Return a note if the model decided otherwise than computed."""
        agrees = ledger.hit == self.expected[: len(ledger.hit)]
        if agrees.all():
            return []
        return [
            f"The model was read wrongly: {int((~agrees).sum())} of {len(agrees)} inputs tested "
            "are decided otherwise than computed. Do not rely on the share."
        ]


class Slab(Parts):
    """The strategy: uniform draws, then inputs drawn from the slab."""

    def __init__(self, space, constant, parts, draws, rng):
        self.space = space
        low, high, ends = slab_share(constant, parts, space)
        self.share = low, high
        many = space.sample(_DRAWS, rng)
        inside = many[in_slab(parts, ends, many, space)]  # rare among the uniform draws
        rows = np.concatenate([draws, inside])
        self._propose(rows, in_slab(parts, ends, rows, space))

    def tables(self):
        return {}


class Trial(Strategy):
    """The strategy: all inputs of a small space in random order, or draws from a large space."""

    share = None

    def __init__(self, space, rng):
        self.space, self.rng, self.total = space, rng, n_inputs(space)
        self.turns_left = _TURNS

    def ask(self):
        """Return the next inputs to test, None if there are no more.

        A space of up to a million inputs is enumerated at once; of a larger one, 10,000 random
        inputs are drawn in each of 100 turns.
        """
        self.turns_left -= 1
        if self.turns_left < 0:
            return None
        if self.total > _TURNS * _AT_ONCE:
            return propose(self.space, self.space.sample(_AT_ONCE, self.rng))
        self.turns_left = 0
        return propose(self.space, all_inputs(self.space, self.space.np_index, self.rng))

    def tables(self):
        return {}

    def notes_on(self, ledger, total):
        """Return a note unless all inputs were tested."""
        tried = len(ledger.hit)
        if tried == total:
            return []
        return [
            "The structure of the model could not be read (this requires a tree, a small forest or "
            "a linear model with two classes, after preprocessing that works column by column, and "
            f"output='decision'): {tried:,} of {_rounded(total)} inputs were tested; nothing is "
            "known about the others."
        ]


def _rounded(number):
    """Return a whole number with three digits; one that is too large for a float with none."""
    if number <= sys.float_info.max:
        return f"{number:.3g}"
    return f"about 1e+{math.floor(math.log10(number))}"
