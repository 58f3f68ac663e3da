"""Sample: uniform draws with the outcomes of all their variants, and the scores read off them."""

import numpy as np

from skdisc._hashing import KeyIndex
from skdisc.individual._search import Ledger

_RESAMPLES = 999


class Sample:
    """Uniform draws, the outcomes of all their variants, and the variant each draw carries."""

    def __init__(self, prober, task):
        self.prober, self.task = prober, task
        self.index, self.ledger = KeyIndex(), Ledger(prober)
        self.outcomes = np.empty((0, prober.n_combos))
        self.ids, self.carried = np.empty(0, np.int64), np.empty(0, np.int64)
        self.n_blocks = 0
        self._bootstrap = task.rng.spawn(1)[0]

    @property
    def n(self):
        """Number of draws, repeated inputs counted again."""
        return len(self.ids)

    def draw(self, n):
        """Draw `n` more inputs and ask about those never asked before; fewer if a budget ends."""
        task, prober = self.task, self.prober
        self.n_blocks += 1
        codes = task.space.sample(n, task.rng)
        carried = task.rng.integers(prober.n_combos, size=n)
        ids, first = self.index.add(task.space.key(codes, task.space.np_index))
        new = np.flatnonzero(first)
        allowed = task.budget.allow(len(new), prober.n_combos)
        if allowed < len(new):
            keep = slice(0, new[allowed])
            ids, carried, new = ids[keep], carried[keep], new[:allowed]
        outcomes = prober.outcomes(codes[new])
        hit = prober.is_case(outcomes) if len(new) else np.zeros(0, dtype=bool)
        self.ledger.record(codes[new], outcomes, hit)
        self.outcomes = np.concatenate([self.outcomes, outcomes])
        self.ids, self.carried = (
            np.concatenate([self.ids, ids]),
            np.concatenate([self.carried, carried]),
        )
        task.budget.tests += len(new)
        task.budget.found += int(hit.sum())

    def _variants(self, attributes):
        """Return for every combination those that differ from it in `attributes` at most."""
        others = [j for j in range(self.prober.combos.shape[1]) if j not in attributes]
        fixed = self.prober.combos[:, others]
        return (fixed[:, None, :] == fixed[None, :, :]).all(axis=2)

    def causal_hits(self, attributes):
        """Count the draws whose outcome changes with these attributes, the others as drawn."""
        same = self._variants(attributes)[self.carried]
        outcomes = self.outcomes[self.ids]
        high = np.where(same, outcomes, -np.inf).max(axis=1)
        low = np.where(same, outcomes, np.inf).min(axis=1)
        return int(np.sum(high - low > self.prober.min_gap))

    def group_score(self, attributes, significance):
        """Return the group score with its interval and the groups at its ends."""
        combos, names = self.prober.combos[:, list(attributes)], self.task.space.protected
        groups, group_of = np.unique(combos, axis=0, return_inverse=True)
        same = self._variants(attributes)[self.carried]
        chosen = np.stack(
            [
                np.where(same & (group_of.ravel() == g), self.outcomes[self.ids], 0).sum(axis=1)
                for g in range(len(groups))
            ]
        )
        if not self.n:
            return dict.fromkeys(("group", "group_low", "group_high"), np.nan) | {
                "favoured": None,
                "disfavoured": None,
            }
        rates = chosen.mean(axis=1)
        patterns, counts = np.unique(chosen, axis=1, return_counts=True)
        weights = self._bootstrap.multinomial(self.n, counts / self.n, size=_RESAMPLES)
        resampled = weights @ patterns.T / self.n
        spread = resampled.max(axis=1) - resampled.min(axis=1)
        low, high = np.quantile(spread, [significance / 2, 1 - significance / 2])
        columns = [self.task.space[names[a]] for a in attributes]
        text = [
            ", ".join(f"{c.name}={c.text(v)}" for c, v in zip(columns, g, strict=True))
            for g in groups
        ]
        ends = {"favoured": text[int(rates.argmax())], "disfavoured": text[int(rates.argmin())]}
        return {
            "group": float(np.ptp(rates)),
            "group_low": float(low),
            "group_high": float(high),
            **ends,
        }
