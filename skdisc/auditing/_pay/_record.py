"""What a report of pay prints: the figures of a law as rows of a document."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skdisc.auditing._figures import EQUAL, finite_or_none
from skdisc.auditing._pay._gaps import (
    ABOVE,
    OPEN,
    Gaps,
    dominated,
    hours_share,
    mean_gaps,
    median_gap,
    people_to_tell,
    quarters,
    share_gap,
    share_of_women,
    states,
    turned_by_one,
)
from skdisc.auditing._pay._logib import logib_gap, usable
from skdisc.auditing._pay._payroll import Payroll, smallest_group
from skdisc.auditing._pay._templates import UK
from skdisc.group import OaxacaBlinder

RELEVANT = 0.05  # Article 10(1)(a) of Directive (EU) 2023/970
RECORDED, HOURLY = "as recorded", "per hour"
EVERYBODY, RECIPIENTS = "all", "recipients"
# Which figure a law lists under which letter, of total pay and of variable pay.
LETTERS = {
    ("mean", "total"): "a",
    ("mean", "variable"): "b",
    ("median", "total"): "c",
    ("median", "variable"): "d",
    ("receive", "variable"): "e",
    ("quarter", "total"): "f",
    ("category", None): "g",
}
_UK_LETTERS = {
    ("mean", "total"): "a",
    ("median", "total"): "b",
    ("mean", "variable"): "c",
    ("median", "variable"): "d",
    ("receive", "variable"): "e",
    ("quarter", "total"): "f",
}
JOINED = "other categories"
MEDIAN = 0.5
QUANTILES = (0.1, 0.25, MEDIAN, 0.75, 0.9)  # whose gaps are shown
_MOST_DIGITS = 12
DOMINATED = "one person has nearly all of this pay: left out, to protect them"
_FIGURES = [
    "women_value",
    "men_value",
    "gap",
    "ci_low",
    "ci_high",
    "state",
    "needed",
    "turned_by_one",
]


@dataclass(frozen=True)
class PayRecord:
    """The figures of a report of pay.

    Attributes
    ----------
    rows : list of dict
        The figures, of JSON types.
    about : dict
        What they are about.
    """

    rows: list
    about: dict


def gaps_at_equal_columns(document: dict) -> dict[str, dict]:
    """Return what remains of gaps at equal columns by the audit of total pay, by group."""
    rows = {
        row["group"]: row
        | {"effect": row["estimate"], "ci_low": row["low"], "ci_high": row["high"]}
        | {"ci_level": row["level"]}
        for row in document["figures"]
        if row["what"] == EQUAL
    }
    return rows | {row["group"]: row for row in document["comparable"]}


def pay_record(audit, roll: Payroll, remaining: Mapping[str, dict] | None = None) -> PayRecord:
    """Return the figures of a template of pay.

    Parameters
    ----------
    audit : Audit
    roll : Payroll
    remaining : mapping of str to dict, default=None
        From `gaps_at_equal_columns`.
    """
    return _Maker(audit, roll, remaining or {}).made()


def printed_groups(audit, roll: Payroll) -> list[np.ndarray]:
    """Return the groups whose averages of total pay a record has, masks of audited rows.

    Other parts of a document must not print averages that, subtracted from these, reveal averages
    of few people.
    """
    least, people = smallest_group(audit), roll.people
    sides, is_woman_or_man = (people.is_woman, people.is_man), people.is_woman | people.is_man
    groups = list(sides) if min(people.sizes()[:2]) >= least else []
    if roll.category is not None and audit.template != UK:
        names, code, _ = joined_categories(roll.category, people, least)
        several = range(len(names)) if len(names) > 1 else ()
        groups += [side & (code == k) for k in several for side in sides]
    return [group[is_woman_or_man] for group in groups]


class _Maker:
    """Makes the rows of one record."""

    def __init__(self, audit, roll, remaining):
        self.remaining = remaining
        self.roll, self.people = roll, roll.people
        self.template, self.significance = audit.template, audit.significance
        self.is_public = audit.disclosure == "public"
        self.least = smallest_group(audit)
        # Without averages nothing can be subtracted, so that a gap of all is about fewer.
        self.least_of_all = audit.min_cell
        self.letters = _UK_LETTERS if self.template == UK else LETTERS
        self.bases = [RECORDED] if roll.hours is None else [HOURLY, RECORDED]
        if self.template == UK:
            self.bases = self.bases[:1]
        self.n_left_out = 0

    def made(self):
        """Return the record."""
        rows = [*self._whole(), *self._shares(), *self._quarters()]
        joined, by_category = [], []
        if self.roll.category is not None and self.template != UK:
            names, code, joined = joined_categories(self.roll.category, self.people, self.least)
            by_category = self._by_category(names, code) if len(names) > 1 else []
        n_women, n_men, n_others = self.people.sizes()
        about = {
            "template": self.template,
            "columns": self.roll.names,
            "relevant": RELEVANT,
            "women": n_women,
            "men": n_men,
            "others": n_others,
            "weighted": bool((self.people.weight != 1).any()),
            "clustered": self.people.cluster is not None,
            "hours_share": self._hours_share(),
            "quantiles": self._quantiles(),
            "equal": self._at_equal_columns(by_category),
            "joined": joined,
            "n_left_out": self.n_left_out,
            "few_others": None if self.roll.audited is None or n_others else self.least,
            "implausible": {} if self.is_public else self.roll.implausible,
        }
        if self.roll.logib is not None:
            about["logib"] = self._by_logib()
        return PayRecord([*rows, *by_category], about)

    def _pay(self, part, basis):
        """Return one part of pay on one basis, or None where it is not known."""
        pay = self.roll.part(part)
        return None if pay is None else self.roll.per_hour(pay) if basis == HOURLY else pay

    def _row(self, figure, part, basis, *, people=None, gaps=None, stratum=0, **more):
        women, men, _ = (people or self.people).sizes()
        row = {
            "row": self.letters[figure, None if figure == "category" else part],
            "figure": figure,
            "component": part,
            "basis": basis,
            "among": EVERYBODY,
            "group": None,
            "women": women,
            "men": men,
            **dict.fromkeys(("others", "women_value", "men_value", "gap", "ci_low", "ci_high")),
            **dict.fromkeys(("ci_level", "state", "needed", "turned_by_one")),
            "reason": "",
        }
        if gaps is not None:
            row |= _interval(gaps, stratum, self.significance)
            values = gaps.averages[:, stratum]
            if part == "variable" and self._is_received_by_nobody(figure, values):
                row["reason"] = "nobody receives variable pay"
            if not self.is_public:
                if figure == "median":  # of a person or two: three digits are enough
                    values = [float(f"{value:.3g}") for value in values]
                row |= _of_sides(values)
        return row | more

    def _whole(self):
        """Yield gaps of means and medians of all people: of total pay, and of its variable part."""
        for figure, estimator in (("mean", mean_gaps), ("median", median_gap)):
            for basis in self.bases:
                total = self._pay("total", basis)
                row = self._row(
                    figure, "total", basis, gaps=estimator(total, self.people, self.significance)
                )
                if figure == "mean":
                    row["turned_by_one"] = self._turns(total, self.people, self.significance)
                    row = self._undominated(row, total)
                yield self._of_enough(row)
        if self.roll.variable is None:
            return
        receives = self.roll.variable > 0
        recipients = self.people.only(receives)
        for figure, estimator in (("mean", mean_gaps), ("median", median_gap)):
            # Variable pay of a period is no pay of an hour where the law asks for bonuses.
            for basis in [RECORDED] if self.template == UK else self.bases:
                pay = self._pay("variable", basis)
                if self.template != UK:
                    gaps = estimator(pay, self.people, self.significance)
                    row = self._row(figure, "variable", basis, gaps=gaps)
                    yield self._protected(self._undominated(row, pay), receives)
                gaps = estimator(pay[receives], recipients, self.significance)
                row = self._row(
                    figure, "variable", basis, people=recipients, gaps=gaps, among=RECIPIENTS
                )
                yield self._protected(self._undominated(row, pay), receives)

    def _shares(self):
        """Yield the shares of women and men who receive variable pay."""
        if self.roll.variable is None:
            return
        receives = self.roll.variable > 0
        gaps = share_gap(receives, self.people, self.significance)
        row = self._row("receive", "variable", RECORDED, gaps=gaps)
        yield self._protected(row | _of_sides(gaps.averages[:, 0]), receives)

    def _of_enough(self, row):
        """Return a row of all people, without figures if there are few women or men."""
        if min(self.people.sizes()[:2]) >= self.least_of_all:
            return row
        return _without_figures(row, self._few_people())

    def _few_people(self):
        """Return why a figure of all people is missing."""
        return f"fewer than {self.least_of_all} women or men: left out, to protect them"

    def _protected(self, row, receives):
        """Return a row, without figures if few women or few men receive something."""
        if not self._is_few(receives):
            return row
        self.n_left_out += 1
        if row["among"] == RECIPIENTS:
            row = row | {"women": None, "men": None}
        few = f"fewer than {self.least} women or men receive it: left out, to protect them"
        return _without_figures(row, few)

    def _undominated(self, row, pay, inside=None):
        """Return a row of means, without figures if they would tell one person's pay in public."""
        if not self.is_public or row["figure"] == "median" or row["gap"] is None:
            return row
        everyone = np.ones(len(pay), dtype=bool)
        if not dominated(pay, self.people, everyone if inside is None else inside):
            return row
        return _without_figures(row, DOMINATED)

    def _is_received_by_nobody(self, figure, averages):
        """Return whether variable pay has no gap because nobody there receives any."""
        nobody = figure != "median" and bool((averages == 0).all())
        return nobody or not (self.roll.variable > 0).any()

    def _is_few(self, receives):
        """Return whether few women or few men receive something, but not none."""
        return any(0 < n < self.least for n in self.people.only(receives).sizes()[:2])

    def _quarters(self):
        """Yield the women and men of each quarter of pay."""
        pay = self._pay("total", self.bases[0])
        counts = quarters(pay, self.people)
        # As if all rows of a person were in one quarter, for which intervals are widest.
        of_person = self.people.weight
        if self.people.cluster is not None:
            of_person = np.bincount(self.people.cluster, of_person)
        kish = self.people.weight.sum() / (of_person**2).sum()
        share = share_of_women(counts * kish, self.significance)
        for i, (n_women, n_men, n_others) in enumerate(counts.round(_MOST_DIGITS).tolist()):
            level = {"gap": None, "ci_level": 1 - self.significance}
            yield self._row(
                "quarter",
                "total",
                self.bases[0],
                group=f"quarter {i + 1}",
                **{"women": n_women, "men": n_men, "others": n_others, **level},
                women_value=finite_or_none(share[0, i]),
                men_value=finite_or_none(1 - share[0, i]),
                ci_low=finite_or_none(share[1, i]),
                ci_high=finite_or_none(share[2, i]),
            )

    def _by_category(self, names, code):
        """Return the gap of each category of workers, of base, variable and total pay.

        The level is such that all intervals of a part hold together.
        """
        rows, n, level = [], len(names), self.significance / len(names)
        counts = self.people.counts(code, n)
        parts = [p for p in ("base", "variable", "total") if self.roll.part(p) is not None]
        hidden = self._of_few_recipients(code, n)
        for part in parts:
            pay = self._pay(part, self.bases[0])
            gaps = mean_gaps(pay, self.people, level, code, n)
            state = states(gaps, RELEVANT)
            needed = people_to_tell(gaps, counts[:2], RELEVANT, level)
            for k in range(n):
                inside = code == k
                people = self.people.only(inside)
                row = self._row(
                    "category",
                    part,
                    self.bases[0],
                    people=people,
                    gaps=gaps,
                    stratum=k,
                    group=names[k],
                )
                row["ci_level"] = 1 - level
                if row["gap"] is not None:
                    row["state"] = str(state[k])
                    row["needed"] = finite_or_none(needed[k]) if state[k] == OPEN else None
                    row["turned_by_one"] = self._turns(pay[inside], people, level)
                row = self._undominated(row, pay, inside)
                rows.append(self._protected_in(row, inside) if k in hidden else row)
        return rows

    def _of_few_recipients(self, code, n):
        """Return the categories whose variable pay is not told, because few receive it.

        They are enough that variable pay of all, less that of the others, is about enough people.
        """
        if self.roll.variable is None:
            return set()
        receives = self.roll.variable > 0
        hidden = {k for k in range(n) if self._is_few(receives & (code == k))}
        counts = self.people.only(receives).counts(code[receives], n)[:2].min(axis=0)
        for k in np.argsort(counts, kind="stable").tolist():
            if not hidden or not self._is_few(receives & np.isin(code, list(hidden))):
                break
            hidden.add(k)
        return hidden

    def _protected_in(self, row, inside):
        """Return the row of a category without what tells the variable pay of few.

        Average base pay would: it is total pay less variable pay. So would its gap, if only women,
        or only men, receive variable pay.
        """
        if row["component"] == "total":
            return row
        women, men, _ = self.people.only((self.roll.variable > 0) & inside).sizes()
        if row["component"] == "base" and (women > 0) == (men > 0):
            return row | {"women_value": None, "men_value": None}
        self.n_left_out += 1
        few = (
            f"fewer than {self.least} women or men receive variable pay: left out, to protect them"
        )
        return _without_figures(row, few)

    def _turns(self, pay, people, significance):
        """Return whether one person turns a state; None where that tells about somebody."""
        return None if self.is_public else turned_by_one(pay, people, significance, RELEVANT)

    def _hours_share(self):
        """Return which share of the gap of pay goes with hours."""
        if self.roll.hours is None or self.template == UK:
            return None
        total = self.roll.total
        rate = self.roll.per_hour(total)
        everyone = np.ones(len(total), dtype=bool)
        if self.is_public and any(dominated(pay, self.people, everyone) for pay in (total, rate)):
            return None
        share = hours_share(total, rate, self.people, self.significance)
        return None if np.isnan(share[0]) else dict(zip(_ENDS, map(float, share), strict=True))

    def _quantiles(self):
        """Return the gaps of quantiles of total pay, each between enough people of both sexes."""
        if self.is_public or self.template == UK:
            return []
        rows, pay, fewest = [], self._pay("total", self.bases[0]), min(self.people.sizes()[:2])
        for quantile in QUANTILES:
            if min(quantile, 1 - quantile) * fewest < self.least:
                continue
            gaps = median_gap(pay, self.people, self.significance, quantile)
            row = _interval(gaps, 0, self.significance)
            del row["reason"]
            if None in row.values():
                continue
            if quantile != MEDIAN:  # of a person or two, as the median is, which stands elsewhere
                row |= {n: round(row[n], 3) for n in ("gap", "ci_low", "ci_high")}
            rows.append({"quantile": quantile} | row)
        return rows

    def _at_equal_columns(self, by_category):
        """Return what objective columns account for: of all people, and of categories with a gap.

        It is what the audit says; where the audit says nothing, Oaxaca's and Blinder's
        decomposition of means. It knows no clusters, with which it has no interval. What would be
        more than all of men's pay, as by a few numbers far from all others, is left out.
        """
        if self.is_public or self.template == UK:
            return []
        objective = self.roll.X.drop(
            columns=[c for c in self.roll.X if str(c) == self.roll.names["sex"]]
        )
        pay = self._pay("total", self.bases[0])
        parts = [(None, objective, np.ones(len(pay), dtype=bool))]
        category = self.roll.names["category"]
        rest = objective.drop(columns=[c for c in objective if str(c) == category])
        for row in by_category:
            if row["component"] == "total" and (row["state"] == ABOVE or _is_gap(row)):
                inside = self.roll.category == row["group"]
                parts += [(row["group"], rest, inside)] * bool(inside.any())
        rows = (
            self._as_audited(group, columns, pay, inside)
            or self._decomposed(group, columns, pay, inside)
            for group, columns, inside in parts
        )
        return [row for row in rows if row is not None and row["remains"] <= 1]

    def _by_logib(self):
        """Return what remains of the gap of all people by Logib's model."""
        named, columns = self.roll.logib
        pay = self._pay("total", self.bases[0])
        used = usable(pay, self.people, columns)
        n_women, n_men, _ = self.people.only(used).sizes()
        names = {key: str(name) for key, name in named.items()}
        none = dict.fromkeys(("women", "men", "left_out", "gap", "ci_low", "ci_high", "ci_level"))
        if min(n_women, n_men) < self.least:
            return {"columns": names} | none | {"reason": self._few_people()}
        result = logib_gap(pay[used], self.people.is_woman[used], columns[used], self.significance)
        left_out = sum(self.people.sizes()[:2]) - n_women - n_men
        row = {"columns": names} | none | {"women": n_women, "men": n_men, "left_out": left_out}
        if result.reason:
            return row | {"reason": result.reason}
        ends = {"gap": result.gap, "ci_low": result.low, "ci_high": result.high}
        return row | ends | {"ci_level": 1 - self.significance, "reason": ""}

    def _as_audited(self, group, columns, pay, inside):
        """Return what remains of a gap by the audit, or None."""
        women = f"{self.roll.names['sex']} = '{self.roll.names['women']}'"
        conditions = [women] + [f"{self.roll.names['category']} = '{group}'"] * (group is not None)
        names = (" and ".join(order) for order in (conditions, conditions[::-1]))
        row = next((self.remaining[name] for name in names if name in self.remaining), None)
        if row is None or None in (row["effect"], row["ci_low"], row["ci_high"]):
            return None
        women, men = self.people.only(inside).means(pay[inside]).mean[:, 0]
        gap, remains = float(1 - women / men), float(-row["effect"] / men)
        low, high = float(-row["ci_high"] / men), float(-row["ci_low"] / men)
        ends = {"ci_low": low, "ci_high": min(high, 1.0)}  # women's pay is 0 or more
        about = {"group": group, "columns": [str(c) for c in columns], "gap": gap}
        parts = {"accounted": gap - remains, "remains": remains}
        return about | parts | ends | {"ci_level": row["ci_level"]}

    def _decomposed(self, group, columns, pay, inside):
        """Return how much of a gap goes with columns, in shares of men's mean; None without any."""
        is_compared = inside & (self.people.is_woman | self.people.is_man)
        columns = columns[is_compared]
        columns = columns[[c for c in columns if columns[c].nunique() > 1]]
        if columns.empty:
            return None
        is_woman = self.people.is_woman[is_compared]
        frame = columns.assign(**{_SEX: np.where(is_woman, "woman", "man")})
        detector = OaxacaBlinder(protected=_SEX, output="value", rule=None)
        weight = self.people.weight[is_compared]
        extra = {} if (weight == 1).all() else {"sample_weight": weight}
        try:
            table = detector.fit(frame, pay[is_compared], **extra).result_.to_frame()
        except (ValueError, TypeError, np.linalg.LinAlgError):
            return None
        if not len(table):
            return None
        first = table.iloc[0]
        men = np.average(pay[is_compared][~is_woman], weights=weight[~is_woman])
        if (
            not men > 0
            or not np.isfinite(first[["gap", "effect", "ci_low", "ci_high"]].astype(float)).all()
        ):
            return None
        side = -1.0 if "woman" in str(first["subject"]) else 1.0
        ends = sorted(min(float(side * first[end] / men), 1.0) for end in ("ci_low", "ci_high"))
        level = 1 - self.significance
        if self.people.cluster is not None:
            ends, level = (None, None), None
        return {
            "group": group,
            "columns": [str(c) for c in columns],
            "gap": float(side * first["gap"] / men),
            "accounted": float(side * first["explained"] / men),
            "remains": float(side * first["effect"] / men),
            "ci_low": ends[0],
            "ci_high": ends[1],
            "ci_level": level,
        }


_ENDS = ("share", "ci_low", "ci_high")
_SEX = "__sex__"


def joined_categories(category, people, least):
    """Return names of categories, the number of each row's, and which were joined.

    Categories with fewer than `least` women or men are joined, with the next smallest ones too if
    that is needed, until together they have `least` of both. Figures of few people would reveal
    what they earn, and so would those of all others, subtracted from those of everybody.

    Parameters
    ----------
    category : ndarray of object, shape (n,)
    people : PaidPeople
    least : int

    Returns
    -------
    names : list of str
    code : ndarray of int, shape (n,)
    joined : list of str
    """
    names, code = np.unique(category.astype(str), return_inverse=True)
    smaller = people.counts(code, len(names))[:2].min(axis=0)
    order, joined = np.argsort(smaller, kind="stable"), []
    for k in order:
        together = np.isin(code, joined)
        if smaller[k] >= least and (not joined or min(people.only(together).sizes()[:2]) >= least):
            break
        joined.append(int(k))
    if len(joined) < 2:
        return names.tolist(), code, []
    label = JOINED if JOINED not in names else f"all {JOINED}"
    values = np.where(np.isin(code, joined), label, names[code])
    final_names, code = np.unique(values, return_inverse=True)
    final_names = final_names.tolist()
    if label in final_names:  # the last one
        k = final_names.index(label)
        order = [*(i for i in range(len(final_names)) if i != k), k]
        place = np.argsort(order)
        final_names, code = [final_names[i] for i in order], place[code]
    return final_names, code, sorted(names[joined].tolist())


def _without_figures(row, reason):
    """Return a row that says only why its figures are left out."""
    return row | dict.fromkeys(_FIGURES) | {"reason": reason}


def _interval(gaps: Gaps, stratum, significance):
    """Return gap and interval of one stratum as JSON numbers."""
    gap = finite_or_none(gaps.gap[stratum])
    ends = [finite_or_none(end[stratum]) for end in (gaps.low, gaps.high)]
    reason = str(gaps.reason[stratum]) if gap is None or None in ends else ""
    if gap is None:
        ends = [None, None]
        reason = reason or "men's average is 0"
    level = None if None in ends else 1 - significance
    return {"gap": gap, "ci_low": ends[0], "ci_high": ends[1], "ci_level": level, "reason": reason}


def _of_sides(averages):
    """Return the averages of women and of men as JSON numbers."""
    women, men = map(finite_or_none, averages)
    return {"women_value": women, "men_value": men}


def _is_gap(row):
    """Return whether a row has an interval without 0."""
    low, high = row["ci_low"], row["ci_high"]
    return None not in (low, high) and not low <= 0 <= high
