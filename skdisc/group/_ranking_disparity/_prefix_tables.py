"""What the exact tests of prefixes say, as tables."""

import numpy as np
import pandas as pd

from skdisc._stats import adjust
from skdisc.group._ranking_disparity._exposure_gap import Side
from skdisc.group._ranking_disparity._prefixes import prefix_tests
from skdisc.group._ranking_disparity._ranking_people import RankingPeople


def prefix_tables(
    people: RankingPeople, depth: int | None
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Test the prefixes of each list.

    `depth`: the last place where a prefix may end. Returns `lists`: a row per list with people of
    both sides: the prefix with the smallest p-value, and the p-value of the list, exact over its
    prefixes; ``p_adjusted`` is Holm's over lists; `prefixes`: with one list, a row per prefix.
    """
    compared = [(n, s) for n, s in zip(people.names, people.sides, strict=True) if s.compares]
    tests = prefix_tests([_order_of(side) for _, side in compared], depth)
    rows = []
    for (name, side), test in zip(compared, tests, strict=True):
        sizes = int((side.group | side.reference).sum()), int(side.group.sum())
        worst = (0, 0, 0.0)
        if len(test.length):
            position = test.worst
            worst = (
                int(test.length[position]),
                int(test.count[position]),
                float(test.expected[position]),
            )
        rows.append((name, *sizes, *worst, test.p_value))
    names = ["list", "n", "n_group", "prefix", "in_prefix", "expected", "p_value"]
    lists = pd.DataFrame(rows, columns=names)
    lists["p_adjusted"] = adjust(lists["p_value"].to_numpy(dtype=float), "holm")
    if len(people.names) > 1:
        return lists, None
    one = tests[0]
    columns = {"prefix": one.length, "in_prefix": one.count, "expected": one.expected}
    return lists.drop(columns="list"), pd.DataFrame(columns | {"p_value": one.p_values})


def _order_of(side: Side) -> tuple[np.ndarray, np.ndarray]:
    """Return who is of the group among both sides, best first, and where no one ties."""
    is_compared = side.group | side.reference
    block = side.ranked.start[is_compared]
    return side.group[is_compared], np.append(block[1:] != block[:-1], True)
