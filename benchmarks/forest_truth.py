"""What of the planted groups does a trained model repeat, and is what is found true of the model?

`DisparityPursuit` finds fewer of the planted groups in the decisions of a forest than in the
labels it is trained on, and more that was not planted. Which of the two errs, the forest or the
search? For each planted group and each claim, the *own gap* of the model is measured without noise:
2,000 new people of the group's context are asked about twice, with the protected values of people
of the group and with those of the others in the context. The own gap of the law of the labels is
the same difference of expected outcomes. A model is audited on the half of the people it is not
trained on, so the labels of this half are audited, too.

Run: python -m benchmarks.forest_truth [--repeats 1] [--audited forest]
"""

import argparse
import warnings

import numpy as np
import pandas as pd

from skdisc import Limits
from skdisc._space._subgroup import Subgroup
from skdisc.benchmark import _run as runs
from skdisc.benchmark._known_truth import KnownTruth
from skdisc.benchmark._protocols import PROTOCOLS, default_detectors
from skdisc.benchmark._score import score_result
from skdisc.subgroup._estimation._contrasts import context_of

N_PEOPLE, N_ASKED, FEWEST = 50_000, 2_000, 10
REAL = 0.02  # own gaps that are no rounding, of 2,000 people
DETECTOR = "DisparityPursuit"


class OwnGaps:
    """The differences that a model makes between people who differ by protected values alone."""

    def __init__(self, made, expected, seed):
        self.rng, self.expected = np.random.default_rng([seed, 5]), expected
        self.protected = list(made.protected)
        self.people = made.truth.sample(N_PEOPLE, random_state=self.rng)

    def of(self, group):
        """Return the own gap of a group; NaN where its context has too few people."""
        part = Subgroup([p for p in group.predicates if p.column in self.protected])
        context = self.people[context_of(group, self.protected).mask(self.people)]
        inside = part.mask(context)
        if min(inside.sum(), (~inside).sum()) < FEWEST:
            return np.nan
        asked = context.sample(N_ASKED, replace=True, random_state=self.rng.integers(2**31))
        means = []
        for side in (inside, ~inside):
            values = context.loc[side, self.protected]
            drawn = values.sample(N_ASKED, replace=True, random_state=self.rng.integers(2**31))
            other = asked.copy()
            for name in self.protected:
                other[name] = drawn[name].to_numpy()
            means.append(np.mean(self.expected(other)))
        return means[0] - means[1]


def audited(draw, model_name):
    """Return what was planted, repeated, found and true in a draw; None if nothing is planted."""
    made, (X, y, model), truth = runs._prepare(draw, model_name)
    if not truth.targets:
        return None
    trained = truth.model
    learned = OwnGaps(made, lambda rows: np.asarray(trained.predict(rows)) == 1, draw[3])
    planted = OwnGaps(made, made.truth.law.expected, draw[3])
    gaps = [(planted.of(t.subgroup), learned.of(t.subgroup)) for t in truth.targets]
    row = {"dataset": draw[0], "n_targets": len(gaps)}
    row["planted"], row["repeated"] = np.nanmean(np.abs(gaps), axis=0)
    row["half"] = sum(abs(own) >= abs(of) / 2 and own * of > 0 for of, own in gaps)
    detector = runs._set_up(default_detectors()[DETECTOR], made, Limits(), draw[3])
    result = detector.fit(X, y, model).result_
    row |= scores("model", result, truth)
    effects = result.findings.table["effect"].to_numpy()
    own = np.array([learned.of(g) for g in result.findings.subgroups], dtype=float)
    row["true"] = int((np.abs(own) >= REAL)[np.sign(own) == np.sign(effects)].sum())
    labels = runs._set_up(default_detectors()[DETECTOR], made, Limits(), draw[3]).fit(X, y).result_
    return row | scores("labels", labels, KnownTruth(made, None, draw[3]))


def scores(name, result, truth):
    """Return claims, right ones, and planted groups found, each with a name."""
    own, hit = score_result(result, truth, np.random.default_rng(0))
    counts = {"claims": own["n_claimed"], "right": own["n_right"], "found": sum(hit)}
    return {f"{name} {what}": n for what, n in counts.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--audited", default="forest", choices=runs.AUDITED[2:])
    given = parser.parse_args()
    rows = []
    for draw in runs._draws(PROTOCOLS["medium"]["datasets"], given.repeats, 0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                row = audited(draw, given.audited)
            except ValueError as error:  # such groups cannot be planted
                print(f"{draw[0]}: {error}")
                continue
        if row is not None:
            rows.append(row)
            print(", ".join(f"{k} {v:.3g}" if k != "dataset" else v for k, v in row.items()))
    table = pd.DataFrame(rows)
    print(table.drop(columns=["dataset"]).sum().round(3).to_string())
    weights = table["n_targets"] / table["n_targets"].sum()
    print("mean own gap: planted", round((table["planted"] * weights).sum(), 3))
    print("mean own gap: repeated", round((table["repeated"] * weights).sum(), 3))


if __name__ == "__main__":
    main()
