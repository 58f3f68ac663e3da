"""The verdict of FlipTest: the permutation tests, else the net of flips and the larger flipset."""

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from skdisc._stats import DesignMeans, level_of_two_tests
from skdisc._task._notes import too_few_draws
from skdisc._verdicts._answer import FOUND, decide
from skdisc._verdicts._candidates import Candidates
from skdisc.individual._fliptest._flipsets import FEWEST_PERMUTATIONS


def answer(detector, people, parts, flipsets, caveats):
    """Return the `Answer`.

    `people`: PlacedPeople. `parts`: list of Transported. `flipsets`: the table of that name, one
    row for each part. `caveats`: from `too_few`.
    """
    level, relevant = detector.significance, detector._gap_that_matters(people.decided)

    def interval(a):
        ends = [net_interval(part.problem, float(level_of_two_tests(a))) for part in parts]
        return tuple(np.array(ends, dtype=float).reshape(-1, 2).T)

    n, n_others = (flipsets[name].to_numpy(dtype=float) for name in ("n_group", "n_reference"))
    total = float(len(people.decided))
    candidates = Candidates(
        n,
        n_others,
        flipsets["net"] / flipsets["n"],
        interval,
        size=np.where(n + n_others == total, np.maximum(n, n_others), n),
        total=total,
        found=(flipsets["p_adjusted"] <= level).to_numpy(),
        name=list(flipsets["group"]),
    )
    net_answer = decide(
        candidates,
        relevant_gap=relevant.size,
        significance=level,
        relevant_size=detector.relevant_size,
        reasons=_reasons(detector, relevant, flipsets, caveats),
        noun="net of flips",
    )
    if net_answer.verdict != FOUND:
        return net_answer
    first = flipsets.loc[flipsets["p_adjusted"].idxmin()]
    share = max(first["positive"], first["negative"]) / first["n"]
    in_flipset = f"{share:.2g} of the people of {first['group']} are in one flipset"
    return replace(net_answer, reason=f"{in_flipset}, {first['by_chance']:.2g} by chance")


def _reasons(detector, relevant, flipsets, caveats):
    """Return why the absence of findings is inconclusive, a list of str."""
    if detector.n_permutations == 0:
        return ["n_permutations is 0, so flips were not tested"]
    if relevant.problem:
        return [relevant.problem]
    fewest = flipsets["n_permutations"].min()
    if detector.n_permutations is None and fewest < FEWEST_PERMUTATIONS:
        return [f"the time budget ended a test after {fewest:.0f} permutations"]
    if flipsets["p_value"].isna().any():
        return ["a group or its reference has nobody to be compared with"]
    level = detector.significance
    largest = float((flipsets["excess"] + ndtri(1 - level) * flipsets["spread"]).max())
    if not caveats and largest >= relevant.size:
        return [f"a flipset may be larger than by chance by {largest:.2g} of the people"]
    return caveats


def too_few(detector, flipsets, n_tests):
    """Return the caveat that one comparison alone could not be significant, a list of str."""
    n, level = detector.n_permutations, detector.significance
    if n == 0 or not len(flipsets) or flipsets["n_permutations"].isna().all():
        return []
    n = int(flipsets["n_permutations"].max())
    smallest = (flipsets["p_value"] <= 1.5 / (n + 1)).any()
    if not smallest or n_tests / (n + 1) <= level:
        return too_few_draws(n, level)
    needed = int(np.ceil(n_tests / level - 1e-9)) - 1
    return [
        f"With {n} random draws and {n_tests} comparisons, one alone cannot be significant at "
        f"level {level:g}; it takes n_permutations >= {needed}."
    ]


def net_interval(problem, significance):
    """Return low and high of the net share of flips.

    The net of a one-to-one transport is the difference in the shares of favorable decisions, within
    strata; its interval is that of Agresti and Caffo (2000), in clusters at least as wide as by the
    variance between clusters.
    """
    strata, decided = problem.people.strata, problem.people.decided
    total, gap, variance = 0, 0.0, 0.0
    for stratum in np.unique(strata[problem.one]):
        sides = [decided[rows[strata[rows] == stratum]] for rows in (problem.one, problem.zero)]
        n = len(sides[0])
        if min(map(len, sides)):
            p, q = ((side.sum() + 1) / (len(side) + 2) for side in sides)
            by_people = p * (1 - p) / (len(sides[0]) + 2) + q * (1 - q) / (len(sides[1]) + 2)
            variance_in_stratum = max(by_people, _between_clusters(problem, stratum))
            total, gap = total + n, gap + n * (p - q)
            variance += n**2 * variance_in_stratum
    if not total:
        return np.nan, np.nan
    half = ndtri(1 - significance / 2) * np.sqrt(variance) / total
    return gap / total - half, gap / total + half


def _between_clusters(problem, stratum):
    """Return the variance between clusters of the difference in shares; 0 without clusters."""
    people = problem.people
    if people.clusters is None:
        return 0.0
    rows = np.concatenate([problem.one, problem.zero])
    is_one = np.repeat([True, False], [len(problem.one), len(problem.zero)])
    inside = people.strata[rows] == stratum
    rows, is_one = rows[inside], is_one[inside]
    code = np.unique(people.clusters[rows], return_inverse=True)[1]
    d = DesignMeans.of(people.decided[rows], np.ones(len(rows)), is_one, ~is_one, code)
    return float(d.variance.sum() - 2 * d.covariance[0])
