"""Quality of the cases of a search: how frequent, severe, diverse and natural they are."""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.tree import DecisionTreeRegressor

from skdisc import _stats
from skdisc._results._findings import ESTIMATES
from skdisc.individual._prober import Prober
from skdisc.individual._search._seeds import inputs_of

_ROWS, _AT_ONCE, _LEAVES, _BIN = 20_000, 500, 500, 0.05


def quality(detector, task, ledger):
    """Estimate how frequent cases are, and how severe, diverse and natural the cases found are.

    Its queries are counted and limited.

    `detector`: its `n_quality` is the size of each sample. Returns a DataFrame: columns name,
    estimate, ci_low, ci_high, n.
    """
    n, space, rng = int(detector.n_quality), task.space, task.rng
    aside = detector._aside(task, detector.output)
    if task.budget.max_seconds is not None:
        aside.budget.renew(task.budget.seconds_left)
    cases = ledger.found_codes
    sample = _sampled(cases, n, rng)
    drawn, drawn_outcomes = _probed(aside, space.sample(n, rng))
    table = [_share(detector, "share of the domain with a case", drawn_outcomes)]
    if task.X is not None:
        rows, _ = inputs_of(task)
        _, row_outcomes = _probed(aside, _sampled(rows, n, rng))
        table.append(_share(detector, "share of the rows of X with a case", row_outcomes))
    spread = norm.isf(detector.significance / 2) * (len(sample) < len(cases))
    table += _severity(detector, task, aside.budget, sample, spread)
    table.append(
        ("leaves of a surrogate tree with a case", *_leaves(space, drawn, drawn_outcomes, sample))
    )
    if task.X is not None and len(space.np_index):
        table += _closeness(space, sample, _sampled(rows, _ROWS, rng), spread)
    task.budget.queries += aside.budget.queries
    task.budget.stopped_by = task.budget.stopped_by or aside.budget.stopped_by
    return pd.DataFrame(table, columns=ESTIMATES)


def _sampled(codes, n, rng):
    """Return a random sample of the rows, in their order."""
    return codes[np.sort(rng.choice(len(codes), min(n, len(codes)), replace=False))]


def _probed(task, codes):
    """Return as many inputs as the budget allows, and the outcomes of their variants."""
    prober = Prober(task, 0.0)
    codes = codes[: task.budget.allow(len(codes), prober.n_combos)]
    return codes, prober.outcomes(codes)


def _share(detector, name, outcomes):
    """Return the share of inputs with a case and its interval, as a row of the table."""
    hits, n = int((np.ptp(outcomes, axis=1) > detector.min_gap).sum()), len(outcomes)
    low, high = _stats.clopper_pearson(hits, n, detector.significance)
    return name, hits / n if n else np.nan, float(low), float(high), n


def _mean(name, values, spread):
    """Return the mean and its interval, without width if `spread` is 0, as a row of the table."""
    n = len(values)
    mean = float(np.mean(values)) if n else np.nan
    half = spread * float(np.std(values)) / np.sqrt(n) if n else np.nan
    return name, mean, mean - half, mean + half, n


def _severity(detector, task, budget, cases, spread):
    """Return rows of the table on gaps, of probabilities if the model has them."""
    output = "probability" if task.queries.box.has_probabilities else detector.output
    _, outcomes = _probed(detector._aside(task, output, budget), cases)
    bins = np.sort(np.rint(outcomes / _BIN), axis=1)
    gaps = np.ptp(outcomes, axis=1)
    largest = float(gaps.max()) if len(gaps) else np.nan
    return [
        _mean(f"mean gap of a case ({output})", gaps, spread),
        (f"largest gap of a case ({output})", largest, np.nan, np.nan, len(gaps)),
        _mean("distinct outcomes of a case", 1 + (np.diff(bins) > 0).sum(axis=1), spread),
    ]


def _leaves(space, drawn, outcomes, cases):
    """Return how many leaves of a tree fitted to the outcomes contain cases, and their number."""
    if not len(drawn) or not len(space.np_index):
        return np.nan, np.nan, np.nan, 0
    tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, random_state=0)
    tree.fit(drawn[:, space.np_index], outcomes.mean(axis=1))
    reached = len(np.unique(tree.apply(cases[:, space.np_index]))) if len(cases) else 0
    return reached, np.nan, np.nan, tree.get_n_leaves()


def _closeness(space, cases, rows, spread):
    """Return rows of the table that compare cases with the rows of X."""
    positions = space.np_index
    cases, rows = cases[:, positions], rows[:, positions]
    nominal = np.array([space.columns[j].kind == "nominal" for j in positions])
    scores, near = (np.nan, np.nan), np.empty(0)
    if len(cases) and len(rows):
        scores = naturalness(cases, rows, nominal)
        columns = np.ascontiguousarray(rows.T)
        parts = [cases[i : i + _AT_ONCE].T for i in range(0, len(cases), _AT_ONCE)]
        near = np.concatenate([_fewest_differences(part, columns) for part in parts])
    scores = [*scores, _mean_score(scores)]
    names = "naturalness of columns", "naturalness of pairs of columns", "naturalness"
    return [
        *((name, s, np.nan, np.nan, len(cases)) for name, s in zip(names, scores, strict=True)),
        _mean("columns in which a case differs from the nearest row of X", near, spread),
    ]


def _fewest_differences(cases, rows):
    """Return the number of columns in which each input differs from the nearest of the rows."""
    differ = np.zeros((cases.shape[1], rows.shape[1]), np.uint16)
    for case_codes, row_codes in zip(cases, rows, strict=True):
        differ += case_codes[:, None] != row_codes
    return differ.min(axis=1)


_BINS = 10


def naturalness(cases, rows, nominal):
    """Return how similar the distributions of cases and of rows of data are.

    The score of a numeric or ordinal column is 1 minus the Kolmogorov-Smirnov distance of its two
    distributions; that of a nominal column, 1 minus their total variation. The score of a pair is 1
    minus half the difference of the correlations; if one column is nominal, 1 minus the total
    variation of the joint distributions, with numbers in ten bins.

    `cases` and `rows`, of shape (n, n_columns): codes. `nominal`: whether each column is nominal.
    Returns `columns` and `pairs`: mean scores in [0, 1]; NaN without scores.
    """
    low = np.minimum(cases.min(axis=0), rows.min(axis=0))
    cases, rows = cases - low, rows - low
    width = 1 + np.maximum(cases.max(axis=0), rows.max(axis=0))
    d = len(width)
    columns = []
    for j in range(d):
        change = _change(cases[:, j], rows[:, j])
        total = np.abs(change).sum() / 2
        columns.append(1 - (total if nominal[j] else np.abs(np.cumsum(change)).max()))
    with np.errstate(invalid="ignore", divide="ignore"):  # a constant column has no correlation
        r, s = (_correlation(x) for x in (cases, rows))
    bins = np.where(nominal, width, np.minimum(width, _BINS))
    binned = [x * bins // width for x in (cases, rows)]
    pairs = []
    for a, b in combinations(range(d), 2):
        if nominal[a] or nominal[b]:
            cells = [x[:, a] * bins[b] + x[:, b] for x in binned]
            pairs.append(1 - np.abs(_change(*cells)).sum() / 2)
        else:
            pairs.append(1 - abs(r[a, b] - s[a, b]) / 2)
    return _mean_score(columns), _mean_score(pairs)


def _change(first, second):
    """Return the difference between the shares of each code."""
    n = 1 + max(first.max(), second.max())
    return np.bincount(first, minlength=n) / len(first) - np.bincount(second, minlength=n) / len(
        second
    )


def _correlation(x):
    """Return the correlation matrix of the columns."""
    centered = x - x.mean(axis=0)
    unit = centered / np.sqrt((centered**2).sum(axis=0))
    return unit.T @ unit


def _mean_score(scores):
    """Return the mean of the scores that are not NaN."""
    defined_scores = [s for s in scores if not np.isnan(s)]
    return float(np.mean(defined_scores)) if defined_scores else float("nan")
