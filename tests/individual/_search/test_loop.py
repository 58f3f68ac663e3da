"""The loop of all searches asks what is new, in the order proposed."""

import numpy as np
import pytest

from skdisc import FeatureSpace
from skdisc._task._budget import Budget
from skdisc.individual._search._loop import Rows, run


class Asked:
    """A prober in whose eyes even numbers are discriminatory."""

    n_combos, tests_at_once, shape = 1, 2, (1,)

    def __init__(self, space):
        self.space, self.combos, self.codes = space, np.zeros((1, 1), int), []

    def outcomes(self, codes):
        self.codes += codes[:, 0].tolist()
        return codes[:, :1] % 2.0

    def is_case(self, outcomes):
        return outcomes[:, 0] == 0

    def couples(self, outcomes):
        return np.zeros(len(outcomes), int), np.zeros(len(outcomes), int)


class Twice:
    """Proposes the same rows again and again."""

    def __init__(self, space, batches, limit):
        self.space, self.batches, self.limit, self.told = space, batches, limit, []

    def ask(self):
        if not self.batches:
            return None
        rows = np.array([[n, 0] for n in self.batches.pop(0)])
        return Rows(rows, self.space.key(rows, self.space.np_index), self.limit)

    def tell(self, candidates, ids, new, ledger):
        self.told.append((ids.tolist(), new.tolist(), ledger.hit.tolist()))


@pytest.mark.parametrize("limit", [None, 2])
def test_the_loop_asks_what_is_new_in_the_order_proposed(limit):
    space = FeatureSpace.from_domains({"n": (0, 99), "sex": ["F", "M"]}, protected="sex")
    strategy = Twice(space, [[5, 8, 5, 2], [8, 2, 9, 9, 5, 4, 6]], limit)
    prober, budget = Asked(space), Budget()
    ledger = run(strategy, prober, budget, lambda text: None)
    if limit is None:
        assert prober.codes == [5, 8, 2, 9, 4, 6]
        assert strategy.told[0] == ([0, 1, 0, 2], [0, 1, 3], [False, True, True])
        assert strategy.told[1][:2] == ([1, 2, 3, 3, 0, 4, 5], [2, 5, 6])
        assert ledger.hit.tolist() == [False, True, True, False, True, True]
        assert ledger.found()[0][:, 0].tolist() == [8, 2, 4, 6]
    else:
        assert prober.codes == [5, 8, 9, 4]
    assert (budget.tests, budget.found) == (len(prober.codes), ledger.hit.sum())
