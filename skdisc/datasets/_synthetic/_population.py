"""Phase 3: the people of each planted subgroup, and a background that belongs to none."""

import numpy as np
import pandas as pd

from skdisc._space._codes import NOBODY

_MOST_ROUNDS = 60


def populate(sampler, law, sizes, n_background, rng):
    """Draw the people.

    Parameters
    ----------
    sampler : GaussianCopula or SDVSampler
    law : OutcomeLaw
    sizes : sequence of int
        Number of people to draw in each planted subgroup.
    n_background : int
        Number of people in no planted subgroup.

    Returns
    -------
    X : DataFrame
        In random order.
    origin : ndarray of int, shape (n_rows,)
        The subgroup for which each row was drawn, or NOBODY for the background.

    Raises
    ------
    ValueError
        If nearly all people belong to a planted subgroup, or there is no row.
    """
    groups = [law.levels.subgroup(definition) for definition in law.definitions]
    parts = [sampler.sample_each(sizes, groups, random_state=rng)] if groups else []
    origin = [np.repeat(np.arange(len(groups)), sizes)]
    missing = n_background
    for _ in range(_MOST_ROUNDS):
        if not missing:
            break
        drawn = sampler.sample(int(1.2 * missing) + 100, random_state=rng)
        outside = np.ones(len(drawn), dtype=bool)
        outside[law.members(drawn)[0]] = False
        parts.append(drawn[outside][:missing])
        origin.append(np.full(len(parts[-1]), NOBODY))
        missing -= len(parts[-1])
    if missing:
        raise ValueError(
            f"n_background={n_background} people cannot be drawn, because nearly all people belong "
            "to a planted subgroup. Plant fewer pairs, or raise granularity or n_values."
        )
    if not sum(map(len, parts)):
        raise ValueError(
            "The data would have no rows: no pair could be planted, and n_background is 0."
        )
    order = rng.permutation(sum(map(len, parts)))
    X = pd.concat(parts, ignore_index=True).take(order).reset_index(drop=True)
    return X, np.concatenate(origin)[order]
