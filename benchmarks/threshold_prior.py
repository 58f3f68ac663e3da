"""ThresholdTest on data from its own prior: simulation-based calibration.

    python benchmarks/threshold_prior.py [--draws 150] [--places 12] [--people 300]

prints how often intervals contain the difference of thresholds that was drawn, and in which fifth
of its posterior draws it lies, which all should be equally often. Draws with fewer than five people
selected on a side are left out, as the detector does. Apart stand draws in which all rates of
selection and success are between .05 and .95, and all others.
"""

import argparse

import numpy as np
from scipy.special import expit

from skdisc.group._outcome_tests import _threshold_model as model
from skdisc.group._outcome_tests._threshold_gap import ThresholdGap

LEVELS, MODEL_ERROR = (0.5, 0.2, 0.05), 0.15


def drawn(rng, n_places, n):
    """Return counts of places, and the difference of thresholds, from the prior."""
    x = np.empty(12)
    x[: model.N_MEANS] = rng.normal(model._PRIOR_MEANS, model._PRIOR_ERRORS)
    x[model.N_MEANS : model._FOLLOWS] = np.log(np.abs(rng.normal(0, model._PRIOR_SPREADS)))
    x[model._FOLLOWS] = rng.normal(*model._PRIOR_FOLLOWS)
    theta = model.parameters(x[None])
    effects = rng.normal(size=(1, n_places, 4)) * np.exp(theta[0, model._OF_EFFECT])
    risk, separation, threshold = (cell[0] for cell in model._cells(theta, effects))
    moved = rng.normal(size=(n_places, 1)) * np.exp(theta[0, model._SPREAD_OF_SEPARATION])
    separation = np.clip(separation + moved, -model._WIDEST, model._WIDEST)
    logs, _ = model.cell_probabilities(risk, separation, threshold)
    share = np.exp(logs) / np.exp(logs).sum(axis=0)
    middle, half = theta[0, 4], theta[0, 5] / 2
    counts = rng.multinomial(n, np.moveaxis(share, 0, -1)).astype(float)
    return counts, expit(middle + half) - expit(middle - half)


def is_usual(counts):
    """Return whether all rates of selection and success are between .05 and .95."""
    success, failure, other = counts.sum(axis=0).T
    selected = success + failure
    rates = np.concatenate([selected / (selected + other), success / selected])
    return bool(((rates > 0.05) & (rates < 0.95)).all())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=150)
    parser.add_argument("--places", type=int, default=12)
    parser.add_argument("--people", type=int, default=300, help="of each side in each place")
    given = parser.parse_args()
    rows, n_without = [], 0
    for seed in range(given.draws):
        rng = np.random.default_rng(seed)
        counts, truth = drawn(rng, given.places, given.people)
        if (counts[:, :, :2].sum(axis=(0, 2)) < 5).any():
            continue
        fit = model.ThresholdModel(counts).fit()
        if fit is None:
            n_without += 1
            continue
        gap = ThresholdGap.of(fit, given.places - 1, rng)
        ends = [*(gap.interval(level) for level in LEVELS), gap.interval(0.05, MODEL_ERROR)]
        inside = [low <= truth <= high for low, high in ends]
        rows.append((is_usual(counts), np.mean(gap.gap < truth), *inside, ends[2]))
    print(f"{len(rows)} draws with people selected on both sides; {n_without} without a mode")
    usual = np.array([row[0] for row in rows])
    for name, kept in (("all", usual | True), ("usual rates", usual), ("others", ~usual)):
        own = [row for row, keep in zip(rows, kept, strict=True) if keep]
        covered = np.mean([row[2:6] for row in own], axis=0).round(3)
        fifths = np.histogram([row[1] for row in own], 5, (0, 1))[0]
        width = np.median([high - low for *_, (low, high) in own])
        print(f"{name}: {len(own)}, covered by .50, .80, .95, .95 and {MODEL_ERROR}: {covered}")
        print(f"  in fifths of draws {fifths}, median width at .95 {width:.2f}")


if __name__ == "__main__":
    main()
