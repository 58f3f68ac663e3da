"""What ExactTree puts to the model: parts of the space that were read, a slab, or all inputs."""

import numpy as np
import pandas as pd

from skdisc._utils._hashing import KeyIndex
from skdisc.individual._prevalence._exact_tree_regions import in_slab, slab_share
from skdisc.individual._prober import n_inputs
from skdisc.individual._search._loop import propose

_DRAWS = 100_000
_AT_ONCE, _TURNS = 10_000, 100


class Parts:
    """Propose uniform draws, then the middle of every part, the largest first."""

    def __init__(self, space, regions, draws):
        self.space = space
        order = np.argsort(-regions.sizes, kind="stable")
        self.sizes = regions.sizes[order]
        self.share = (float(self.sizes.sum() / n_inputs(space)),) * 2
        is_case = np.concatenate([regions.contain(space, draws), np.ones(len(order), dtype=bool)])
        self._propose(np.concatenate([draws, regions.middles(space)[order]]), is_case)

    def _propose(self, rows, is_case):
        self.rows = [propose(self.space, rows)]
        _, first = KeyIndex().add(self.rows[0].keys)
        self.expected = is_case[first]

    def ask(self):
        return self.rows.pop() if self.rows else None

    def tell(self, candidates, ids, new, ledger):
        pass

    def tables(self, total):
        return {"parts": pd.DataFrame({"inputs": self.sizes, "share": self.sizes / total})}

    def notes(self, ledger, total):
        agrees = ledger.hit == self.expected[: len(ledger.hit)]
        if agrees.all():
            return []
        return [
            f"The model was read wrongly: it disagreed about {int((~agrees).sum())} of "
            f"{len(agrees)} inputs that were tested. Do not rely on the share."
        ]


class Slab(Parts):
    """Propose uniform draws, then inputs drawn from the slab."""

    def __init__(self, space, constant, parts, draws, rng):
        self.space = space
        low, high, ends = slab_share(constant, parts, space)
        self.share = low, high
        many = space.sample(_DRAWS, rng)
        inside = many[in_slab(parts, ends, many, space)]
        rows = np.concatenate([draws, inside])
        self._propose(rows, in_slab(parts, ends, rows, space))

    def tables(self, total):
        return {}


class Trial:
    """Try all inputs of a small space in random order, or ever more draws from a large one."""

    share = None

    def __init__(self, space, rng):
        self.space, self.rng, self.total = space, rng, n_inputs(space)
        self.left = _TURNS

    def ask(self):
        self.left -= 1
        if self.left < 0:
            return None
        if self.total > _TURNS * _AT_ONCE:
            return propose(self.space, self.space.sample(_AT_ONCE, self.rng))
        self.left = 0
        rows = np.zeros((self.total, len(self.space)), dtype=np.int64)
        columns = [self.space.columns[j] for j in self.space.np_index]
        shape = [c.size + c.missing for c in columns]
        codes = np.unravel_index(self.rng.permutation(self.total), shape or [1])
        for j, column, own in zip(self.space.np_index, columns, codes, strict=False):
            rows[:, j] = own - column.missing
        return propose(self.space, rows)

    def tell(self, candidates, ids, new, ledger):
        pass

    def tables(self, total):
        return {}

    def notes(self, ledger, total):
        tried = len(ledger.hit)
        if tried == total:
            return []
        return [
            "The structure of the model could not be read (that takes a tree, a small forest or a "
            "linear model with two classes, behind preprocessing that works column by column, and "
            f"output='decision'): {tried:,} of {total:.3g} inputs were tried, and nothing is said "
            "of the others."
        ]
