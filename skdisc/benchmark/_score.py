"""Scores of one audit against the truth, and those of random findings as a baseline."""

import numpy as np
import pandas as pd

from skdisc._registry import all_detectors
from skdisc._results._findings import CaseFindings, GroupFindings
from skdisc._space._codes import NOBODY
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain
from skdisc.benchmark._match import match_cases, match_groups
from skdisc.subgroup._estimation._contrasts import IN_CONTEXT, context_of

SCORES = (
    *("precision", "recall", "f1", "average_precision", "recall_at_k", "wrong_sign"),
    *("effect_error", "interval_coverage", "oracle_precision", "guess_precision", "guess_recall"),
    "first_true",
)
_GUESSES = 20
_MOST_GUESSED = 50


def score_result(result, made, targets, people, rng):
    """Score one audit.

    Parameters
    ----------
    result : AuditResult
    made : Bunch of make_discrimination
    targets : list of Target
    people : DataFrame or Members
        A new sample of people, on which members of subgroups are compared.
    rng : numpy Generator
        For the random findings.

    Returns
    -------
    scores : dict
        `SCORES` (NaN if undefined), n_claimed and n_targets.
    hit : ndarray of bool, shape (n_targets,)
        Mask of the targets that were found.
    """
    scores = dict.fromkeys(SCORES, np.nan)
    of = _of_groups if isinstance(result.findings, GroupFindings) else _of_cases
    matched, claimed, more = of(result, made, targets, people)
    hit = np.isin(np.arange(len(targets)), matched[claimed])
    n_claimed, right = int(claimed.sum()), int((matched[claimed] >= 0).sum())
    scores |= {"n_claimed": n_claimed, "n_targets": len(targets)}
    scores["precision"] = right / n_claimed if n_claimed else np.nan
    scores["recall"] = hit.mean() if len(targets) else np.nan
    if len(targets):
        both = (right / n_claimed if n_claimed else 0.0), hit.mean()
        scores["f1"] = 2 * both[0] * both[1] / sum(both) if sum(both) else 0.0
    scores["first_true"] = _first_true(result, np.flatnonzero(claimed & (matched >= 0)))
    scores |= more | _guess(result, made, targets, people, n_claimed, rng)
    return scores, hit


def _first_true(result, right):
    """Return the share of the work after which the first true finding was made; NaN for none.

    Searches find cases on the way; all other detectors have their findings at the end.
    """
    if not len(right):
        return np.nan
    curve = result.tables.get("curve")
    if curve is None or not len(curve):
        return 1.0
    at = np.searchsorted(curve["found"], right[0] + 1)
    return float(curve["tested"].iloc[min(at, len(curve) - 1)] / curve["tested"].iloc[-1])


def _of_groups(result, made, targets, people):
    """Return the target of each finding, a mask of the claimed findings, and more scores."""
    table, groups = result.findings.table, list(result.findings.subgroups)
    better = -_worse(result)
    sign = better * np.sign(table["effect"].to_numpy(dtype=float))
    p = table["p_adjusted"].to_numpy(dtype=float)
    claimed = ~(p > result.significance)  # findings without a p-value are claimed
    first = ~pd.Series(groups, dtype=object).duplicated().to_numpy()
    claimed &= first  # a group counts once, whatever the number of measures
    matched = np.full(len(groups), NOBODY)
    shown = np.flatnonzero(claimed)
    matched[shown] = match_groups([groups[i] for i in shown], sign[shown], targets, people)
    everything = np.full(len(groups), NOBODY)
    order = np.flatnonzero(first)
    everything[order] = match_groups([groups[i] for i in order], sign[order], targets, people)
    more = _of_ranking(everything[order] >= 0, len(targets))
    if result.audited == "labels" and result.versus in ("everyone", IN_CONTEXT):
        of = made.protected if result.versus == IN_CONTEXT else None
        more |= _of_effects(table[claimed], [groups[i] for i in shown], sign[shown], made, of)
    return matched, claimed, more


def _worse(result):
    """Return the sign of this detector's effects for groups that are treated worse."""
    known = all_detectors().get(result.detector)
    return -1 if known is None else known.card.worse


def _of_ranking(right, n_targets):
    """Return average precision, and recall among the first k findings for k targets."""
    if not n_targets:
        return {}
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return {
        "average_precision": float((precision * right).sum() / n_targets),
        "recall_at_k": float(right[:n_targets].sum() / n_targets),
    }


def _of_effects(table, groups, sign, made, protected):
    """Compare effects with those of the law of the outcome on the audited people.

    Effects are against everyone, or, if the protected columns are given, in the context.
    """
    rates = table.get("measure")
    if not len(groups) or (rates is not None and not (rates == "selection_rate").all()):
        return {}
    p = made.truth.rows["p"].to_numpy()
    inside = [g.mask(made.data) for g in groups]
    if protected is None:
        true = np.array([p[m].mean() for m in inside]) - p.mean()
    else:
        contexts = [context_of(g, protected).mask(made.data) for g in groups]
        pairs = zip(inside, contexts, strict=True)
        true = np.array([p[m].mean() - p[c & ~m].mean() for m, c in pairs])
    inside = (table["ci_low"] <= true) & (true <= table["ci_high"])
    return {
        "wrong_sign": float(np.mean(np.sign(true) != sign)),
        "effect_error": float(np.mean(np.abs(table["effect"] - true))),
        "interval_coverage": float(np.mean(inside)),
    }


def _of_cases(result, made, targets, people):
    """Return the target of each case, a mask of the claimed cases, and more scores."""
    found = result.findings
    claimed = np.ones(len(found), dtype=bool)
    if "p_adjusted" in found.table and found.table["p_adjusted"].notna().any():
        claimed = (found.table["p_adjusted"] <= result.significance).to_numpy()
    more = {}
    if claimed.any():
        oracle = made.truth.oracle
        both = (oracle.predict(f[claimed]) for f in (found.original, found.altered))
        more["oracle_precision"] = float(np.mean(np.not_equal(*both)))
    return match_cases(found, targets), claimed, more


def _guess(result, made, targets, people, n_claimed, rng):
    """Return precision and recall of equally many random findings of the same kind."""
    if not n_claimed or not targets:
        return {}
    n = min(n_claimed, _MOST_GUESSED)
    if isinstance(result.findings, GroupFindings):
        groups, signs = random_groups(made, n * _GUESSES, rng), rng.choice([-1, 1], (_GUESSES, n))
        guesses = zip(range(0, n * _GUESSES, n), signs, strict=True)
        matched = [match_groups(groups[i : i + n], s, targets, people) for i, s in guesses]
        matched = np.stack(matched)
    else:
        matched = match_cases(random_cases(made, n * _GUESSES, rng), targets)
        matched = matched.reshape(_GUESSES, n)
    found = (matched[:, :, None] == np.arange(len(targets))).any(axis=1)
    return {
        "guess_precision": float(np.mean(matched >= 0)),
        "guess_recall": float(found.mean()),
    }


def random_groups(made, n, rng, most=4):
    """Return random conjunctions of values, each with at least one protected column."""
    protected = [made.data.columns.get_loc(c) for c in made.protected]
    values = [_conditions(made.data[c]) for c in made.data]
    rows = rng.integers(len(made.data), size=n)
    sizes = rng.integers(1, most + 1, size=n)
    order = rng.random((n, len(values))).argsort(axis=1)
    first = rng.choice(protected, n)
    groups = []
    for row, size, chosen, own in zip(rows, sizes, order, first, strict=True):
        rest = chosen[chosen != own][: size - 1]
        groups.append(Subgroup([values[j][row] for j in (own, *rest)]))
    return groups


def _conditions(column):
    """Return the condition that each row of a column satisfies, for its own value."""
    codes, known = pd.factorize(column, use_na_sentinel=False)
    made = [Predicate.equals(column.name, plain(v)) for v in known]
    return [made[c] for c in codes.tolist()]


def random_cases(made, n, rng):
    """Return random people as cases, paired with themselves with a random protected value."""
    before = made.data.iloc[rng.integers(len(made.data), size=n)].reset_index(drop=True)
    after = before.copy()
    columns = rng.choice(list(made.protected), n)
    for column in dict.fromkeys(columns):
        at = columns == column
        drawn = made.data[column].iloc[rng.integers(len(made.data), size=n)].reset_index(drop=True)
        after[column] = after[column].where(~at, drawn)
    outcome = rng.permutation(np.arange(n) % 2).astype(float)
    return CaseFindings(before, after, outcome, 1 - outcome)


def population(truth, subgroups, rng, each=200, others=2000):
    """Draw people to compare members of subgroups: from each planted subgroup, and overall."""
    parts = [truth.sample(each, g, random_state=rng) for g in subgroups]
    return pd.concat([*parts, truth.sample(others, random_state=rng)], ignore_index=True)
