"""What an alternative costs: who changes decision, who errs more often, and other gaps."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import ndtr

from skdisc._utils._validation import is_favorable
from skdisc.model_selection._alternatives._question import Groups

_VISIBLE = 0.0005  # gaps are printed with three digits
_WORSE = ("false_negative_rate", "error_rate", "true_negative_rate")  # is a higher rate
ERRORS = ("false_positive_rate", "false_negative_rate")


@dataclass(frozen=True)
class AlternativeCosts:
    """Tables of what an alternative changes, on the people of the claim.

    Attributes
    ----------
    decisions : DataFrame
        By column and group, and by intersection: people, selection rates of both models, people who
        gain and who lose the favorable decision.
    errors : DataFrame
        By column and group: false positive and false negative rates of both models.
    calibration : DataFrame
        By column and group: mean probability less share of favorable labels, of both models; no
        rows without probabilities.
    gaps : DataFrame
        By column and intersection: whether it is protected, watched or an intersection; its groups,
        and the people in them; the gap of both models with the groups furthest apart; and the
        p-value of the gap being larger, corrected for the pairs of groups.
    cases : dict of str to int or None
        People whose decision changes with another protected value, by the present model
        ("before") and by the alternative ("after"); None if it cannot be asked.
    leveling_down : dict of column to dict
        Of all groups of the column: the one whose metric becomes worse by most ("loses_group",
        "loses", negative), and the one whose metric becomes better by most.
    floors : dict of column to dict
        Of protected and watched columns: the group with the worst metric by each model, and it.
    total : dict of str to int
        How many people "gain" and "lose" the favorable decision.
    """

    decisions: pd.DataFrame
    errors: pd.DataFrame
    calibration: pd.DataFrame
    gaps: pd.DataFrame
    cases: dict
    leveling_down: dict
    floors: dict
    total: dict

    @property
    def widened(self):
        """The gaps that are visibly larger with the alternative, a DataFrame."""
        return self.gaps[self.gaps["change"] >= _VISIBLE]

    @property
    def is_leveling_down(self):
        """The columns whose gap narrows while a group loses more than any group gains."""
        gap_change = dict(zip(self.gaps["column"], self.gaps["change"], strict=True))
        return [
            name
            for name, changes in self.leveling_down.items()
            if gap_change[name] < 0
            and -changes["loses"] > changes["gains"]
            and changes["loses"] < 0
        ]

    @property
    def lowered_floors(self):
        """The columns whose worst-off group is visibly worse off than the worst-off before."""
        return [name for name, floor in self.floors.items() if floor["change"] <= -_VISIBLE]


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
    intersections = _intersections(everywhere, min_support)
    favored = [is_favorable(p.label, question.favorable) for p in predictions]
    decisions, errors, calibration = [], [], []
    for name, groups in {**everywhere, **intersections}.items():
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
            if name in intersections:
                continue
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
        _gaps(question, present, alternative, watched, intersections),
        {
            w: None if c is None else int(c.sum())
            for w, c in zip(("before", "after"), cases, strict=True)
        },
        {name: _changes(question, present, alternative, name) for name in question.groups},
        {
            name: _floor(replace(question, groups={name: groups}), present, alternative, name)
            for name, groups in everywhere.items()
        },
        {
            "gain": int((favored[1] & ~favored[0]).sum()),
            "lose": int((favored[0] & ~favored[1]).sum()),
        },
    )


def _goodness(question, predictions, name):
    """Return the metric of each group, negative if a higher one is worse for the group."""
    sign = -1 if question.metric in _WORSE else 1
    return sign * question.rates(predictions, name)


def _changes(question, present, alternative, name):
    """Return which group of a column loses most, and which gains most."""
    before, after = (_goodness(question, p, name) for p in (present, alternative))
    change, names = after - before, question.groups[name].names
    if np.isnan(change).all():
        return {"loses": np.nan, "loses_group": "", "gains": np.nan, "gains_group": ""}
    loses, gains = int(np.nanargmin(change)), int(np.nanargmax(change))
    return {
        "loses": float(change[loses]),
        "loses_group": names[loses],
        "gains": float(change[gains]),
        "gains_group": names[gains],
    }


def _floor(question, present, alternative, name):
    """Return the worst-off group by each model, its metric, and the change of the worst metric."""
    worst = {}
    for when, p in (("before", present), ("after", alternative)):
        goodness = _goodness(question, p, name)
        if np.isnan(goodness).all():
            return {"change": np.nan}
        k = int(np.nanargmin(goodness))
        worst |= {when: float(abs(goodness[k])), f"{when}_group": question.groups[name].names[k]}
        worst["change"] = float(goodness[k]) - worst.get("change", 0.0)
    return worst


def _intersections(everywhere, min_support):
    """Return the groups of the combinations of columns, where there are several."""
    several = {}
    for size in range(2, len(everywhere) + 1):
        for names in combinations(everywhere, size):
            crossed = _crossed([everywhere[n] for n in names], min_support)
            if len(crossed.names) > 1:
                several[" & ".join(map(str, names))] = crossed
    return several


def _gaps(question, present, alternative, watched, intersections):
    """Return the gaps of all columns and intersections, with the evidence that they grew."""
    rows = []
    for role, columns in (
        ("protected", question.groups),
        ("watched", watched),
        ("intersection", intersections),
    ):
        for name, groups in columns.items():
            column_question = replace(question, groups={name: groups})
            pair_before, before = column_question.gap(present, name)
            widest_pair, after = column_question.gap(alternative, name)
            # The alternative is held to its pair, which these people chose among all.
            gain, error = column_question.gains_of_pairs(
                present, alternative, name, None, widest_pair
            )
            z = float(np.min(-gain / error))
            n_tried = column_question.n_assignments(name)
            rows.append(
                {
                    "column": name,
                    "role": role,
                    "groups": len(groups.names),
                    "n": int((groups.code >= 0).sum()),
                    "before": before,
                    "after": after,
                    "change": after - before,
                    "pair_before": pair_in_words(groups, pair_before),
                    "pair_after": pair_in_words(groups, widest_pair),
                    "p_larger": float(min(1.0, n_tried * ndtr(-z))),
                }
            )
    return pd.DataFrame(rows)


def pair_in_words(groups, pair):
    """Return two groups in words, the first above the second; of several parts, how often each."""
    pairs = [tuple(map(int, p)) for p in np.reshape(pair, (-1, 2))]
    texts = [f"{groups.names[high]!r} above {groups.names[low]!r}" for high, low in pairs]
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(f"{t} in {texts.count(t)}" for t in dict.fromkeys(texts)) + " parts"


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
