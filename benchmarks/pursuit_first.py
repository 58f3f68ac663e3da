"""Is a planted group found first as often as by an oracle that knows all expectations?

Claim: where women of one town, a sixth of 5,000 people, have a rate of favorable outcomes that is
0.10 lower, and one work in five has one that is 0.3 lower for everyone, the planted group is the
first finding of `DisparityPursuit` at least .95 times as often as that of the oracle. The oracle
tests the same candidates by the same scores at the same level; but it knows the expected outcomes
and memberships, and takes the largest score, without weights. How often its largest score is that
of the planted group, significant or not, is printed, too.

Run: python -m benchmarks.pursuit_first [--seeds 200]
"""

import argparse

import numpy as np
import pandas as pd

from benchmarks.calibration.measure import first, sides
from benchmarks.calibration.planted import SUBGROUP, drawn
from benchmarks.detection_limit import candidates_of
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit._adjustment import Residuals
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._threshold import Level

SHARES = {"sex": {"F": 0.5, "M": 0.5}, "race": {"a": 0.75, "b": 0.25}}
GAP, EFFECT, TARGET = 0.1, 0.3, 0.95
WORLDS = [  # protected and legitimate columns
    (["sex"], ["town", "work"]),
    (["sex"], ["race", "town", "work"]),
    (["sex", "race"], ["town", "work"]),
]


def known_scores(X, y, detector):
    """Return the scores of the candidates of a detector, with known expectations."""
    protected = detector.protected
    groups = candidates_of(detector, X, protected)
    shares = np.zeros(groups.is_part.shape)  # of parts without candidates, too
    for i, part in enumerate(groups.part):
        own = [p for p in groups.groups[i].predicates if p.column in protected]
        shares[part] = np.prod([_chance(p) for p in own])
    expected = 0.6 - EFFECT * (X["work"] == "p") - GAP * 0.5 * (X["town"] == "u")
    one = np.ones(len(y))
    residuals = Residuals(y - expected.to_numpy(), groups.is_part - shares, one, one, None, y)
    return Scores(groups, residuals)


def _chance(predicate):
    """Return the chance that a person satisfies a condition."""
    shares = SHARES[predicate.column]
    return predicate.mask(pd.DataFrame({predicate.column: list(shares)})) @ list(shares.values())


def firsts(detector, columns, seed):
    """Return whether the planted group comes first: with all that is estimated, and known."""
    people = drawn(seed, 5000, SUBGROUP, GAP, EFFECT)
    X, y = people.X[columns], np.asarray(people.y, dtype=float)
    result = detector.fit(X, people.y).result_
    scores = known_scores(X, y, detector)
    given, rng = scores.adjusted_for([]), np.random.default_rng(seed)
    level = Level(scores, detector.n_resamples, rng, borrow=False)
    evidence, weights = level.evidence(given)
    best = scores.candidates.groups[int(np.argmax(evidence))]
    is_first = " and ".join(sorted(map(str, best.predicates))) in sides(SUBGROUP)
    is_clear = evidence.max() > level.critical(given, weights, detector.significance)
    found = len(result) > 0 and first(result) in sides(SUBGROUP)
    return found, is_first and is_clear, is_first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200)
    options = parser.parse_args()
    for protected, legitimate in WORLDS:
        for depth in (2, 3):
            detector = DisparityPursuit(
                protected=protected, max_predicates=depth, pos_label=1, random_state=0
            )
            columns = [*protected, *legitimate]
            hits = [firsts(detector, columns, seed) for seed in range(options.seeds)]
            own, oracle, largest = np.array(hits).sum(axis=0)
            print(
                f"{columns}, {protected} protected, {depth} conditions: first {own} of "
                f"{options.seeds}, oracle {oracle} (its largest score {largest}); ratio "
                f"{own / oracle:.2f}, target {TARGET}: "
                f"{'met' if own >= TARGET * oracle else 'missed'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
