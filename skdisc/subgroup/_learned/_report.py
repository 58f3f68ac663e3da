"""What a witness says about people it has not seen: test, rules, bounds, and the Discovery."""

from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

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
    learned: Learned, sample: CenteredPeople, witness: np.ndarray, significance: float
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
    witness : ndarray of float, shape (n_rows,)
        What the witness says about them, from `Centering.free`.

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
    rows, reasons = [], []
    for part in setting.parts:
        in_part = setting.in_part(part, people)
        g, r = witness[in_part], centering.residual[in_part]
        # Residuals of least squares vary less than outcomes do, by the factor `freedom`.
        z = standardized(g * r) * np.sqrt(centering.freedom) if len(r) >= _LEAST else 0.0
        mean = float((g * r).mean()) if len(r) else np.nan
        p_value = float(special.ndtr(-z)) if len(r) >= _LEAST and g.any() else np.nan
        slope, error = beta(g, r, centering.freedom)
        if p_value <= significance and error > 0:  # of a perfect fit nothing is left to learn
            crossings = [u for block in centering.unlearned(witness, in_part) for u in block]
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


class Gap(NamedTuple):
    """How outcomes differ between some people and others, at equal legitimate columns.

    ``slope`` of residuals on the centered indicator of the people, with its standard ``error``;
    ``down`` and ``up``: by how much crossings of the legitimate columns widen its interval;
    ``size`` of the people, number of the ``others``, and mean ``outcome`` of the people.
    """

    slope: float
    error: float
    down: float
    up: float
    size: int
    others: int
    outcome: float

    @classmethod
    def of(
        cls,
        sample: CenteredPeople,
        free: np.ndarray,
        inside: np.ndarray,
        in_part: np.ndarray | None = None,
    ) -> "Gap":
        """Measure the gap of the people inside, among all people or those of a part.

        `free`: the centered indicator, from `Centering.free`.
        """
        people, centering = sample
        compared = slice(None) if in_part is None else in_part
        slope, error = beta(free[compared], centering.residual[compared], centering.freedom)
        down, up = centering.widening(free, in_part)
        outcomes, size = people.outcome[inside], int(inside.sum())
        others = len(inside[compared]) - size
        return cls(slope, error, down, up, size, others, outcomes.mean() if size else np.nan)


def gaps_of_rules(
    learned: Learned, sample: CenteredPeople, witness: np.ndarray
) -> tuple[list[Gap], list[float]]:
    """Measure the rules of a witness on people whom it has not seen.

    `witness`, of shape (n_rows,): what it says about them, from `Centering.free`. Returns the gap
    of each rule, and the share of the witness's signal that the rule keeps.
    """
    setting, (people, centering) = learned.setting, sample
    gaps, kept = [], []
    for group, part in learned.words:
        in_part = setting.in_part(part, people)
        free = centering.free(in_cells(group, people.X, setting.cells).astype(float))
        gaps.append(Gap.of(sample, free, group.mask(people.X) & in_part, in_part))
        signal, of_rule = (
            _signal(values[in_part], centering.residual[in_part]) for values in (witness, free)
        )
        kept.append((of_rule / signal) ** 2 if signal > 0 else np.nan)
    return gaps, kept


def table_of_rules(
    learned: Learned, gaps: list[Gap], kept: list[float], tests: pd.DataFrame, level: float
) -> pd.DataFrame:
    """Return the table of the rules of a witness.

    One row per rule: ``outcome``, ``effect`` (how much more residuals are in the rule than
    elsewhere in its context, weighted by overlap) with its interval, widened by what crossings
    would still add, and p-value (at least that of the witness), ``kept``, the share of the
    witness's signal that the rule keeps, and ``support``.
    """
    slope, error, down, up, size, _, outcome = np.array(gaps, dtype=float).reshape(-1, 7).T
    reach = special.ndtri(1 - level / 2) * error
    surely = np.maximum(np.abs(slope) - np.where(slope > 0, down, up), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = np.where(error > 0, 2 * special.ndtr(-surely / error), np.nan)
    of_witness = tests["p_adjusted"].to_numpy()[
        [learned.setting.parts.index(k) for _, k in learned.words]
    ]
    columns = {
        "outcome": outcome,
        "effect": slope,
        "ci_low": slope - reach - down,
        "ci_high": slope + reach + up,
        "p_value": p_value,
        "p_adjusted": np.maximum(_stats.adjust(p_value, "holm"), of_witness),
        "kept": np.array(kept, dtype=float),
        "support": size.astype(np.int64),
    }
    return pd.DataFrame(columns)


def _signal(centered, residual):
    """Return the covariance of residuals with a standardized function."""
    size = np.sqrt(centered @ centered)
    return float(centered @ residual) / size if size > 0 else 0.0


def candidates_of(
    learned: Learned,
    gaps: list[Gap],
    everyone: CenteredPeople,
    is_found: np.ndarray,
    *,
    ratios: bool,
) -> Candidates:
    """Return the family of the question: the groups that the witness chose, and single values.

    Groups were chosen from people who are not among those seen here, and values of protected
    columns are fixed in advance, so that the largest U of all covers the worst of them.

    `gaps`: those of the witness's groups. `everyone`: all people, for single values. `is_found`:
    which groups of the witness are findings. `ratios`: whether ratios count.
    """
    cells, (people, centering) = learned.setting.cells, everyone
    sizes, names = [len(people)] * len(gaps), [str(group) for group in learned.groups]
    gaps = list(gaps)
    protected = cells.items.protected_predicates
    for predicate, has_item in zip(protected, cells.indicators.T, strict=True):
        values_of_column = [str(q) for q in protected if q.column == predicate.column]
        is_half = len(values_of_column) == 2
        if str(predicate) in names or (is_half and {*names} & {*values_of_column}):
            continue  # the gap of two halves is one question
        free = centering.free(np.broadcast_to(has_item, (len(people), len(has_item))))
        gap = Gap.of(everyone, free, has_item[centering.cell] == 1)
        gaps.append(gap)
        names.append(str(predicate))
        sizes.append(max(gap.size, gap.others) if is_half else gap.size)
    slope, error, down, up, n, n_others, rate = np.array(gaps, dtype=float).reshape(-1, 7).T

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
        size=sizes,
        total=float(len(people)),
        found=np.append(is_found, np.zeros(len(gaps) - len(is_found), dtype=bool)),
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
    witness = sample.centering.free(learned.setting.values(learned.witness, sample.people))
    tests, reasons = tests_of(learned, sample, witness, detector.significance)
    if sample.centering.is_full:
        reasons.append(_TOO_MANY_VALUES)
    gaps, kept = gaps_of_rules(learned, sample, witness)
    table = table_of_rules(learned, gaps, kept, tests, detector.significance)
    table["measure"] = np.full(len(table), detector._measure, dtype=object)
    table["test"] = np.full(len(table), TEST, dtype=object)
    table["part"] = np.array([learned.setting.name_of(k) for _, k in learned.words], dtype=object)
    relevant = detector._relevant(task, everyone.people)
    if relevant.problem:
        reasons.append(relevant.problem)
    is_found = (table["p_adjusted"] <= detector.significance).to_numpy()
    if task.is_audit:
        effect_at_fit = detector.result_.findings.table["effect"].to_numpy()
        is_found = is_found & (np.sign(effect_at_fit) == np.sign(table["effect"].to_numpy()))
    groups = learned.groups
    found_groups = list(compress(groups, is_found))
    is_rate = np.isin(everyone.people.outcome, (0.0, 1.0)).all()
    ratios = bool(is_rate) and detector.null == "marginal"
    candidates = candidates_of(learned, gaps, everyone, is_found, ratios=ratios)
    answer = _answered(detector, tests, candidates, reasons, relevant.size)
    return Discovery(
        findings=GroupFindings.of(groups, table, task.space),
        measure=detector._measure,
        n_tested=len(groups),
        n_found=len(found_groups),
        by_value=count_values(groups, found_groups, detector.protected_),
        tables={"witness": tests, "family": family_table(candidates, answer)},
        notes=[
            *notes,
            *_notes(learned, tests, table, detector.significance),
            *answer.sentences[1:],
        ],
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


def _answered(detector, tests, candidates, reasons, gap):
    """Return the Answer: by the test of the witness, else by what the family excludes."""
    p, z = tests["p_value"].iloc[0], tests["z"].iloc[0]
    is_found = bool(p <= detector.significance and not reasons)
    if detector.null == "everyone":
        reasons = ["that nobody differs from everyone cannot be shown", *reasons]
    if np.isnan(p):
        reasons = ["the witness could not be tested", *reasons]
    answer = decide(
        candidates,
        relevant_gap=gap,
        significance=detector.significance,
        relevant_ratio=detector.relevant_ratio if candidates.ratio is not None else None,
        relevant_size=detector.relevant_size,
        is_found=is_found,
        reasons=reasons,
    )
    if not is_found:
        return answer
    verdict = DIFFERS if detector.null == "everyone" else FOUND
    reason = f"a learned witness predicts who is treated differently (z = {z:.2f})"
    return replace(answer, verdict=verdict, reason=reason)
