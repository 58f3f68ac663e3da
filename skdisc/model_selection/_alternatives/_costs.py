"""What an alternative costs: who changes decision, who errs more often, and other gaps."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import ndtr

from skdisc._utils._validation import is_favorable
from skdisc.model_selection._alternatives._question import Groups

_VISIBLE = 0.0005  # gaps are printed with three digits
ERRORS = ("false_positive_rate", "false_negative_rate")


@dataclass(frozen=True)
class AlternativeCosts:
    """Tables of what an alternative changes, on the people of the claim.

    Attributes
    ----------
    decisions : DataFrame
        By column and group: people, selection rates of both models, people who gain and who lose
        the favorable decision.
    errors : DataFrame
        By column and group: false positive and false negative rates of both models.
    calibration : DataFrame
        By column and group: mean probability less share of favorable labels, of both models; no
        rows without probabilities.
    gaps : DataFrame
        By column, watched column and intersection: the gap of both models, and whether it was part
        of the claim.
    cases : dict of str to int or None
        People whose decision changes with another protected value, by the present model
        ("before") and by the alternative ("after"); None if it cannot be asked.
    leveling_down : dict of column to dict
        Change of the metric of the groups that were worse and better off; of five models, the mean.
    """

    decisions: pd.DataFrame
    errors: pd.DataFrame
    calibration: pd.DataFrame
    gaps: pd.DataFrame
    cases: dict
    leveling_down: dict

    @property
    def widened(self):
        """The gaps that are visibly larger with the alternative, a DataFrame."""
        return self.gaps[self.gaps["change"] >= _VISIBLE]

    @property
    def is_leveling_down(self):
        """The columns whose gap closes more by what the better-off lose."""
        gap_change = dict(zip(self.gaps["column"], self.gaps["change"], strict=True))
        return [
            name
            for name, changes in self.leveling_down.items()
            if gap_change[name] < 0
            and -changes["better_off"] > changes["worse_off"]
            and changes["better_off"] < 0
        ]


def costs_of(question, present, alternative, watched, min_support, probabilities, cases):
    """Return the `AlternativeCosts` of an alternative.

    Parameters
    ----------
    question : Question
        About the people of the claim.
    present, alternative : Predictions
    watched : dict of column to Groups
        Other protected columns.
    min_support : float
        Smallest share of an intersection.
    probabilities : (ndarray or None, ndarray or None)
        Of the favorable label, by both models.
    cases : (ndarray of bool or None, ndarray of bool or None)
        Whose decision changes with another protected value.
    """
    predictions, everywhere = (present, alternative), {**question.groups, **watched}
    favored = [is_favorable(p.label, question.favorable) for p in predictions]
    decisions, errors, calibration = [], [], []
    for name, groups in everywhere.items():
        for k, group in enumerate(groups.names):
            is_member = groups.code == k
            if not is_member.any():
                continue
            place = {"column": name, "group": group, "n": int(is_member.sum())}
            before, after = (f[is_member] for f in favored)
            decisions.append(
                place
                | {"rate_before": before.mean(), "rate_after": after.mean()}
                | {"gain": int((after & ~before).sum()), "lose": int((before & ~after).sum())}
            )
            part = question.take(np.flatnonzero(is_member))
            rates = {}
            for metric in ERRORS:
                for when, p in zip(("before", "after"), predictions, strict=True):
                    events = part.events(p.take(is_member), metric)
                    trials = events[~np.isnan(events)]
                    rates[f"{metric}_{when}"] = trials.mean() if len(trials) else np.nan
            errors.append(place | rates)
            if all(p is not None for p in probabilities):
                truth = part.is_favorable.mean()
                excess = [p[is_member].mean() - truth for p in probabilities]
                calibration.append(place | dict(zip(("before", "after"), excess, strict=True)))
    return AlternativeCosts(
        pd.DataFrame(decisions),
        pd.DataFrame(errors),
        pd.DataFrame(calibration, columns=["column", "group", "n", "before", "after"]),
        _gaps(question, present, alternative, watched, min_support),
        {
            w: None if c is None else int(c.sum())
            for w, c in zip(("before", "after"), cases, strict=True)
        },
        {name: _changes(question, present, alternative, name) for name in question.groups},
    )


def _changes(question, present, alternative, name):
    """Return how the rates of the groups that were worse and better off change.

    Worse off is the group with the higher false negative, error or true negative rate, or with the
    lower rate of any other metric.
    """
    is_worse = question.metric in ("false_negative_rate", "error_rate", "true_negative_rate")
    sign, names, several = (-1 if is_worse else 1), question.groups[name].names, []
    for part, rows, share in question.parts():
        before, after = (part.rates(p.take(rows), name) for p in (present, alternative))
        (high, low), _ = part.gap(present.take(rows), name)
        several.append([share * sign * (after - before)[[high, low]], (high, low)])
    better, worse = sum(change for change, _ in several)[::sign]
    of_better, of_worse = (
        " or ".join(sorted({names[pair[k]] for _, pair in several})) for k in (0, 1)[::sign]
    )
    return {
        "worse_off": float(worse),
        "better_off": float(better),
        "worse_group": of_worse,
        "better_group": of_better,
    }


def _gaps(question, present, alternative, watched, min_support):
    """Return the gaps of all columns and intersections, with the evidence that they grew."""
    everywhere = {**question.groups, **watched}
    several = {name: (groups, name in question.groups) for name, groups in everywhere.items()}
    for size in range(2, len(everywhere) + 1):
        for names in combinations(everywhere, size):
            crossed = _crossed([everywhere[n] for n in names], min_support)
            if len(crossed.names) > 1:
                several[" & ".join(map(str, names))] = (crossed, False)
    rows = []
    for name, (groups, is_claimed) in several.items():
        column_question = replace(question, groups={name: groups})
        _, before = column_question.gap(present, name)
        widest_pair, after = column_question.gap(alternative, name)
        # The alternative is held to its pair, which these people chose among all.
        gain, error = column_question.gains_of_pairs(present, alternative, name, None, widest_pair)
        z = float(np.min(-gain / error))
        n_tried = column_question.n_assignments(name)
        rows.append(
            {
                "column": name,
                "groups": len(groups.names),
                "before": before,
                "after": after,
                "change": after - before,
                "p_larger": float(min(1.0, n_tried * ndtr(-z))),
                "claimed": is_claimed,
            }
        )
    return pd.DataFrame(rows)


def _crossed(several, min_support):
    """Return the groups of the combinations of several columns."""
    has_all_groups = np.logical_and.reduce([g.code >= 0 for g in several])
    codes = pd.Series(list(zip(*(g.code for g in several), strict=True)))
    counts = codes[has_all_groups].value_counts()
    enough = sorted(counts[counts >= min_support * len(codes)].index)
    number_of = {combination: k for k, combination in enumerate(enough)}
    code = np.array([number_of.get(c, -1) for c in codes])
    names = [
        " & ".join(g.names[k] for g, k in zip(several, combination, strict=True))
        for combination in enough
    ]
    return Groups(code, names, [])
