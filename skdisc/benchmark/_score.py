"""Scores of one audit against the truth, and of random findings as a baseline."""

import numpy as np
import pandas as pd

from skdisc._registry import all_detectors
from skdisc._results._findings import CaseFindings, GroupFindings
from skdisc._space import _keys
from skdisc._space._codes import NOBODY
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain
from skdisc.benchmark._match import match_cases, match_groups
from skdisc.subgroup._estimation._confirmation import confirmed
from skdisc.subgroup._estimation._contrasts import IN_CONTEXT, context_of

SCORES = (
    *("precision", "recall", "f1", "own_precision", "own_recall", "own_f1"),
    *("average_precision", "recall_at_k", "true_claims", "wrong_sign"),
    *("effect_error", "interval_coverage", "oracle_precision", "guess_precision", "guess_recall"),
    *("own_guess_precision", "own_guess_recall", "first_true"),
)
CLAIMS = ("n_claimed", "n_right", "n_hit", "n_targets")
CLAIMS += ("own_n_right", "own_n_hit", "own_n_targets")
_PLANTED = ("contextual", "conditional")
_SIGNS = {"selection_rate": 1, "mean_difference": 1, "favorable outcomes": 1, "unfavorable": -1}
_RATES = (*_SIGNS, "elift", "slift", "olift", "degree of discrimination")
_REST = "the rest of the people"
# With a model, these audit its errors: labels less what it predicts, or the reverse.
_ERRORS = {"BiasScan": 1, "MultiaccuracyAudit": -1}
_DIRECT = ("OaxacaBlinder", "EffectDecomposition")  # compare at equal legitimate columns
_NO_TRUTH = ("RiskAdjustedRegression",)  # compares at equal risk, which the law does not know
_GUESSES = 20
_MOST_GUESSED = 50
_NOTHING = 1e-9


def score_result(result, truth, rng):
    """Score one audit by two yardsticks: the planted subgroups, and the truth of its own null.

    `truth`: KnownTruth. `rng`: for the random findings. Returns `scores`: `SCORES` and `CLAIMS`;
    NaN if undefined; `hit`: mask of the targets that were found.
    """
    is_group = isinstance(result.findings, GroupFindings)
    matched, claimed, sign, more = (_of_groups if is_group else _of_cases)(result, truth)
    hit = np.isin(np.arange(len(truth.targets)), matched[claimed])
    n_claimed, right = int(claimed.sum()), int((matched[claimed] >= 0).sum())
    scores = dict.fromkeys(SCORES, np.nan) | rates_of(right, n_claimed, hit.sum(), len(hit))
    guess = _guess(result, truth, n_claimed, rng)
    own_numbers = right, int(hit.sum()), len(hit), guess
    if is_group and _sign_of_errors(result):
        shown = np.flatnonzero(claimed)
        own_numbers = int(_differ(result, truth, shown, sign).sum()), 0, 0, (np.nan, np.nan)
    elif is_group and result.detector in _DIRECT:
        own_numbers = _direct(result, truth, claimed, sign), 0, 0, (np.nan, np.nan)
    elif not is_group or result.null not in _PLANTED or result.detector in _NO_TRUTH:
        own_numbers = (_own_groups if is_group else _own_cases)(result, truth, claimed, sign, rng)
    own_right, own_hit, own_targets, own_guess = own_numbers
    rates = rates_of(own_right, n_claimed, own_hit, own_targets)
    scores |= {f"own_{name}": value for name, value in rates.items()}
    counts = (n_claimed, right, int(hit.sum()), len(hit), own_right, own_hit, own_targets)
    scores |= dict(zip(CLAIMS, counts, strict=True)) | more
    scores |= dict(zip(("guess_precision", "guess_recall"), guess, strict=True))
    scores |= dict(zip(("own_guess_precision", "own_guess_recall"), own_guess, strict=True))
    scores["first_true"] = _first_true(result, np.flatnonzero(claimed & (matched >= 0)))
    return scores, hit


def rates_of(right, n_claimed, n_hit, n_targets):
    """Return precision, recall and F1; without claims, F1 is 0."""
    precision = right / n_claimed if n_claimed else np.nan
    recall = n_hit / n_targets if n_targets else np.nan
    precision_and_recall = (precision if n_claimed else 0.0), recall
    f1 = (
        2 * precision_and_recall[0] * precision_and_recall[1] / sum(precision_and_recall)
        if sum(precision_and_recall)
        else 0.0
    )
    is_defined = n_targets and not np.isnan(right)
    return {"precision": precision, "recall": recall, "f1": f1 if is_defined else np.nan}


def _first_true(result, right):
    """Return the share of the work after which the first true finding was made; NaN for none.

    Searches find cases on the way; all other detectors have their findings at the end.
    """
    if not len(right):
        return np.nan
    curve = result.tables.get("curve")
    if curve is None or not len(curve):
        return 1.0
    position = np.searchsorted(curve["found"], right[0] + 1)
    return float(curve["tested"].iloc[min(position, len(curve) - 1)] / curve["tested"].iloc[-1])


def claimed_groups(result):
    """Return the sign of each finding, and masks of the groups claimed and of first mentions."""
    table, groups = result.findings.table, list(result.findings.subgroups)
    sign = -_worse(result) * np.sign(table["effect"].to_numpy(dtype=float))
    sign *= _sign_of_errors(result) or 1
    if "held_out_p_adjusted" in table:
        held_out = measured(table).assign(effect_at_fit=table["effect"])
        claimed = confirmed(held_out, result.significance)
    else:
        p = table["p_adjusted"].to_numpy(dtype=float)
        claimed = ~(p > result.significance)  # findings without a p-value are claimed
    # A group counts once, whatever the number of measures.
    return sign, claimed & _first_mentions(groups, claimed), _first_mentions(groups)


def _first_mentions(groups, among=True):
    """Return a mask of the first mention of each group, among some mentions."""
    pairs = pd.DataFrame({"group": pd.Series(groups, dtype=object), "among": among})
    return ~pairs.duplicated().to_numpy()


def measured(table):
    """Return the numbers of the rows held out, or of all rows if none were held out."""
    held_out = [c for c in table if c.startswith("held_out_")]
    kept_columns = table.drop(columns=[c.removeprefix("held_out_") for c in held_out])
    return kept_columns.rename(columns={c: c.removeprefix("held_out_") for c in held_out})


def _of_groups(result, truth):
    """Return target, claim and sign of each finding, and more scores."""
    sign, claimed, first = claimed_groups(result)
    matched = matched_groups(result, truth, np.flatnonzero(claimed), sign)
    order = np.flatnonzero(first)
    ranking = matched_groups(result, truth, order, sign)
    more = _of_ranking(ranking[order] >= 0, len(truth.targets))
    more["true_claims"] = _true_claims(result, truth, np.flatnonzero(claimed), sign)
    return matched, claimed, sign, more | _of_effects(result, claimed, sign, truth.made)


def matched_groups(result, truth, which, sign, threshold=0.5):
    """Return the target of each of some findings, NOBODY for the others."""
    groups, named = result.findings.subgroups, result.tables.get("indistinguishable")
    if named is not None:
        place_of = pd.Series(np.arange(len(which)), which)
        named = named[named["finding"].isin(which)]
        named = named.assign(finding=named["finding"].map(place_of))
    target_of = np.full(len(groups), NOBODY)
    chosen = [groups[i] for i in which]
    target_of[which] = match_groups(
        chosen, sign[which], truth.targets, truth.people, threshold, alternatives=named
    )
    return target_of


def _worse(result):
    """Return the sign of this detector's effects for groups that are treated worse."""
    detector = all_detectors().get(result.detector)
    return -1 if detector is None else detector.card.worse


def _sign_of_errors(result):
    """Return 1 or -1 where effects are those of a model's errors (see `_ERRORS`), 0 elsewhere."""
    return _ERRORS.get(result.detector, 0) if result.audited == "model" else 0


def _of_ranking(right, n_targets):
    """Return average precision, and recall among the first k findings for k targets."""
    if not n_targets:
        return {}
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return {
        "average_precision": float((precision * right).sum() / n_targets),
        "recall_at_k": float(right[:n_targets].sum() / n_targets),
    }


def _of_effects(result, claimed, sign, made):
    """Compare effects and intervals with those of the law of the outcome on the audited people.

    The intervals are those of what is claimed, for they keep the false coverage rate: without a
    claim none is wrong.
    """
    unit = _SIGNS.get(result.measure, 0)
    if result.audited != "labels" or not unit:
        return {}
    if not claimed.any():
        return {"interval_coverage": 1.0}
    groups = [g.mask(made.data) for g in result.findings.subgroups]
    if result.versus == IN_CONTEXT:
        contexts = [context_of(g, made.protected) for g in result.findings.subgroups]
        rest = [c.mask(made.data) & ~g for c, g in zip(contexts, groups, strict=True)]
    elif result.versus in ("everyone", _REST):
        rest = [~g if result.versus == _REST else np.ones_like(g) for g in groups]
    else:
        return {}
    p, table = made.truth.rows["p"].to_numpy(), measured(result.findings.table)
    true = np.array([p[g].mean() - p[r].mean() for g, r in zip(groups, rest, strict=True)])
    inside = (table["ci_low"] <= unit * true) & (unit * true <= table["ci_high"])
    has_interval = claimed & table["ci_low"].notna()
    return {
        "interval_coverage": float(inside[has_interval].mean()) if has_interval.any() else np.nan,
        "wrong_sign": float(np.mean(np.sign(true[claimed]) != sign[claimed])),
        "effect_error": float(np.abs(table["effect"] - unit * true)[claimed].mean()),
    }


def _true_claims(result, truth, shown, sign):
    """Return the share of claims with a true difference in their context; NaN if not about it.

    Among them are the shadows of planted groups: groups that overlap with one.
    """
    if not len(shown) or result.null != "contextual" or not result.measure.startswith(_RATES):
        return np.nan
    return float(_differ(result, truth, shown, sign).mean())


def _differ(result, truth, shown, sign):
    """Return a mask of the findings shown that truly differ from the others in their context."""
    groups = [result.findings.subgroups[i] for i in shown]
    contexts = [context_of(g, truth.made.protected) for g in groups]
    truth_of_gaps = truth.errors if _sign_of_errors(result) else truth.differences
    return np.sign(truth_of_gaps.between(groups, None, contexts)) == sign[shown]


def _own_groups(result, truth, claimed, sign, rng):
    """Return right claims, hits, targets and baseline by differences between protected groups."""
    comparisons = ("everyone", "everyone else", _REST, "all people")
    if result.null not in ("marginal", "everyone") or result.versus not in comparisons:
        return (np.nan, 0, 0, (np.nan, np.nan))
    shown = np.flatnonzero(claimed)
    groups = [result.findings.subgroups[i] for i in shown]
    differences = truth.differences
    right = (
        np.sign(differences.between(groups, _compared_groups(result.findings, shown)))
        == sign[shown]
    )
    if result.null == "everyone":
        return int(right.sum()), 0, 0, (np.nan, np.nan)
    hit = differences.found([g for g, is_right in zip(groups, right, strict=True) if is_right])
    guess = differences.guess(len(shown)) if len(shown) else (np.nan, np.nan)
    return int(right.sum()), hit, len(differences.relevant), guess


def _direct(result, truth, claimed, sign):
    """Return the number of right claims about a group and its reference at equal columns.

    NaN where a reference is a range of numbers, of which only the text is known.
    """
    X, shown = truth.made.data, np.flatnonzero(claimed)
    values = [Predicate.equals(c, plain(v)) for c in truth.made.protected for v in X[c].unique()]
    group_of = {str(p): Subgroup([p]) for p in values}
    names = result.findings.table["reference"].iloc[shown]
    if not set(names) <= set(group_of):
        return np.nan
    references = [group_of[name] for name in names]
    gaps = truth.at_equal_columns([result.findings.subgroups[i] for i in shown], references)
    return int((np.sign(gaps) == sign[shown]).sum())


def _compared_groups(findings, shown):
    """Return the groups that some findings are compared with, None for everyone else."""
    if "group_key" not in findings.table:
        return None
    group_of_key = dict(zip(findings.keys, findings.subgroups, strict=True))
    pairs = findings.table["group_key"].iloc[shown]
    return [group_of_key[_keys.split(pair, "-")[1]] for pair in pairs]


def _of_cases(result, truth):
    """Return target, claim and sign of each case, and more scores."""
    findings = result.findings
    claimed = np.ones(len(findings), dtype=bool)
    if "p_adjusted" in findings.table and findings.table["p_adjusted"].notna().any():
        claimed = (findings.table["p_adjusted"] <= result.significance).to_numpy()
    more = {}
    if claimed.any():
        oracle = truth.made.truth.oracle
        decisions = (oracle.predict(f[claimed]) for f in (findings.original, findings.altered))
        more["oracle_precision"] = float(np.mean(np.not_equal(*decisions)))
    sign = np.sign(findings.outcome - findings.altered_outcome)
    return match_cases(findings, truth.targets), claimed, sign, more


def _own_cases(result, truth, claimed, sign, rng):
    """Return right claims, hits, targets and baseline by the law of the outcome of each person."""
    right = claimed & _due(truth, result.findings, result.null, sign)
    hit = truth.touched(result.findings, right)
    guess = np.nan, np.nan
    if claimed.any() and len(hit):
        n = min(int(claimed.sum()), _MOST_GUESSED)
        cases = random_cases(truth.made, n * _GUESSES, rng)
        due = _due(truth, cases, result.null, np.sign(cases.outcome - cases.altered_outcome))
        parts = due.reshape(_GUESSES, n)
        due_of_guess = [np.isin(np.arange(len(due)) // n, k) & due for k in range(_GUESSES)]
        guess = (
            float(parts.mean()),
            float(np.mean([truth.touched(cases, a).mean() for a in due_of_guess])),
        )
    return int(right.sum()), int(hit.sum()), len(hit), guess


def _due(truth, cases, null, sign):
    """Return a mask of the cases that the law treats differently for their protected values."""
    if not len(cases):
        return np.zeros(0, dtype=bool)
    gap = truth.due_to_protected(cases, null)
    return (np.abs(gap) > _NOTHING) & (np.sign(gap) == sign)


def _guess(result, truth, n_claimed, rng):
    """Return precision and recall of equally many random findings of the same kind."""
    targets = truth.targets
    if not n_claimed or not targets:
        return np.nan, np.nan
    n = min(n_claimed, _MOST_GUESSED)
    if isinstance(result.findings, GroupFindings):
        groups = random_groups(truth.made, n * _GUESSES, rng)
        signs = rng.choice([-1, 1], (_GUESSES, n))
        guesses = zip(range(0, n * _GUESSES, n), signs, strict=True)
        matched = [match_groups(groups[i : i + n], s, targets, truth.people) for i, s in guesses]
        matched = np.stack(matched)
    else:
        matched = match_cases(random_cases(truth.made, n * _GUESSES, rng), targets)
        matched = matched.reshape(_GUESSES, n)
    is_found = (matched[:, :, None] == np.arange(len(targets))).any(axis=1)
    return float(np.mean(matched >= 0)), float(is_found.mean())


def random_groups(made, n, rng):
    """Return random conjunctions of up to four values, one or more of a protected column."""
    protected = [made.data.columns.get_loc(c) for c in made.protected]
    values = [_conditions(made.data[c]) for c in made.data]
    rows = rng.integers(len(made.data), size=n)
    sizes = rng.integers(1, 5, size=n)
    order = rng.random((n, len(values))).argsort(axis=1)
    first = rng.choice(protected, n)
    groups = []
    for row, size, chosen, protected_column in zip(rows, sizes, order, first, strict=True):
        rest = chosen[chosen != protected_column][: size - 1]
        groups.append(Subgroup([values[j][row] for j in (protected_column, *rest)]))
    return groups


def _conditions(column):
    """Return the condition that each row of a column satisfies, for its own value."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    made = [Predicate.equals(column.name, plain(v)) for v in values]
    return [made[c] for c in codes.tolist()]


def random_cases(made, n, rng):
    """Return random people as cases, paired with themselves with a random protected value."""
    before = made.data.iloc[rng.integers(len(made.data), size=n)].reset_index(drop=True)
    after = before.copy()
    columns = rng.choice(list(made.protected), n)
    for column in dict.fromkeys(columns):
        is_changed = columns == column
        drawn = made.data[column].iloc[rng.integers(len(made.data), size=n)].reset_index(drop=True)
        after[column] = after[column].where(~is_changed, drawn)
    outcome = rng.permutation(np.arange(n) % 2).astype(float)
    return CaseFindings(before, after, outcome, 1 - outcome)
