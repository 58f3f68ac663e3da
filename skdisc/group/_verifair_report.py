"""The verification of all pairs of groups, and its report."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.metrics import mutual_info_score

from skdisc._results._findings import ESTIMATES, Discovery, GroupFindings, share_estimate
from skdisc._space import _keys
from skdisc._space._items import value_name
from skdisc._space._subgroup import Subgroup
from skdisc._task._limits import limit_named
from skdisc._verdicts._answer import NOTHING, decide, family_table
from skdisc._verdicts._candidates import Candidates
from skdisc._verdicts._relevant import PROBABILITY, relevant_gap
from skdisc.group._verifair_concentration import DrawTally, Verification
from skdisc.group._verifair_sampler import Population, means_of
from skdisc.group._verifair_specification import (
    FAIR,
    UNDECIDED,
    UNFAIR,
    ready_made,
)

_TEST = "adaptive concentration, valid whenever one stops"
_ORDER = (UNFAIR, UNDECIDED)
_OF_RATES = ("demographic_parity", "equal_opportunity", "causal", "path_specific")


def verdicts(detector, task, pairs=None):
    """Verify the specification for every pair of groups, or for these; return a Discovery."""
    d, budget = detector, task.budget
    spec = ready_made(d.spec, d.slack, d.keep) if isinstance(d.spec, str) else d.spec
    means, people = means_of(spec), Population(task, d.sampler, d.min_gap)
    if people.is_data and not budget.opens(len(task.X)):
        pairs = []
    elif pairs is None:
        by_value = any(m.kind in ("do", "changed") for m in means)
        names = _by_information(people, d.protected_)
        groups = [people.groups(name, d.n_bins, by_value) for name in names]
        pairs = [pair for g in groups for pair in combinations(g, 2)]
    done, excluded = [], []
    for pair in pairs:
        few = [m.group for m in means if people.is_data and not len(people.rows(m, pair))]
        if few:
            excluded.append((str(pair["ab".index(few[0])]), 0, "nobody whose outcome counts"))
        elif budget.stopped_by is None:
            done.append((pair, _verify(d, task, people, spec, means, pair, len(pairs))))
    return _report(d, task, people, spec, done, excluded)


def _by_information(people, names):
    """Return the attributes, largest mutual information with the outcome first."""
    X, outcome = people.pilot()
    information = {n: mutual_info_score(X[n].astype(str).fillna("?"), outcome > 0.5) for n in names}
    return sorted(names, key=lambda n: -round(information[n], 12))


def _verify(detector, task, people, spec, means, pair, n_pairs):
    d = detector
    tallies = {m: DrawTally(people.draws(m, pair), people.rows(m, pair)) for m in means}
    gap = None
    if people.is_known and _bounds_rates(d):
        gap = d._gap_that_matters(people.pilot()[1]).size, d.significance
    check = Verification(spec, tallies, d.significance / n_pairs, d.ambiguity, gap=gap)

    def go_on(n):
        rows = 0 if people.is_data else 1
        allowed = task.budget.allow(n, rows)
        if allowed == n:
            task.budget.tests += n
            task.progress(f"{task.budget.tests:,} draws, {task.budget.elapsed:.0f} s")
        return allowed

    check.run(d.first_batch, d.max_draws, go_on)
    task.budget.found += any(c.verdict == UNFAIR for c in check.certificates)
    return check


def _certificates(spec, done):
    rows = [
        (str(pair[i]), str(pair[1 - i]), c.verdict, c.value, c.error, check.delta, check.n_draws)
        for pair, check in done
        for i, c in enumerate(check.certificates)
    ]
    names = ["group", "other", "verdict", "value", "error", "delta", "n_draws"]
    table = pd.DataFrame(rows, columns=names)
    table.insert(2, "spec", np.array([str(spec)] * len(rows), dtype=object))
    return table


@dataclass(frozen=True)
class _VerifiedPair:
    """The verdict on a pair and its two rows, the worse-off group first."""

    pair: tuple
    verdict: str
    is_fair: bool
    n_draws: int
    groups: list
    keys: list
    rows: list

    @property
    def rank(self):
        """What pairs are sorted by: the verdict, then the size of the effect."""
        place = _ORDER.index(self.verdict) if self.verdict in _ORDER else len(_ORDER)
        return place, -abs(np.nan_to_num(self.rows[0]["effect"]))


def _verified(task, people, pair, check, n_pairs):
    """Return the verdict on a pair as a `_VerifiedPair`; p-values are corrected by Bonferroni."""
    keys = [task.space.subgroup_key(Subgroup([p])) for p in pair]
    means = sorted(check.tallies, key=lambda m: m.group)
    first = {g: next(m for m in means if m.group == g) for g in "ab"}
    tallies = [check.tallies[first[g]] for g in "ab"]
    error = sum(t.error(check.delta / len(means)) for t in tallies)
    verdicts = [c.verdict for c in check.certificates]
    verdict = next((v for v in _ORDER if v in verdicts), FAIR)
    rows = []
    for i, (group, tally, mean) in enumerate(zip(pair, tallies, first.values(), strict=True)):
        effect, exact = tally.mean - tallies[1 - i].mean, np.nan
        if people.is_data:
            exact = people.exact(group, mean.kind, pair, mean.keep).mean()
        p_value = check.p_value(i)
        rows.append(
            {
                "outcome": tally.mean,
                "effect": effect,
                "ci_low": max(-1.0, effect - error),
                "ci_high": min(1.0, effect + error),
                "p_value": p_value,
                "test": _TEST,
                "support": tally.n,
                "measure": str(check.spec),
                "rate": tally.mean,
                "exact_rate": float(exact),
                "verdict": verdict,
                "nodes_visited": check.n_draws,
                "group_key": _keys.couple(keys[i], keys[1 - i]),
                "p_adjusted": min(1.0, p_value * n_pairs),
            }
        )
    order = np.argsort([row["effect"] for row in rows], kind="stable")
    groups = [Subgroup([pair[i]]) for i in order]
    keys, rows = ([several[i] for i in order] for several in (keys, rows))
    return _VerifiedPair(pair, verdict, check.is_fair(), check.n_draws, groups, keys, rows)


def _report(detector, task, people, spec, done, excluded):
    """Return the Discovery of the verified pairs of groups.

    Parameters
    ----------
    detector : VeriFair
    task : Task
    people : Population
    spec : Spec
    done : list of (pair of predicates, Verification)
    excluded : list of (group, number of people, reason)
        Groups of the pairs that were not verified.
    """
    d = detector
    verified = [_verified(task, people, pair, check, len(done)) for pair, check in done]
    unfair = [v for v in verified if v.verdict == UNFAIR]
    found_pairs = [v for v in unfair if min(r["p_adjusted"] for r in v.rows) <= d.significance]
    unsure = len(unfair) - len(found_pairs)
    undecided = sum(v.verdict == UNDECIDED for v in verified)
    ranked = sorted(verified, key=lambda v: v.rank)
    groups, keys = [g for v in ranked for g in v.groups], [k for v in ranked for k in v.keys]
    table = pd.DataFrame([row for v in ranked for row in v.rows], columns=_COLUMNS)
    for name in ("test", "measure", "verdict", "group_key"):
        table[name] = table[name].astype(object)
    by_value = {
        value_name(p): (
            sum(v.n_draws for v in verified if p in v.pair),
            sum(p in v.pair for v in found_pairs),
        )
        for p in dict.fromkeys(p for v in verified for p in v.pair)
    }
    # Fair by the draws from the rows of X, but these are too few to tell about the population.
    unknown = sum(v.verdict == FAIR and not v.is_fair for v in verified)
    reasons = _reasons(task, bool(done), (undecided, unsure, unknown), excluded)
    outcomes = {row["outcome"] for v in verified for row in v.rows}
    if undecided and outcomes in ({0.0}, {1.0}):  # the ratio of zeros stays undefined
        reasons[0] = "all outcomes drawn are equal"
    answer, family = _answer(d, people, done, verified, found_pairs, reasons)
    return Discovery(
        findings=GroupFindings(groups, table, task.space.names, keys),
        measure=str(spec),
        n_tested=task.budget.tests,
        n_found=len(found_pairs),
        by_value=by_value,
        estimates=_overall(people, d.significance),
        excluded=pd.DataFrame(excluded, columns=["subject", "n", "reason"]).drop_duplicates(),
        tables={"certificates": _certificates(spec, done), "family": family},
        notes=_notes(people, unsure, undecided),
        answer=answer,
        nodes_visited=int(sum(pair.n_draws for pair in verified)),
    )


def _answer(detector, people, done, verified, found_pairs, reasons):
    """Return the Answer and the table of its family: the pairs, by what their draws exclude.

    A pair is certified by its specification, whose ratio is the method's own; "no disparity found"
    also excludes the relevant gap of the rates. Specifications of other means bound no gap.
    """
    d, pairs = detector, list(zip(done, verified, strict=True))
    sides = [check.sides for (_, check), _ in pairs]
    effect = np.array([first.mean - second.mean for first, second in sides])

    def interval(a):
        # Both draws are within two-sided bounds of level a but for a / 2 on either side.
        half = np.array([first.error(a) + second.error(a) for first, second in sides])
        return np.maximum(effect - half, -1.0), np.minimum(effect + half, 1.0)

    names = [f"{pair[0]} against {pair[1]}" for (pair, _), _ in pairs]
    candidates = Candidates(
        [first.n for first, _ in sides],
        [second.n for _, second in sides],
        effect,
        interval,
        found=np.array([v in found_pairs for v in verified], dtype=bool),
        name=names,
    )
    bounds_rates = _bounds_rates(d)
    if people.is_known:
        relevant = d._gap_that_matters(people.pilot()[1])
    else:
        means = [tally.mean for first, second in sides for tally in (first, second) if tally.n]
        share = float(np.mean(means)) if means else np.nan
        relevant = relevant_gap(d.relevant_gap, kind=PROBABILITY, mean=share)
    is_certified = not reasons and not found_pairs
    problem = [relevant.problem] if relevant.problem and bounds_rates else []
    answer = decide(
        candidates,
        relevant_gap=relevant.size if bounds_rates else 1.0,
        significance=d.significance,
        is_found=bool(found_pairs),
        reasons=[*reasons, *problem],
    )
    if is_certified and answer.verdict == NOTHING:
        certified = "every pair of groups is certified to satisfy the specification"
        reason = f"{certified}; {answer.reason}" if bounds_rates else certified
        answer = replace(answer, reason=reason)
    return answer, family_table(candidates, answer)


def _bounds_rates(detector):
    """Return whether the specification is about rates of both groups, whose gap is bounded."""
    return not isinstance(detector.spec, str) or detector.spec in _OF_RATES


def _reasons(task, any_done, open_pairs, excluded):
    """Return why nothing can be concluded; `open_pairs` counts pairs undecided or of few rows."""
    undecided, unsure, unknown = open_pairs
    stopped = task.budget.stopped_by
    ended = "a lack of groups" if stopped is None else limit_named(stopped)
    reasons = [
        (undecided, f"{undecided} pairs of groups are undecided: more draws are needed"),
        (unsure, f"{unsure} pairs are unfair on the rows of X, too few to conclude on others"),
        (unknown, f"{unknown} pairs are fair on the rows of X, too few to conclude on others"),
        (excluded, f"nobody's outcome counts in {', '.join(row[0] for row in excluded)}"),
        (not any_done, f"{ended} left nothing to compare"),
    ]
    return [reason for applies, reason in reasons if applies]


_COLUMNS = ["outcome", "effect", "ci_low", "ci_high", "p_value", "test", "support", "measure"]
_COLUMNS += ["rate", "exact_rate", "verdict", "nodes_visited", "group_key", "p_adjusted"]


def _overall(people, significance):
    """Return the mean outcome of the rows of X with its interval."""
    if not people.is_known:
        return None
    outcome = people.pilot()[1]
    row = share_estimate("mean outcome of the rows", outcome.sum(), len(outcome), significance)
    return pd.DataFrame([row], columns=ESTIMATES)


def _notes(people, unsure, undecided):
    notes = []
    if people.is_data:
        notes.append(
            "Certificates are about people drawn from the rows of X, whose exact rates are known "
            "(exact_rate); p-values and intervals are about the population, too."
        )
    if unsure:
        notes.append(
            f"{unsure} pairs are unfair on the rows of X, which are too few to conclude that they "
            "are unfair in the population."
        )
    if undecided:
        notes.append(f"{undecided} pairs are undecided: more draws than allowed are needed.")
    return notes
