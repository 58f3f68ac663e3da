"""The search that follows gradients: from seeds to cases, then from each case outwards."""

import numpy as np
from scipy.special import expit

from skdisc.individual._search._loop import propose
from skdisc.individual._search._steps import weighted_choice

_TINY, _AT_ONCE = 1e-300, 2**14
_WORSE = np.exp(-1.0)  # with which a chain leaves a case for another input, in "metropolis"


class Guided:
    """The strategy: a global phase that makes cases of seeds, and a local one around them.

    All seeds, and all chains of the local phase, are moved together. Where a chain goes whatever
    comes of its tests ("walk"), several steps are taken before they are made.

    Parameters
    ----------
    task, prober, margins, seeds
    max_iter : int
        Moves of a seed.
    n_local : int
        Steps from each case.
    momentum : float
        Share of the last gradient that is kept in the next, in the global phase.
    refresh : int or None
        After so many successes in a row the gradient of a chain is looked at anew; None: never.
    next_state : {"walk", "metropolis", "restart"}
        Where a chain goes from an input that is no case: on, on with a chance of 1/e, to its seed.
    own : bool
        Whether a row is paired with the combination whose probability differs most from that of
        its own protected values, rather than the two combinations whose margins differ most.
    """

    floor = 1e-3  # no column is drawn more than a thousand times as often as another

    def __init__(self, task, prober, margins, seeds, **settings):
        self.rng, self.space, self.budget = task.rng, task.space, task.budget
        self.prober, self.margins = prober, margins
        self.steps, self.seeds, self.rows = margins.steps, seeds, seeds.rows
        self.max_iter, self.n_local = settings["max_iter"], settings["n_local"]
        self.momentum, self.refresh = settings["momentum"], settings["refresh"]
        self.next_state, self.own = settings["next_state"], settings["own"]
        self.round, self.x, self.starts = 0, None, []
        self.kept = np.zeros((2, len(self.rows), len(self.steps)))
        self.notes = (
            [
                "The model gives bare decisions: most steps change none of them, so that there is "
                "little to follow. KOSEI needs no gradient."
            ]
            if margins.is_flat
            else []
        )

    def ask(self):
        if self.x is None and self.round <= self.max_iter and len(self.rows):
            self.rows = self._move(self.rows) if self.round else self.rows
            return propose(self.space, self.rows)
        if self.x is None:
            self._begin_local()
        if not len(self.x) or not len(self.steps) or self.round == self.n_local:
            return None
        drawn = []
        for _ in range(self._n_ahead()):
            drawn.append(self._step())
            if self.budget.stopped_by is not None:
                break
        return propose(self.space, np.concatenate(drawn))

    def _n_ahead(self):
        """Return how many steps are taken before they are tested: as many as the budget allows.

        If a limit ends the search meanwhile they are lost: an eighth of what was tested, or less.
        """
        if self.next_state != "walk":
            return 1
        budget = self.budget
        inputs = min(_AT_ONCE, budget.tests // 8)
        n = min(self.n_local - self.round, 1 + inputs // len(self.x))
        limits = (budget.max_tests, budget.tests, 1), (budget.max_queries, budget.queries, 3)
        for most, spent, each in limits:
            if most is not None:
                n = min(n, 1 + max(most - spent, 0) // (each * len(self.x)))
        return n

    def _step(self):
        """Draw where each chain goes."""
        self._look(np.flatnonzero(self.stale))
        u = self.rng.random((4, len(self.x)))
        sign = np.where(u[1] < 0.5, -1, 1)
        self.y = self.steps.change(self.x, weighted_choice(self.weight, u[0]), sign, u[2])
        self.luck, self.round = u[3], self.round + 1
        if self.next_state == "walk":
            self.x, self.stale = self.y, (self.y != self.x).any(axis=1)
        return self.y

    def tell(self, candidates, ids, new, ledger):
        if self.x is None:
            hit, self.round = ledger.hit[ids], self.round + 1
            self.starts.append((self.rows[hit], ledger.couple[ids[hit]]))
            self.rows, self.kept = self.rows[~hit], self.kept[:, ~hit]
        elif self.next_state != "walk":
            self._go_on(ledger.hit[ids], ledger.couple[ids])

    def _move(self, rows):
        """Move seeds to where both variants are less sure of their decision."""
        if not len(self.steps):
            return rows
        first, second, rises = self._pair(rows)
        targets = []
        for i, combo in enumerate((first, second)):
            slopes = self.margins.slopes(self._with(rows, combo))
            self.kept[i] = self.momentum * self.kept[i] + slopes.change
            targets.append(slopes.targets(self.steps, rows, self.kept[i], rises))
        here = rows[:, self.steps.columns]
        agree = (targets[0] == targets[1]) & (targets[0] != here)
        lost, rows = np.flatnonzero(~agree.any(axis=1)), rows.copy()
        agree[lost, self.rng.integers(len(self.steps), size=len(rows))[lost]] = True
        there = targets[0]
        if not self.own:  # the order of the two variants must not matter
            there = np.where(targets[0] == here, targets[1], targets[0])
            both = (targets[0] != here) & (targets[1] != here)
            there = np.where(both, np.minimum(*targets), there)
        rows[:, self.steps.columns] = np.where(agree, there, here)
        return rows

    def _pair(self, rows):
        """Return the two combinations compared, and whether their margin is to rise."""
        margins = self.margins.over(rows, self.prober.combos)
        n = np.arange(len(rows))
        first, second = margins.argmin(axis=1), -1 - margins[:, ::-1].argmax(axis=1)
        if self.own:
            first, shares = self._own_combo(rows), expit(margins)
            second = np.abs(shares - shares[n, first][:, None]).argmax(axis=1)
        return first, second, margins[n, first] + margins[n, second] < 0

    def _begin_local(self):
        parts = zip(*self.starts, strict=True) if self.starts else (self.rows[:0], None)
        self.x, couple = (np.concatenate(p) if p is not None else None for p in parts)
        self.couple = np.zeros((0, 2), int) if couple is None else couple.astype(np.intp)
        if self.own and len(self.x):
            own = self._own_combo(self.x)
            margins = self.margins.over(self.x, self.prober.combos)
            other = (margins > 0) != (margins[np.arange(len(own)), own] > 0)[:, None]
            self.couple = np.column_stack([own, other.argmax(axis=1)])
        m = len(self.x)
        self.round, self.is_case, self.streak = 0, np.ones(m, bool), np.zeros(m, int)
        self.stale, self.weight = np.ones(m, bool), np.ones((len(self.steps), m))
        self._look(np.arange(m))
        self.x0, self.weight0 = self.x, self.weight.copy()

    def _look(self, at):
        """Look at the gradients of the chains at `at`: the less a column matters, the likelier."""
        rows = np.tile(self.x.take(at, axis=0), (2, 1))
        rows[:, self.space.p_index] = self.prober.combos[self.couple[at].T.ravel()]
        change = np.abs(self.margins.slopes(rows, revive=False).change)
        matters = (change[: len(at)] + change[len(at) :]).T
        least = self.floor * matters.max(axis=0, initial=0.0) + _TINY
        self.weight[:, at] = 1 / (matters + least)
        self.stale[at] = False

    def _go_on(self, hit, couple):
        """Move the chains on, or not; only those that start anew change the couple they follow."""
        if self.next_state == "metropolis":
            goes = hit | ~self.is_case | (self.luck < _WORSE)
            self.stale |= goes & (self.y != self.x).any(axis=1)
            self.x = np.where(goes[:, None], self.y, self.x)
            self.is_case = np.where(goes, hit, self.is_case)
            return
        self.x = np.where(hit[:, None], self.y, self.x0)
        self.weight = np.where(hit, self.weight, self.weight0)
        self.couple = np.where(hit[:, None], couple, self.couple)
        self.streak = np.where(hit, self.streak + 1, 0)
        if self.refresh is not None:
            self.stale = (self.stale | (self.streak % self.refresh == 0)) & hit

    def _with(self, rows, combo):
        rows = rows.copy()
        rows[:, self.space.p_index] = self.prober.combos[combo]
        return rows

    def _own_combo(self, rows):
        """Return the combination nearest to the protected values that each row carries."""
        own = rows[:, self.space.p_index]
        return np.abs(own[:, None, :] - self.prober.combos).sum(axis=2).argmin(axis=1)
