"""The answer to one question: a verdict, what is excluded for whom, and what stays open."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from skdisc._verdicts._candidates import Candidates

FOUND, NOTHING, UNSURE = "disparity found", "no disparity found", "insufficient evidence"
CURVE_SIZES = (0.05, 0.1, 0.2, 0.4)  # shares of the people, fixed in advance
_NAMED = 3  # names listed in a sentence


@dataclass(frozen=True)
class Answer:
    """The answer to one question, made by `decide`.

    Every statement holds with probability 1 - significance, by itself: that no candidate has a
    gap above the bound; that those cleared have none above the relevant gap; and, after a finding,
    the same two about the candidates that are not found.

    Attributes
    ----------
    verdict : str
        FOUND, NOTHING or UNSURE.
    reason : str
        What is excluded for whom, or why nothing can be said; one sentence without a final stop.
    aside : str
        Which groups nobody can be compared with, a sentence of its own; "" if there are none.
    n_family, n_found, n_cleared : int
        Number of candidates judged, how many of them are findings, and how many have no gap above
        the relevant one.
    bound : float or None
        No candidate (after a finding: none of the others) has a gap above it; two significant
        digits, rounded up. None: there is no such bound.
    bounds : dict
        The bound of each measure, if there are several.
    relevant_gap : float, dict or None
        The gap that matters; by measure, if there are several that differ. None: there is none.
    relevant_ratio : float or None
        The ratio that matters; None: ratios decide nothing.
    ratio : float or None
        The smallest ratio that is not excluded, rounded down; None: ratios decide nothing.
    open_by_ratio : bool
        Whether the relevant gap is excluded everywhere, but not the relevant ratio.
    relevant_size : float
        Smallest share of the people that a candidate holds.
    resolution : float or None
        Comparisons with this many people on each side, or as precise, are cleared; None: none.
    without_counterparts : list of str
        The candidates with fewer than five people on one side.
    significance, level : float
        One minus the confidence of each statement, and the one-sided error rate at which U is
        taken for it: the same, and smaller after a finding.
    curve : list of dict
        For some shares of the people fixed in advance: ``share``, ``n_groups`` of at least that
        size, and ``bound`` of their gaps; all of them hold together.
    family, cleared, found : list of int
        Positions of the candidates.

    Examples
    --------
    >>> c = Candidates.of_rates([410, 60], [1000, 100], [420, 770], [1000, 1900], total=2000)
    >>> a = decide(c, relevant_gap=0.1)
    >>> print(a.verdict, a.n_cleared, a.bound, a.resolution)
    insufficient evidence 1 0.28 1000.0
    """

    verdict: str
    reason: str = ""
    aside: str = ""
    n_family: int = 0
    n_found: int = 0
    n_cleared: int = 0
    bound: float | None = None
    bounds: dict = field(default_factory=dict)
    relevant_gap: float | dict | None = None
    relevant_ratio: float | None = None
    ratio: float | None = None
    open_by_ratio: bool = False
    relevant_size: float = 0.05
    resolution: float | None = None
    without_counterparts: list = field(default_factory=list)
    significance: float = 0.05
    level: float = 0.05
    curve: list = field(default_factory=list)
    family: list = field(default_factory=list)
    cleared: list = field(default_factory=list)
    found: list = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """Reason and aside, each with its final stop."""
        return [f"{text[0].upper()}{text[1:]}." for text in (self.reason, self.aside) if text]

    def doubted(self, reason: str) -> "Answer":
        """Return the answer without any statement about what the data exclude, for a reason.

        A finding stays one.
        """
        is_found = self.verdict == FOUND
        return replace(
            self,
            verdict=FOUND if is_found else UNSURE,
            reason="" if is_found else reason.rstrip("."),
            bound=None,
            bounds={},
            resolution=None,
            open_by_ratio=False,
            curve=[],
            n_cleared=0,
            cleared=[],
        )

    def to_dict(self) -> dict:
        """Return the answer as a dict of JSON types; ``Answer(**data)`` is the inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict) -> "Answer":
        """Return the answer that `to_dict` made a dict of; further keys are ignored."""
        names = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in names})


def decide(
    candidates: Candidates,
    *,
    relevant_gap: npt.ArrayLike | None = None,
    significance: float = 0.05,
    relevant_ratio: float | None = None,
    relevant_size: float = 0.05,
    is_found: bool | None = None,
    reasons: Sequence[str] = (),
    noun: str = "gap",
    people: str = "these people",
) -> Answer:
    r"""Answer a question by all of its candidates.

    U is the one-sided :math:`1-\alpha` upper end of the effect of a candidate. The largest U of all
    is a bound that holds with :math:`1-\alpha` without a correction for their number: U of the
    truly worst candidate alone covers it. "No disparity found" is the answer if nothing is found
    and the bound is at most the relevant gap.

    Otherwise candidates are *cleared* in the order of the size of their comparisons, until the
    first with U above the relevant gap; of equal sizes all are cleared or none. This statement
    holds with :math:`1-\alpha`, too, for it is wrong only if the first relevant candidate of an
    order that no outcome determines is cleared.

    After K findings, both statements are made about the others, from U at
    :math:`\alpha/(K+2)`; findings are passed over. Let r be the first relevant candidate that is
    not found. K does not depend on the outcomes of r, and those relevant before it are found, so
    the chances of an error add up to at most :math:`\alpha (K/(K+1) + 1/(K+2)) < \alpha`.

    Parameters
    ----------
    candidates : Candidates
    relevant_gap : float or array-like of float, shape (n_candidates,), default=None
        The gap that matters, in the unit of the effects; by candidate, if measures differ. None:
        that of the candidates.
    significance : float, default=0.05
    relevant_ratio : float, default=None
        The ratio that matters. None: as if candidates had no ratios.
    relevant_size : float, default=0.05
        Smallest share of the people under audit that a candidate of the family holds.
    is_found : bool, default=None
        Whether there is a finding, of any size. None: whether a candidate is found.
    reasons : sequence of str
        Why the absence of findings is inconclusive; the first is the reason of the answer. Nothing
        is said then about what the data exclude.
    noun : str, default="gap"
        What is bounded, for the reason.
    people : str, default="these people"
        Whose share the smallest size is, for the reason.

    Returns
    -------
    Answer
    """
    c = candidates
    gap = c.relevant_gap if relevant_gap is None else relevant_gap
    gap = np.broadcast_to(np.asarray(gap, dtype=float), (len(c),))
    reasons = [c.problem, *reasons] if c.problem else reasons
    family = c.family(relevant_size)
    is_finding = c.found & family
    n_found = int(is_finding.sum())
    a = significance / (n_found + 2) if n_found else significance
    upper = c.upper(a)
    ratio = c.smallest_ratios(a) if relevant_ratio else np.ones(len(c))
    gap_holds = upper <= gap * (1 + 1e-9)  # U of mirrored groups may differ in its last digit
    holds = gap_holds & ((ratio > relevant_ratio) if relevant_ratio else True)
    candidates_left = np.flatnonzero(family & ~is_finding)
    cleared = _cleared(candidates_left, c.comparison, holds)
    alone = candidates_left[~c.measurable[candidates_left]]
    number, names = pd.factorize(c.measure, use_na_sentinel=False)
    bounds = _bounds((number[candidates_left], names), upper[candidates_left], gap[candidates_left])
    ratios_count = c.ratio is not None and bool(relevant_ratio) and len(candidates_left) > 0
    answer = Answer(
        UNSURE,
        aside=_without_counterparts(c, alone),
        n_family=int(family.sum()),
        n_found=n_found,
        n_cleared=len(cleared),
        bound=_worst(bounds, c.measure[candidates_left], gap[candidates_left]),
        bounds=bounds if len(bounds) > 1 else {},
        relevant_gap=_by_measure((number, names), gap),
        relevant_ratio=relevant_ratio if ratios_count else None,
        ratio=float(np.floor(ratio[candidates_left].min() * 100) / 100) if ratios_count else None,
        open_by_ratio=bool(
            ratios_count and gap_holds[candidates_left].all() and not holds[candidates_left].all()
        ),
        relevant_size=relevant_size if c.total is not None else 0.0,
        resolution=_resolution(c.comparison, candidates_left, cleared),
        without_counterparts=c.names_of(alone).tolist(),
        significance=significance,
        level=a,
        curve=_curve(c, significance),
        family=np.flatnonzero(family).tolist(),
        cleared=cleared.tolist(),
        found=np.flatnonzero(is_finding).tolist(),
    )
    words, n_left = _Words(answer, noun, people, c.counted), len(candidates_left)
    if c.found.any() if is_found is None else is_found:
        verdict, reason = FOUND, words.about_others(n_left)
    elif not n_left:
        verdict, reason = UNSURE, words.nobody()
    elif holds[candidates_left].all():
        verdict, reason = NOTHING, words.nothing()
    else:
        verdict, reason = UNSURE, words.open(n_left)
    answer = replace(answer, verdict=verdict, reason=reason)
    # With reasons, candidates may be missing, or what they exclude is not what is asked.
    return answer.doubted(reasons[0]) if reasons else answer


def family_table(
    candidates: Candidates,
    answer: Answer,
    *,
    shown: Mapping[tuple[str, str], tuple] | None = None,
) -> pd.DataFrame:
    """Return the candidates of a question, each with its one interval and what was decided.

    Parameters
    ----------
    shown : mapping of (str, str) to tuple, optional
        By group and measure of the findings: estimate, low, high and level. They keep these
        intervals; all others have those that end with their U.

    Returns
    -------
    DataFrame
        The columns of `Candidates.table`, ``excluded`` (U at the level of the answer, on which
        ``cleared`` rests), ``cleared``, ``found``, ``judged`` (whether the candidate is in the
        family) and ``reason``, why it is not judged or cannot be measured.
    """
    c = candidates
    columns = c.columns(answer.significance)
    shown = shown or {}
    measures = {measure for _, measure in shown}
    only = measures.pop() if len(measures) == 1 else ""
    keys = {i: (columns["group"][i], c.measure[i] or only) for i in np.flatnonzero(c.found)}
    positions = [i for i, key in keys.items() if key in shown]
    if positions:
        numbers = np.array([shown[keys[i]] for i in positions], dtype=float)
        for name, values in zip(("estimate", "low", "high", "level"), numbers.T, strict=True):
            columns[name][positions] = values
    columns["excluded"] = c.upper(answer.level)
    columns["cleared"], columns["found"] = _marked(answer.cleared, len(c)), c.found.copy()
    columns["judged"] = _marked(answer.family, len(c))
    under = f"under {_percent(answer.relevant_size)}: not judged"
    reason = np.where(c.reason != "", c.reason, np.where(c.measurable, "", "without counterparts"))
    columns["reason"] = np.where(columns["judged"], reason, under).astype(object)
    return pd.DataFrame(columns, copy=False)


def _marked(positions, n):
    """Return a bool array of length n that is True at some positions."""
    is_marked = np.zeros(n, dtype=bool)
    is_marked[positions] = True
    return is_marked


def reason_of(answer: Answer) -> str:
    """Return the reason of an answer of which some groups are left out.

    Where their bound or resolution is left out, too, only the verdict is repeated in words.
    """
    n = answer.n_family - answer.n_found
    if answer.bound is not None and (answer.resolution is not None or not answer.n_cleared):
        words = _Words(answer, "gap", "these people", "")
        if answer.verdict == FOUND:
            return words.about_others(n) if n > 0 else ""
        if n > 0:
            return words.nothing() if answer.verdict == NOTHING else words.open(n)
    gap = answer.relevant_gap
    if answer.n_cleared and n > 0 and isinstance(gap, float):
        noun = "other groups" if answer.n_found else "groups"
        cleared = f"no gap above {gap:.4g} in {answer.n_cleared:,} of the {n:,} {noun}"
        return f"{cleared} that are shown ({_percent(1 - answer.significance)})"
    if answer.verdict == FOUND:
        return ""
    size = _relevant_size(answer)
    if answer.verdict == NOTHING:
        return f"there is no gap {size.rstrip(',')}"
    return f"whether there is a gap {size} is open"


def _relevant_size(answer):
    """Return the size of a gap that is above the one that matters, to be followed by a verb."""
    gap = answer.relevant_gap
    is_named = isinstance(gap, float)
    return f"above {gap:.4g}, the one that matters," if is_named else "of the size that matters"


def rounded_up(value: float) -> float:
    """Return a number with two significant digits that is not smaller.

    A bound that is rounded to the nearest is broken by half of the data.

    >>> rounded_up(0.0712), rounded_up(0.07), rounded_up(123.0)
    (0.072, 0.07, 130.0)
    """
    if not np.isfinite(value) or value <= 0:
        return float(value)
    exponent = int(np.floor(np.log10(value))) - 1
    digits = value / 10.0**exponent
    nearest = np.round(digits)  # the last digits of a floating-point number are no reason to round
    digits = nearest if np.isclose(digits, nearest, rtol=1e-9, atol=0) else np.ceil(digits)
    return float(f"{digits:.0f}e{exponent}")


def _cleared(others, comparison, holds):
    """Return the candidates cleared: those before the first, by size, that does not hold."""
    size = comparison[others]
    # Strictly larger, so that of equal sizes all are cleared or none: sizes give no order of these.
    largest_open = size[~holds[others]].max(initial=-np.inf)
    cleared = others[size > largest_open]
    return cleared[np.argsort(-comparison[cleared], kind="stable")]


def _bounds(measures, upper, gap):
    """Return the bound of each measure, rounded up, but not above a relevant gap that holds.

    `measures`: the number of the measure of each candidate, and the names.
    """
    (number, names), bounds = measures, {}
    for k in pd.unique(number):
        largest = float(upper[number == k].max())
        limit = float(gap[number == k].min())
        bound = rounded_up(largest)
        bounds[names[k]] = min(bound, limit) if largest <= limit else bound
    return {name: bound if np.isfinite(bound) else None for name, bound in bounds.items()}


def _worst(bounds, measure, gap):
    """Return the bound that is the largest by the relevant gap of its measure."""
    if not bounds or None in bounds.values():
        return None
    return max(bounds.items(), key=lambda b: b[1] / max(gap[measure == b[0]].min(), 1e-300))[1]


def _by_measure(measures, gap):
    """Return the relevant gap, or a dict by measure if they differ; None where there is none."""
    number, names = measures
    last = np.zeros(len(names), dtype=np.intp)  # a candidate of each measure
    last[number] = np.arange(len(gap))
    gaps = [float(g) if np.isfinite(g) else None for g in gap[last]]
    if len(set(gaps)) > 1:
        return dict(zip(names, gaps, strict=True))
    return gaps[0] if gaps else None


def _resolution(comparison, others, cleared):
    """Return how many people on each side the smallest comparison cleared is worth.

    n people on each side are a comparison of size n / 2. It is a whole number wherever one lies
    between the smallest comparison cleared and the largest that is open.
    """
    if not len(cleared):
        return None
    least = 2 * float(comparison[cleared].min())
    still_open = np.setdiff1d(others, cleared)
    most_open = 2 * float(comparison[still_open].max(initial=0.0))
    whole = float(np.floor(least))
    return whole if whole > most_open else least


def _curve(c, significance):
    """Return bounds of the gaps of all groups of four sizes, which hold together."""
    if c.total is None or not len(c):
        return []
    # Bonferroni over the sizes. They are fixed in advance: sizes that the data choose could not be
    # counted.
    upper, curve = c.upper(significance / len(CURVE_SIZES)), []
    for share in CURVE_SIZES:
        u = upper[c.family(share)]
        bound = rounded_up(float(u.max())) if len(u) else None
        finite = bound if bound is not None and np.isfinite(bound) else None
        curve.append({"share": share, "n_groups": len(u), "bound": finite})
    return curve


def _without_counterparts(c, alone):
    """Return a sentence without a final stop that names groups nobody can be compared with."""
    if not len(alone):
        return ""
    names = list(dict.fromkeys(c.names_of(alone)))
    one = len(names) == 1
    listed = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    groups = "1 group has" if one else f"{len(names):,} groups have"
    return f"{groups} next to nobody to compare with: {listed}{more}"


def _percent(share):
    return f"{100 * share:.3g} %"


class _Words:
    """The sentences of an answer."""

    def __init__(self, answer, noun, people, counted):
        self.answer, self.noun, self.counted = answer, noun, counted
        self.sure = f"({_percent(1 - answer.significance)})"
        share, gap = answer.relevant_size, answer.relevant_gap
        self.size = f" of {_percent(share)} of {people} or more" if share else ""
        self.gap = f"{gap:.4g}" if isinstance(gap, float) else "the size that matters"
        named = [f"{bound:g} ({name})" for name, bound in answer.bounds.items() if bound]
        self.bound = ", ".join(named) or f"{answer.bound or 0:g}"

    def nothing(self):
        """Return what "no disparity found" says."""
        n = self.answer.n_family
        where = f" in any of the {n:,} groups compared{self.size}" if n > 1 else ""
        return f"no {self.noun} above {self.bound}{where} {self.sure}"

    def nobody(self):
        """Return why a question without candidates has no answer."""
        if self.answer.n_family:
            return "every group compared is found"
        return f"there is no group to compare{self.size}"

    def open(self, n):
        """Return what is excluded where not everything is."""
        a = self.answer
        if a.open_by_ratio:
            bound = f"no {self.noun} above {self.bound} {self.sure}"
            return f"{bound}; a ratio of {a.ratio:.2g} is not excluded"
        if n == 1:
            text = f"whether there is a {self.noun} {_relevant_size(a)} is open"
            if a.bound is None:
                return a.aside or text
            return f"{text}; none is above {self.bound} {self.sure}"
        return self._cleared(f"{n:,} groups compared{self.size}", "no group")

    def about_others(self, n):
        """Return what is said about everybody else after a finding; "" if there is nobody."""
        a = self.answer
        if not n:
            return ""
        if a.n_found:
            groups = f"{a.n_found:,} of the {a.n_family:,} groups compared{self.size}"
            start = f"a {self.noun} is found in {groups}; "
        else:
            start = f"none of the {n:,} groups compared{self.size} is among the findings; "
        whom = f"the {n:,} others" if n > 1 else "the other"
        if a.n_cleared == n:
            return f"{start}no {self.noun} above {self.bound} in {whom} {self.sure}"
        if n > 1:
            return start + self._cleared(whom, "none of them")
        text = f"{start}of the other it cannot be said that its {self.noun} is at most {self.gap}"
        return text if a.bound is None else f"{text}; it is at most {self.bound} {self.sure}"

    def _cleared(self, groups, nowhere):
        """Return how many of some groups are cleared, and the bound of all."""
        a = self.answer
        if a.n_cleared:
            text = (
                f"no {self.noun} above {self.gap} in {a.n_cleared:,} of {groups} {self.sure}: "
                f"those with {a.resolution:,.0f} people{self.counted} on each side or as good as "
                "that"
            )
        else:
            text = (
                f"of none of {'' if groups.startswith('the') else 'the '}{groups} can it be said "
                f"that its {self.noun} is at most {self.gap}"
            )
        return text if a.bound is None else f"{text}; in {nowhere} above {self.bound} {self.sure}"
