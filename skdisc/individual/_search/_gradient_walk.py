"""The walk along gradients: from seeds to cases, then from each case to cases nearby."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._steps import weighted_choice

_FLAT = (
    "The model returns decisions without margins: most steps change no decision, so that there is "
    "little to follow. KOSEI needs no gradient."
)
_TINY, _AT_ONCE = 1e-300, 2**14
_ACCEPTANCE = np.exp(-1.0)  # with which a chain moves on from a case to a non-case: "metropolis"


@dataclass(frozen=True)
class WalkRules:
    """How far and by which rules a gradient walk moves.

    Attributes
    ----------
    max_iter : int
        Moves of a seed in the global phase.
    n_local : int
        Steps from each case in the local phase.
    momentum : float
        Share of the last gradient that is kept in the next one, in the global phase.
    refresh : int or None
        Number of cases in a row after which a chain computes its gradient again; None: never.
    next_state : {"walk", "metropolis", "restart"}
        How a chain continues from an input that is not a case: from there, from there with
        probability 1/e, or from its seed.
    own_pair : bool
        Whether the variants compared are the row with its own protected values and the variant
        whose probability differs most from it; by default the two whose margins differ most.
    min_weight : float
        Smallest weight of a column in the local phase, as a share of the largest.
    """

    max_iter: int
    n_local: int
    momentum: float = 0.0
    refresh: int | None = 1
    next_state: str = "walk"
    own_pair: bool = False
    min_weight: float = 1e-3


class GradientWalk(Strategy):
    """The strategy: a global phase that turns seeds into cases, and a local phase around them.

    All seeds, and all chains of the local phase, move together. With next state "walk", where the
    outcome of a test does not decide how a chain continues, several steps are drawn before they are
    tested.
    """

    def __init__(self, task, prober, margins, seeds, rules):
        self.rng, self.space, self.budget = task.rng, task.space, task.budget
        self.prober, self.margins, self.rules = prober, margins, rules
        self.steps, self.seeds, self.rows = margins.steps, seeds, seeds.rows
        self.round, self.x, self.starts = 0, None, []
        self.gradients = np.zeros((2, len(self.rows), len(self.steps)))
        self.notes = [_FLAT] * margins.is_flat

    def ask(self):
        """Return the seeds, moved, or the next steps of all chains; None at the end."""
        if self.x is None and self.round <= self.rules.max_iter and len(self.rows):
            self.rows = self._move(self.rows) if self.round else self.rows
            return propose(self.space, self.rows)
        if self.x is None:
            self._begin_local()
        if not len(self.x) or not len(self.steps) or self.round == self.rules.n_local:
            return None
        drawn = []
        for _ in range(self._n_ahead()):
            drawn.append(self._step())
            if self.budget.stopped_by is not None:
                break
        return propose(self.space, np.concatenate(drawn))

    def tell(self, candidates, ids, new, ledger):
        """Continue from what was tested: seeds that are cases become chains."""
        if self.x is None:
            hit, self.round = ledger.hit[ids], self.round + 1
            self.starts.append((self.rows[hit], ledger.couple[ids[hit]]))
            self.rows, self.gradients = self.rows[~hit], self.gradients[:, ~hit]
        elif self.rules.next_state != "walk":
            self._go_on(ledger.hit[ids], ledger.couple[ids])

    # Global phase

    def _move(self, rows):
        """Return the seeds after a move towards the boundary of the decision."""
        if not len(self.steps):
            return rows
        first, second, rises = self._pair(rows)
        targets = []
        for i, combo in enumerate((first, second)):
            slopes = self.margins.slopes(self._with(rows, combo))
            self.gradients[i] = self.rules.momentum * self.gradients[i] + slopes.change
            targets.append(slopes.targets(self.steps, rows, self.gradients[i], rises))
        codes = rows[:, self.steps.columns]
        # Only columns in which the same step brings both variants closer to the boundary.
        agree = (targets[0] == targets[1]) & (targets[0] != codes)
        stuck, rows = np.flatnonzero(~agree.any(axis=1)), rows.copy()
        agree[stuck, self.rng.integers(len(self.steps), size=len(rows))[stuck]] = True
        target = targets[0]
        if not self.rules.own_pair:  # symmetric in the two variants
            target = np.where(targets[0] == codes, targets[1], targets[0])
            has_two_moves = (targets[0] != codes) & (targets[1] != codes)
            target = np.where(has_two_moves, np.minimum(*targets), target)
        rows[:, self.steps.columns] = np.where(agree, target, codes)
        return rows

    def _pair(self, rows):
        """Return the two combinations compared, and whether their margins should rise."""
        margins = self.margins.over(rows, self.prober.combos)
        n = np.arange(len(rows))
        first, second = margins.argmin(axis=1), -1 - margins[:, ::-1].argmax(axis=1)
        if self.rules.own_pair:
            first, shares = self._own_combo(rows), expit(margins)
            second = np.abs(shares - shares[n, first][:, None]).argmax(axis=1)
        return first, second, margins[n, first] + margins[n, second] < 0

    # Local phase

    def _own_couple(self, rows):
        """Return the combination of each case, and the first that is decided otherwise."""
        combo = self._own_combo(rows)
        margins = self.margins.over(rows, self.prober.combos)
        is_other_side = (margins > 0) != (margins[np.arange(len(combo)), combo] > 0)[:, None]
        return np.column_stack([combo, is_other_side.argmax(axis=1)])

    def _begin_local(self):
        """Start a chain at each case of the global phase."""
        if self.starts:
            cases, couples = zip(*self.starts, strict=True)
            self.x, self.couple = np.concatenate(cases), np.concatenate(couples).astype(np.intp)
        else:
            self.x, self.couple = self.rows[:0], np.zeros((0, 2), np.intp)
        if self.rules.own_pair and len(self.x):
            self.couple = self._own_couple(self.x)
        m = len(self.x)
        self.round, self.is_case, self.n_in_a_row = 0, np.ones(m, bool), np.zeros(m, int)
        self.has_moved, self.weight = np.ones(m, bool), np.ones((len(self.steps), m))
        self._update_weights(np.arange(m))
        self.x0, self.weight0 = self.x, self.weight.copy()

    def _n_ahead(self):
        """Return how many steps are drawn before they are tested, as the budget allows.

        If a limit ends the search before they are tested, they are lost: at most an eighth of what
        was tested.
        """
        if self.rules.next_state != "walk":
            return 1
        budget = self.budget
        inputs = min(_AT_ONCE, budget.tests // 8)
        n = min(self.rules.n_local - self.round, 1 + inputs // len(self.x))
        limits = (budget.max_tests, budget.tests, 1), (budget.max_queries, budget.queries, 3)
        for limit, used, cost in limits:
            if limit is not None:
                n = min(n, 1 + max(limit - used, 0) // (cost * len(self.x)))
        return n

    def _step(self):
        """Return the inputs to which the chains propose to go."""
        self._update_weights(np.flatnonzero(self.has_moved))
        u = self.rng.random((4, len(self.x)))
        sign = np.where(u[1] < 0.5, -1, 1)
        self.y = self.steps.change(self.x, weighted_choice(self.weight, u[0]), sign, u[2])
        self.u_accept, self.round = u[3], self.round + 1
        if self.rules.next_state == "walk":
            self.x, self.has_moved = self.y, (self.y != self.x).any(axis=1)
        return self.y

    def _update_weights(self, chains):
        """Update the step probabilities of some chains: inversely proportional to gradients."""
        rows = np.tile(self.x.take(chains, axis=0), (2, 1))
        rows[:, self.space.p_index] = self.prober.combos[self.couple[chains].T.ravel()]
        # Where both gradients vanish, all columns get equal weights: differences would cost two
        # queries for each column. Seeds, which need a direction, do take them.
        change = np.abs(self.margins.slopes(rows, revive=False).change)
        gradient = (change[: len(chains)] + change[len(chains) :]).T
        least = self.rules.min_weight * gradient.max(axis=0, initial=0.0) + _TINY
        self.weight[:, chains] = 1 / (gradient + least)
        self.has_moved[chains] = False

    def _go_on(self, hit, couple):
        """Move the chains or leave them in place; a restart also changes the couple compared."""
        if self.rules.next_state == "metropolis":
            goes = hit | ~self.is_case | (self.u_accept < _ACCEPTANCE)
            self.has_moved |= goes & (self.y != self.x).any(axis=1)
            self.x = np.where(goes[:, None], self.y, self.x)
            self.is_case = np.where(goes, hit, self.is_case)
            return
        self.x = np.where(hit[:, None], self.y, self.x0)
        self.weight = np.where(hit, self.weight, self.weight0)
        self.couple = np.where(hit[:, None], couple, self.couple)
        self.n_in_a_row = np.where(hit, self.n_in_a_row + 1, 0)
        if self.rules.refresh is not None:
            is_due = self.n_in_a_row % self.rules.refresh == 0
            self.has_moved = (self.has_moved | is_due) & hit

    def _with(self, rows, combo):
        """Return the rows with these protected combinations."""
        rows = rows.copy()
        rows[:, self.space.p_index] = self.prober.combos[combo]
        return rows

    def _own_combo(self, rows):
        """Return the combination nearest to the protected values that each row carries."""
        codes = rows[:, self.space.p_index]
        return np.abs(codes[:, None, :] - self.prober.combos).sum(axis=2).argmin(axis=1)
