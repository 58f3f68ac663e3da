"""What a situation test returns: the table of complainants, counts, cases and their groups."""

import math

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import CaseFindings, feature_names
from skdisc._results._judgment import FOUND, UNSURE
from skdisc._space._items import value_name
from skdisc._utils._hashing import canonical_rank
from skdisc.causal._counterfactual_rows import counterfactual_rows
from skdisc.individual._situation_testing import _alvarez2023
from skdisc.individual._situation_testing import _statistics as statistics
from skdisc.individual._situation_testing._mean_gap import enough

_DISTANCES = 2**22  # from cases to all people, kept at once
SMALL, LARGE = 0.1, 0.25  # standardized differences that are worth a note


def people_table(detector, comparison, rows, groups, flip):
    """Return one row per complainant and number of neighbors, with the statistics.

    Parameters
    ----------
    detector : SituationDetector
    comparison : Comparison
    rows : ndarray of int, shape (n,)
        The rows of the complainants.
    groups : Neighborhoods
        Their control and test groups.
    flip : ndarray of float, shape (n,), or None
        Own decision minus the counterfactual one.
    """
    n_c, n_t = groups.n_c, groups.n_t
    settings = {name: getattr(detector, name) for name in ("threshold", "direction")}
    settings["significance"] = detector.significance
    if detector.output == "decision":
        outcome_gap = statistics.of_shares(
            groups.sums_c[..., 0],
            n_c=n_c,
            x_t=groups.sums_t[..., 0],
            n_t=n_t,
            **settings,
        )
    else:
        outcome_gap = statistics.of_means(
            groups.sums_c[..., :2], n_c, groups.sums_t[..., :2], n_t, **settings
        )
    residual_gap, p_used = outcome_gap.only_where(False), outcome_gap.p_value
    if not detector._is_published:
        residual_gap = statistics.of_means(
            groups.sums_c[..., -2:], n_c, groups.sums_t[..., -2:], n_t, **settings
        )
        p_used = residual_gap.p_value
        if detector.output == "decision":
            # Residuals of equal decisions may differ by next to nothing, and that without variance:
            # Fisher's test of the decisions knows how few they are.
            p_used = np.fmax(outcome_gap.p_value, residual_gap.p_value)
        else:
            # Equal outcomes have no test: their residuals differ by errors of learning alone.
            p_used = np.where(np.isnan(outcome_gap.p_value), np.nan, residual_gap.p_value)
    if detector._has_caliper:
        has_enough = np.minimum(n_c, n_t) >= enough(np.array(detector._ks))
        outcome_gap, residual_gap = (
            outcome_gap.only_where(has_enough),
            residual_gap.only_where(has_enough),
        )
        p_used = np.where(has_enough, p_used, np.nan)
    if detector._is_published:
        delta, low, high = _alvarez2023.interval(
            outcome_gap.p_c, outcome_gap.p_t, n_c, n_t, detector.significance
        )
        outcome_gap = outcome_gap._replace(delta=delta, ci_low=low, ci_high=high)
    table = {
        "row": np.repeat(rows, n_c.shape[1]),
        "n_neighbors": np.tile(np.array(detector._ks), len(rows)),
        "group": pd.Series([str(comparison.group)] * n_c.size, dtype=object),
        "reference": pd.Series([comparison.versus] * n_c.size, dtype=object),
        "n_c": np.asarray(n_c, dtype=float).ravel(),
        "n_t": np.asarray(n_t, dtype=float).ravel(),
        **{name: values.ravel() for name, values in outcome_gap._asdict().items()},
        "residual": residual_gap.delta.ravel(),
        "residual_low": residual_gap.ci_low.ravel(),
        "residual_high": residual_gap.ci_high.ravel(),
        "p_residual": residual_gap.p_value.ravel(),
        "_p_used": p_used.ravel(),
    }
    if flip is not None:
        table["flip"] = np.repeat(flip, n_c.shape[1])
    return pd.DataFrame(table)


def joined(tables, n_columns):
    """Return the complainants of all comparisons, ordered by row.

    With several columns compared one by one, only people in every table are kept, each with the
    weakest of their comparisons: a person with a case there has one in all.
    """
    if not tables:
        raise ValueError("The rows under audit belong to one group: there is none to compare with.")
    table = pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
    if n_columns > 1:
        by = ["row", "n_neighbors"]
        table = table[table.groupby(by)["row"].transform("size") == n_columns]
        weakest = table.assign(_size=table["delta"].abs(), _p=-table["_p_used"])
        order = {"kind": "stable", "na_position": "first"}  # not compared is weakest of all
        weakest = weakest.sort_values([*by, "_p", "_size"], **order).drop_duplicates(by)
        table = weakest.drop(columns=["_size", "_p"])
    order = np.lexsort((table["row"], pd.factorize(table["n_neighbors"])[0]))
    return table.iloc[order].reset_index(drop=True)


def decided(table, detector, groups=None, imbalance=None):
    """Add the adjusted p-value, whether each person has a case, and why not.

    Parameters
    ----------
    table : DataFrame
        From `joined`.
    detector : SituationDetector
    groups : collection of str, optional
        The groups whose mean gap is significant: people are screened, and differences that are
        significant one by one are cases only there. None: each person's claim stands by itself.
    imbalance : DataFrame, optional
        From `imbalances`, one row for each of the table: a claim whose control and test groups
        differ too much in a feature is not decided.
    """
    p = table.pop("_p_used").to_numpy()
    adjusted = np.full(len(table), np.nan)
    for k in table["n_neighbors"].unique():
        has_k = (table["n_neighbors"] == k).to_numpy()
        adjusted[has_k] = _stats.adjust(p[has_k], detector.correction)
    table["p_adjusted"] = adjusted
    delta, bounds = table["delta"].to_numpy(), (table["ci_low"], table["ci_high"])
    rule = detector.threshold, detector.direction
    gap = statistics.exceeds(np.round(delta, 3) if detector._is_published else delta, *rule)
    interval = statistics.interval_exceeds(*(b.to_numpy() for b in bounds), *rule)
    criteria = {
        "gap": gap,
        "interval": gap & interval,
        "adjusted": _beyond(table, gap, detector) & (adjusted <= detector.significance),
    }
    table["gap"], table["interval"] = gap, criteria["interval"]
    case, reason = criteria[detector._criterion], _why_not(table, detector)
    if detector._criterion == "adjusted" and groups is not None:
        is_open = case & ~table["group"].isin(groups).to_numpy()
        reason[is_open], case = _NO_MEAN_GAP, case & ~is_open
    if imbalance is not None:
        largest = imbalance["imbalance"].to_numpy()
        is_open = case & ~(largest <= LARGE)
        case = case & ~is_open
        names = imbalance["imbalance_in"].to_numpy()
        pairs = zip(names[is_open], largest[is_open], strict=True)
        reason[is_open] = [_reason_of_imbalance(*pair) for pair in pairs]
    table["case"], table["reason"] = case, np.where(case, "", reason)
    return table


_NO_MEAN_GAP = "the mean gap of the group is not significant"


def _reason_of_imbalance(feature, size):
    """Return why groups that differ in a feature decide nothing."""
    if np.isnan(size):
        return "no feature of the control and the test group can be compared"
    return f"the control and the test group differ by {size:.2f} standard deviations in {feature}"


def _beyond(table, gap, detector):
    """Return which differences that are tested exceed the threshold: of residuals, or of outcomes.

    `gap` says it of the outcomes, which are tested as published.
    """
    if detector._is_published:
        return np.array(gap)
    return statistics.exceeds(
        table["residual"].to_numpy(), detector.threshold, direction=detector.direction
    )


def _why_not(table, detector):
    """Return the first reason why a row is no case by the criterion alone, an array of str."""
    k, threshold = table["n_neighbors"].to_numpy(), detector.threshold
    few = [f"fewer than {math.ceil(enough(n))} of {n} neighbors within the caliper" for n in k]
    few = few if detector._has_caliper else "nobody is similar enough to be compared with"
    level = f"the adjusted p-value is above {detector.significance:g}"
    gap, no_gap = table["gap"].to_numpy(), _not_beyond(detector)
    if detector._criterion == "adjusted":
        no_test = table["p_adjusted"].isna()
        reason = np.where(no_test, "all outcomes are equal: no test", level)
        accounted = np.where(gap, "the features account for the difference", no_gap)
        reason = np.where(_beyond(table, gap, detector) | no_test, reason, accounted)
    else:
        inside = f"the interval contains differences of {threshold:g} and less"
        reason = np.where(gap, inside, no_gap)
    return np.where(table["delta"].isna(), few, reason).astype(object)


def _not_beyond(detector):
    """Return the reason of those whose difference does not exceed the threshold."""
    worse = {"lower": "worse", "higher": "better", "both": "differently"}[detector.direction]
    by = f" by more than {detector.threshold:g}" if detector.threshold else ""
    return f"not treated {worse}{by}"


def imbalances(task, judged, table, k):
    """Return how far the features of control and test groups are apart, a DataFrame.

    Control groups are compared with their persons and test groups with the counterparts of these,
    so that what the protected attribute changes is no imbalance.

    Parameters
    ----------
    task : Task
    judged : list of Judged
    table : DataFrame
        The complainants, from `joined`.
    k : int
        The size of the groups compared.

    Returns
    -------
    DataFrame
        ``imbalance``, the largest difference of a feature in standard deviations, and
        ``imbalance_in``, the name of the feature; NaN and "" for other sizes of groups.
    """
    size, name = np.full(len(table), np.nan), np.full(len(table), "", dtype=object)
    first = (table["n_neighbors"] == k).to_numpy()
    for part in judged:
        group_rows = np.flatnonzero(
            first & (table["group"] == str(part.comparison.group)).to_numpy()
        )
        if not len(group_rows):
            continue
        rows = table["row"].to_numpy()[group_rows]
        imbalance = part.pools.imbalance(
            task.memory.X,
            people=task.X.iloc[rows],
            counterparts=part.counterparts.iloc[rows],
            rows=None if task.is_audit else rows,
            k=k,
        )
        has = imbalance.notna().any(axis=1).to_numpy()
        size[group_rows[has]] = imbalance[has].max(axis=1)
        name[group_rows[has]] = imbalance[has].idxmax(axis=1)
    return pd.DataFrame({"imbalance": size, "imbalance_in": name})


def claims_table(table, imbalance, detector):
    """Return the answer to each person's claim, a DataFrame with one row per complainant."""
    first = (table["n_neighbors"] == detector._ks[0]).to_numpy()
    claims = table[first].join(imbalance[first]).reset_index(drop=True)
    is_upheld = _beyond(claims, claims["gap"], detector)
    is_upheld &= (claims["p_adjusted"] <= detector.significance).to_numpy()
    is_upheld &= (claims["imbalance"] <= LARGE) | detector._is_published
    claims["answer"] = np.where(is_upheld, FOUND, UNSURE)
    return claims[_CLAIM]


_CLAIM = ["row", "group", "reference", "n_c", "n_t", "p_c", "p_t", "delta", "ci_low", "ci_high"]
_CLAIM += ["p_value", "residual", "residual_low", "residual_high", "p_residual", "p_adjusted"]
_CLAIM += ["imbalance", "imbalance_in", "answer", "reason"]


def claim_notes(claims, n_elsewhere):
    """Return notes on the claims: their answers, next to the verdict."""
    n_upheld = int((claims["answer"] == FOUND).sum())
    notes = [
        f"{n_upheld} of {len(claims)} claims are upheld (see the table of claims). The verdict is "
        "about the whole group, whoever complains."
    ]
    if n_elsewhere:
        notes.append(
            f"{n_elsewhere} of the complainants belong to no group whose members may complain, or "
            "are not under audit; they have no row in the tables."
        )
    return notes


def unmatched(table, detector):
    """Return (group, number, reason) for the people without enough similar people."""
    if not detector._has_caliper:
        return []
    k = detector._ks[0]
    unmatched_people = table[(table["n_neighbors"] == k) & table["delta"].isna()]
    reason = f"fewer than {int(np.ceil(enough(k)))} of {k} neighbors within the caliper"
    return [
        (group, int(n), reason) for group, n in unmatched_people["group"].value_counts().items()
    ]


def count_table(table, detector):
    """Return, per number of neighbors, how many people have a case by each criterion.

    Columns: n_neighbors, n, gap (difference beyond the threshold), interval (and its interval),
    adjusted (and its adjusted p-value significant), opposite (beyond it in the other direction),
    share (of people with a case, by the criterion of the detector).
    """
    opposite = {"lower": "higher", "higher": "lower", "both": "both"}[detector.direction]
    marks = {name: table[name].to_numpy() for name in ("gap", "interval", "case")}
    adjusted = _beyond(table, marks["gap"], detector)
    adjusted &= table["p_adjusted"].to_numpy() <= detector.significance
    is_opposite = statistics.exceeds(table["delta"].to_numpy(), detector.threshold, opposite)
    is_opposite &= detector.direction != "both"
    counted = [marks["gap"], marks["interval"], adjusted, is_opposite, marks["case"]]
    flips = [table["flip"].to_numpy() == -1] if "flip" in table else []
    rows = []
    for k in detector._ks:
        has_k = table["n_neighbors"].to_numpy() == k
        share = float(marks["case"][has_k].mean()) if has_k.any() else np.nan
        numbers = [int(c[has_k].sum()) for c in counted + flips]
        rows.append((k, int(has_k.sum()), *numbers[:5], share, *numbers[5:]))
    names = ["n_neighbors", "n", "gap", "interval", "adjusted", "opposite", "case", "share"]
    return pd.DataFrame(rows, columns=names + ["flips"] * ("flip" in table))


def in_order(cases, X):
    """Return the cases, the largest difference first; the order of the rows does not matter."""
    rank = canonical_rank(X)
    order = np.lexsort((rank[cases["row"]], cases["p_value"], -cases["delta"].abs()))
    return cases.iloc[order].reset_index(drop=True)


def case_findings(detector, task, judged, cases):
    """Return a finding for each case, with the statistics of its two groups.

    Parameters
    ----------
    detector : SituationDetector
    task : Task
    judged : list of Judged
        One for each comparison.
    cases : DataFrame
        Rows of the table of people, in order.
    """
    columns = {name: column.to_numpy() for name, column in cases.items()}
    rows, means = columns["row"], np.stack([columns["p_c"], columns["p_t"]])
    control, test = 1.0 - means if detector.output == "decision" else means
    names = ["p_value", "p_adjusted", "p_c", "p_t", "delta", "n_neighbors"]
    names += ["residual", "p_residual"]
    case_statistics = {name: columns[name] for name in names}
    case_statistics["ci_low"], case_statistics["ci_high"] = -columns["ci_high"], -columns["ci_low"]
    case_statistics["support"] = (columns["n_c"] + columns["n_t"]).round().astype(int)
    case_statistics["test"] = np.full(len(cases), _test_name(detector), dtype=object)
    frames = []
    for part in judged:
        case_rows = rows[columns["group"] == str(part.comparison.group)]
        twins = counterfactual_rows(None, part.counterparts.iloc[case_rows], part.comparison.do)[0]
        frames.append(twins.set_axis(case_rows))
    altered = pd.concat(frames).loc[rows] if frames else task.X.iloc[:0]
    return CaseFindings(
        task.X.iloc[rows],
        altered,
        control,
        test,
        space=task.space,
        row=rows,
        statistics=pd.DataFrame(case_statistics),
    )


def _test_name(detector):
    if detector.output != "decision":
        return "Welch"
    if detector.threshold > 0:
        return "Newcombe"
    return "Fisher"


def count_by_group(predicates, X, people):
    """Count, per protected value, the people judged and the people with a case, a dict."""
    rows, case = people["row"].to_numpy(), people["case"].to_numpy()
    X, counts = X.iloc[rows], {}
    for predicate in predicates:
        inside = predicate.mask(X)
        counts[value_name(predicate)] = int(inside.sum()), int((inside & case).sum())
    return counts


def _members(detector, task, part, rows):
    """Return the members of the groups of some complainants, by the search that made their shares.

    Return also whether the complainants and their counterparts count as members.
    """
    k, n = detector._ks[0], len(rows)
    if detector._is_published:
        neighbors, counterpart = _alvarez2023.neighbors(part, task, rows, k, detector.centers)
        return neighbors, (np.zeros(n), counterpart.astype(float))
    neighbors = part.pools.neighbors(
        people=task.X.iloc[rows],
        counterparts=part.counterparts.iloc[rows],
        rows=None if task.is_audit else rows,
        k=k,
    )
    return neighbors, (np.full(n, float(detector.centers)),) * 2


def stored_groups(detector, task, judged, cases, outcome):
    """Return the groups of every case, one below the other."""
    tables, rows = [], cases["row"].to_numpy()
    n_at_once = max(1, _DISTANCES // len(task.memory.X))
    for part in judged:
        group_cases = np.flatnonzero(cases["group"] == str(part.comparison.group))
        for start in range(0, len(group_cases), n_at_once):
            case_id = group_cases[start : start + n_at_once]
            case_rows = rows[case_id]
            neighbors, counted = _members(detector, task, part, case_rows)
            decisions = (
                outcome[case_rows],
                np.nan if part.decided is None else part.decided[case_rows],
            )
            table, case = group_table(
                task.memory,
                persons=task.X.iloc[case_rows],
                counterparts=part.counterparts.iloc[case_rows],
                neighbors=neighbors,
                decisions=decisions,
                counted=counted,
            )
            table.insert(0, "case_id", case_id[case])
            tables.append(table)
    if not tables:
        return pd.DataFrame({"case_id": pd.Series(dtype=int)})
    return pd.concat(tables).sort_values("case_id", kind="stable", ignore_index=True)


def group_table(
    people, persons, counterparts, neighbors, decisions=(np.nan, np.nan), counted=(0.0, 0.0)
):
    """Return a row for each person, counterfactual and neighbor, and the person of each row.

    Parameters
    ----------
    people : PeopleOfFit
    persons, counterparts : DataFrame of shape (n_persons, n_columns)
    neighbors : list of lists of (role, row, share, distance)
        The neighbors of each person, from `Pools.neighbors`.
    decisions : pair of float or ndarray of float, shape (n_persons,)
        The outcomes of the persons and of their counterfactuals.
    counted : pair of float or ndarray of float, shape (n_persons,)
        The share of a place that persons have in their control groups, and counterfactuals in the
        test groups.

    Returns
    -------
    table : DataFrame
    person_of_row : ndarray of int, shape (n_rows,)
        The person of each row, in rising order.
    """
    all_neighbors = [one for listed in neighbors for one in listed]
    roles = pd.DataFrame(all_neighbors, columns=["role", "at_fit", "share", "distance"])
    roles["outcome"] = people.outcome[roles["at_fit"].to_numpy(dtype=int)]
    names = feature_names(people.X.columns, roles.columns)
    X, persons, counterparts = (f.rename(columns=names) for f in (people.X, persons, counterparts))
    table = roles.join(X.iloc[roles["at_fit"]].reset_index(drop=True))
    centers = pd.concat([persons, counterparts], ignore_index=True)
    centers.insert(0, "role", np.repeat(["person", "counterpart"], len(persons)))
    for name, values in (("share", counted), ("outcome", decisions)):
        centers[name] = np.concatenate([np.broadcast_to(v, len(persons)) for v in values])
    centers = centers.reindex(columns=["role", "share", "outcome", *X.columns])
    person = np.arange(len(persons))
    person_of_row = np.concatenate(
        [person, person, np.repeat(person, [len(listed) for listed in neighbors])]
    )
    order = np.argsort(person_of_row, kind="stable")
    table = pd.concat([centers, table], ignore_index=True).iloc[order]
    return table.reset_index(drop=True), person_of_row[order]
