"""What a witness says about people it has not seen: test, rules, bounds, and the Discovery."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._expectations import said_about, widening
from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import DIFFERS, FOUND
from skdisc._space._codes import EVERYONE
from skdisc._space._items import count_values
from skdisc._verdicts._answer import decide, family_table
from skdisc._verdicts._candidates import Candidates, smallest_ratio_of_gap
from skdisc.subgroup._estimation._contrasts import IN_CONTEXT
from skdisc.subgroup._learned._people import CenteredPeople, Learned
from skdisc.subgroup._learned._witness import in_cells, standardized

TEST = "covariance of witness and residuals on rows it has not seen"
_LEFT_OVER = "holding the legitimate columns equal was not sufficient"
_TOO_MANY_VALUES = (
    "the legitimate columns have too many values for so few people to be compared at equal ones; "
    "group the values, or collect more rows"
)
_LEAST = 20  # people on whom a witness is tested
_NUMBERS = ["outcome", "effect", "ci_low", "ci_high", "p_value", "p_adjusted", "kept"]


def beta(centered: np.ndarray, residual: np.ndarray, freedom: float = 1.0) -> tuple[float, float]:
    """Return the slope of residuals on a centered function, and its robust standard error.

    `freedom` is the share of their variance that residuals keep.
    """
    size = float(centered @ centered)
    if not size > 0:
        return np.nan, np.nan
    slope = float(centered @ residual) / size
    noise = (centered * (residual - slope * centered)) ** 2
    return slope, float(np.sqrt(noise.sum() / freedom) / size)


def tests_of(
    learned: Learned, sample: CenteredPeople, significance: float
) -> tuple[pd.DataFrame, list[str]]:
    """Test whether a witness predicts the outcomes of people it has not seen.

    On everyone, and in each bin of the score if there is one. The statistic is the mean product of
    the witness and the outcomes, both centered by the legitimate columns. A significant p-value is
    replaced by the one of the slope less the bias that crossings of the legitimate columns would
    still remove.

    Parameters
    ----------
    sample : CenteredPeople
        The people whom the witness has not seen.

    Returns
    -------
    tests : DataFrame
        One row for each part: ``part``, ``n``, ``covariance`` (of witness and outcome; of a group
        its size times its gap), ``effect`` (the slope of outcomes on the witness), ``z``,
        ``p_value`` (one-sided, as the witness says who has larger outcomes), and ``p_adjusted``.
        p-values of bins are corrected by Šidák, exactly, since bins have no person in common, and
        are at least the p-value of everyone.
    reasons : list of str
        What crossings would take from the slope of everyone, if it is then no longer significant.
    """
    setting, (people, centering) = learned.setting, sample
    centered = centering.free(setting.values(learned.witness, people))
    rows, reasons = [], []
    for part in setting.parts:
        in_part = setting.in_part(part, people)
        g, r = centered[in_part], centering.residual[in_part]
        # Residuals of least squares vary less than outcomes do, by the factor `freedom`.
        z = standardized(g * r) * np.sqrt(centering.freedom) if len(r) >= _LEAST else 0.0
        mean = float((g * r).mean()) if len(r) else np.nan
        p_value = float(special.ndtr(-z)) if len(r) >= _LEAST and g.any() else np.nan
        slope, error = beta(g, r, centering.freedom)
        if p_value <= significance and error > 0:  # of a perfect fit nothing is left to learn
            crossings = [u for block in centering.unlearned(centered, in_part) for u in block]
            down, _ = widening(crossings)
            p_value = max(p_value, float(special.ndtr(-(slope - down) / error)))
            if part == EVERYONE and p_value > significance:
                reasons = [f"{_LEFT_OVER}: {_decapitalized(said_about(crossings))}"]
        rows.append((setting.name_of(part), len(r), mean, slope, z, p_value))
    names = ["part", "n", "covariance", "effect", "z", "p_value"]
    table = pd.DataFrame(rows, columns=names)
    n_bins = max(int(table["p_value"].iloc[1:].notna().sum()), 1)
    p_of_bins = 1 - (1 - table["p_value"].iloc[1:]) ** n_bins
    table["p_adjusted"] = table["p_value"].iloc[0]
    table.loc[1:, "p_adjusted"] = np.maximum(p_of_bins, table["p_value"].iloc[0])
    return table, reasons


def _decapitalized(sentence):
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def rules_of(
    learned: Learned, sample: CenteredPeople, tests: pd.DataFrame, level: float
) -> pd.DataFrame:
    """Measure the rules of a witness.

    Returns a DataFrame: one row per rule: ``outcome``, ``effect`` (how much more residuals are in
    the rule than elsewhere in its context, weighted by overlap) with its interval, widened by what
    crossings would still add, and p-value (at least that of the witness), ``kept``, the share of
    the witness's signal that the rule keeps.
    """
    setting, (people, centering) = learned.setting, sample
    rows, sizes = [], []
    z = special.ndtri(1 - level / 2)
    witness_values = setting.values(learned.witness, people) if learned.words else None
    for group, k in learned.words:
        in_part = setting.in_part(k, people)
        free = centering.free(in_cells(group, people.X, setting.cells).astype(float))
        h = free[in_part]
        g = centering.free(witness_values)[in_part]
        r = centering.residual[in_part]
        inside = group.mask(people.X) & in_part
        slope, error = beta(h, r, centering.freedom)
        witness_signal, rule_signal = (_signal(x, r) for x in (g, h))
        outcome = people.outcome[inside].mean() if inside.any() else np.nan
        share_kept = (rule_signal / witness_signal) ** 2 if witness_signal > 0 else np.nan
        down, up = centering.widening(free, in_part)
        surely = max(abs(slope) - (down if slope > 0 else up), 0)
        p_value = 2 * special.ndtr(-surely / error) if error > 0 else np.nan
        ends = slope - z * error - down, slope + z * error + up
        rows.append((outcome, slope, *ends, p_value, p_value, share_kept))
        sizes.append(int(inside.sum()))
    table = pd.DataFrame(np.array(rows, dtype=float).reshape(-1, len(_NUMBERS)), columns=_NUMBERS)
    p_of_witness = tests["p_adjusted"].to_numpy()[
        [setting.parts.index(k) for _, k in learned.words]
    ]
    table["p_adjusted"] = np.maximum(
        _stats.adjust(table["p_value"].to_numpy(), "holm"), p_of_witness
    )
    table["support"] = np.array(sizes, dtype=np.int64)
    return table


def _signal(centered, residual):
    """Return the covariance of residuals with a standardized function."""
    size = np.sqrt(centered @ centered)
    return float(centered @ residual) / size if size > 0 else 0.0


def candidates_of(
    learned: Learned,
    sample: CenteredPeople,
    everyone: CenteredPeople,
    is_found: np.ndarray,
    *,
    ratios: bool,
) -> Candidates:
    """Return the family of the question: the groups that the witness chose, and single values.

    Groups were chosen from people who are not among those seen here, and values of protected
    columns are fixed in advance, so that the largest U of all covers the worst of them.

    `sample`: the people whom the witness has not seen, for its groups. `everyone`: all people, for
    single values. `is_found`: which groups of the witness are findings. `ratios`: whether ratios
    count.
    """
    setting, rows = learned.setting, []
    total = float(len(everyone.people))
    for group, k in learned.words:
        in_part = setting.in_part(k, sample.people)
        h = sample.centering.free(in_cells(group, sample.people.X, setting.cells).astype(float))
        slope, error = beta(
            h[in_part], sample.centering.residual[in_part], sample.centering.freedom
        )
        ends = sample.centering.widening(h, in_part)
        inside = group.mask(sample.people.X)[in_part]
        rate = sample.people.outcome[in_part][inside].mean() if inside.any() else np.nan
        n = int(inside.sum())
        rows.append((str(group), n, len(inside) - n, total, slope, error, *ends, rate))
    cells, (people, centering), names_listed = setting.cells, everyone, {row[0] for row in rows}
    protected = [cells.items.predicates[i] for i in np.flatnonzero(cells.items.protected)]
    for i, has_item in zip(np.flatnonzero(cells.items.protected), cells.indicators.T, strict=True):
        h = centering.free(np.broadcast_to(has_item, (len(people), len(has_item))))
        slope, error = beta(h, centering.residual, centering.freedom)
        inside = has_item[centering.cell] == 1
        n, rate = int(inside.sum()), people.outcome[inside].mean() if inside.any() else np.nan
        values_of_column = [
            str(q) for q in protected if q.column == cells.items.predicates[i].column
        ]
        name, is_half = str(cells.items.predicates[i]), len(values_of_column) == 2
        if name in names_listed or (is_half and names_listed & set(values_of_column)):
            continue  # the gap of two halves is one question
        names_listed.add(name)
        size = max(n, len(people) - n) if is_half else n
        ends = centering.widening(h)
        rows.append((name, n, len(people) - n, size, slope, error, *ends, rate))
    names, *numbers = zip(*rows, strict=True) if rows else [()] * 9
    n, n_others, size, slope, error, down, up, rate = (np.array(v, dtype=float) for v in numbers)

    def interval(a):
        half = -special.ndtri(a) * error
        return slope - half - down, slope + half + up

    def ratio(a):
        return smallest_ratio_of_gap(slope, *interval(a), rate)

    return Candidates(
        n,
        n_others,
        slope,
        interval,
        size=size,
        total=total,
        found=np.append(is_found, np.zeros(len(rows) - len(is_found), dtype=bool)),
        ratio=ratio if ratios else None,
        name=names,
    )


def discovery_of(
    detector: Any,
    task: Any,
    learned: Learned,
    sample: CenteredPeople,
    everyone: CenteredPeople,
    notes: list,
) -> Discovery:
    """Return the Discovery of a witness.

    `sample`: the people whom the witness has not seen. `everyone`: all people, for bounds.
    """
    d = detector
    tests, reasons = tests_of(learned, sample, d.significance)
    if sample.centering.is_full:
        reasons.append(_TOO_MANY_VALUES)
    table = rules_of(learned, sample, tests, d.significance)
    table["measure"] = np.full(len(table), d._measure, dtype=object)
    table["test"] = np.full(len(table), TEST, dtype=object)
    table["part"] = np.array([learned.setting.name_of(k) for _, k in learned.words], dtype=object)
    relevant = d._relevant(task, everyone.people)
    if relevant.problem:
        reasons.append(relevant.problem)
    is_found = (table["p_adjusted"] <= d.significance).to_numpy()
    if task.is_audit:
        effect_at_fit = d.result_.findings.table["effect"].to_numpy()
        is_found = is_found & (np.sign(effect_at_fit) == np.sign(table["effect"].to_numpy()))
    groups = learned.groups
    found_groups = [g for g, yes in zip(groups, is_found, strict=True) if yes]
    is_rate = np.isin(everyone.people.outcome, (0.0, 1.0)).all()
    ratios = bool(is_rate) and d.null == "marginal"
    candidates = candidates_of(learned, sample, everyone, is_found, ratios=ratios)
    answer = _answered(d, tests, candidates, reasons, relevant.size, bool(reasons))
    return Discovery(
        findings=GroupFindings.of(groups, table, task.space),
        measure=d._measure,
        n_tested=len(groups),
        n_found=len(found_groups),
        by_value=count_values(groups, found_groups, d.protected_),
        tables={"witness": tests, "family": family_table(candidates, answer)},
        notes=[*notes, *_notes(learned, tests, table, d.significance), *answer.sentences[1:]],
        versus=IN_CONTEXT,
        answer=answer,
    )


def _notes(learned, tests, table, significance):
    """Return sentences about the witness and its rules."""
    row = tests.iloc[0]
    if np.isnan(row["p_value"]):
        return ["The witness could not be tested: too few people, or it is constant."]
    notes = [
        f"Witness: {learned.witness.kind}; on {row['n']:,} people it has not seen, z = "
        f"{row['z']:.2f}, p = {row['p_value']:.2g}."
    ]
    if row["p_value"] <= significance and not (table["p_adjusted"] <= significance).any():
        notes.append(
            "No rule of few conditions says what the witness has found: it is spread over people "
            "who share no such rule."
        )
    return notes


def _answered(detector, tests, candidates, reasons, gap, is_doubted):
    """Return the Answer: by the test of the witness, else by what the family excludes."""
    d, p, z = detector, tests["p_value"].iloc[0], tests["z"].iloc[0]
    is_found = bool(p <= d.significance and not is_doubted)
    if d.null == "everyone":
        reasons = ["that nobody differs from everyone cannot be shown", *reasons]
    if np.isnan(p):
        reasons = ["the witness could not be tested", *reasons]
    answer = decide(
        candidates,
        relevant_gap=gap,
        significance=d.significance,
        relevant_ratio=d.relevant_ratio if candidates.ratio is not None else None,
        relevant_size=d.relevant_size,
        is_found=is_found,
        reasons=reasons,
    )
    if not is_found:
        return answer
    verdict = DIFFERS if d.null == "everyone" else FOUND
    reason = f"a learned witness predicts who is treated differently (z = {z:.2f})"
    return replace(answer, verdict=verdict, reason=reason)
