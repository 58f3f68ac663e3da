"""The figures of pay that a law asks for, in sentences and tables of the page."""

import math
from itertools import groupby

from skdisc._verdicts._answer import rounded_up
from skdisc.report._audit_page import _words as words

EU, UK = "pay_transparency", "uk_gender_pay_gap"
_TITLES = {
    EU: "Gender pay gap: the figures of Article 9(1) of Directive (EU) 2023/970",
    UK: "Gender pay gap: the six figures of the United Kingdom's regulations of 2017",
}
_SOURCES = {
    EU: (
        "A gap is the difference of men's and women's average as a percentage of men's (Article 3 "
        "of the directive); 5 % is the size that Article 10(1) names. Quarters divide people of "
        "equal pay on a border alike. This page states figures and how sure they are; it does not "
        "report whether a duty is met or a difference is justified."
    ),
    UK: (
        "Figures of the Equality Act 2010 (Gender Pay Gap Information) Regulations 2017: a gap is "
        "the difference of men's and women's average as a percentage of men's; gaps of bonus pay "
        "are those among people who received some; people of equal pay on the border of a quarter "
        "are divided alike (regulation 13(2)). This page states figures and how sure they are; it "
        "does not report whether a duty is met."
    ),
}
_FIGURES = {
    ("mean", "total"): "Mean pay",
    ("median", "total"): "Median pay",
    ("mean", "variable"): "Mean variable pay",
    ("median", "variable"): "Median variable pay",
    ("receive", "variable"): "People who receive variable pay",
}
_AMONG = {"all": "", "recipients": ", among those who receive it"}
_QUARTERS = ("lowest", "lower middle", "upper middle", "highest")
_PARTS = {"base": "Base pay", "variable": "Variable pay", "total": "Total pay"}
_MOST_NAMED = 4
_MOST_TIMES = 100  # as many people as there are: what it takes beyond is told in words
_EQUAL = 5e-4  # shares that differ by less have the same digits


def pay_page(document):
    """Return the part of the page about pay: title, sentences, tables and notes; None without any.

    Parameters
    ----------
    document : dict
        The document of an audit, cleaned.

    Returns
    -------
    dict or None
        ``tables`` are dicts of ``title``, ``columns`` and ``rows`` of texts.
    """
    rows, about = document.get("pay") or [], document.get("about_pay") or {}
    if not about:
        return None
    said = _Said(rows, about)
    return {
        "title": _TITLES[about["template"]],
        "sentences": [text for text in said.sentences() if text],
        "tables": [said.whole(), said.quarters(), *said.categories()],
        "notes": [*said.notes(), _SOURCES[about["template"]]],
    }


class _Said:
    """What is said about the rows of a record of pay."""

    def __init__(self, rows, about):
        self.rows, self.about = rows, about
        self.basis = next((r["basis"] for r in rows if r["figure"] == "mean"), "as recorded")

    def _of(self, **asked):
        """Return the rows whose fields have these values."""
        return [r for r in self.rows if all(r[name] == v for name, v in asked.items())]

    def _one(self, **asked):
        return next(iter(self._of(**asked)), None)

    # The sentences.

    def sentences(self):
        """Yield the sentences in their order, '' where there is nothing to say."""
        yield self._whole()
        yield self._hours()
        for part in ("total", "base"):
            yield self._worst(part)
        yield self._variable()
        yield from self._equal()
        yield self._turned()

    def _whole(self):
        """Return the gap of all people by mean and by median."""
        mean, median = (
            self._one(figure=figure, component="total", basis=self.basis)
            for figure in ("mean", "median")
        )
        basis = _per_hour(self.basis)
        text = f"Women's mean pay{basis} is {_compared(mean)}; their median is {_compared(median)}."
        recorded = self._one(figure="mean", component="total", basis="as recorded")
        if recorded is None or self.basis == "as recorded":
            return text
        return f"{text} Not divided by hours, their mean pay is {_compared(recorded)}."

    def _hours(self):
        share = self.about["hours_share"]
        if not share:
            return ""
        low, high = share["ci_low"], share["ci_high"]
        if low >= 0 and high <= 1:
            return (
                f"Of the gap of pay that is not divided by hours, {_percent(share['share'])} goes "
                f"with hours ({_percent(low)} to {_percent(high)}): so much smaller is the gap per "
                "hour."
            )
        hourly, recorded = (
            self._one(figure="mean", component="total", basis=basis)
            for basis in ("per hour", "as recorded")
        )
        if hourly is None or recorded is None or None in (hourly["gap"], recorded["gap"]):
            return ""
        gaps = f"{_points(hourly['gap'])}, not divided by hours {_points(recorded['gap'])}"
        if low > 1:
            return f"Per hour the gap goes the other way: women's mean pay is {gaps}."
        if high < 0:
            return f"Per hour the gap is larger: women's mean pay is {gaps}."
        return (
            f"Per hour women's mean pay is {gaps}; which share of the gap goes with hours these "
            "people cannot tell."
        )

    def _worst(self, part):
        """Return in which categories the gap of a part of pay is 5 % or more, below, or open."""
        rows = self._of(figure="category", component=part)
        known = [r for r in rows if r["gap"] is not None]
        if not known:
            return ""
        states = {s: [r for r in known if r["state"] == s] for s in ("above", "below")}
        n, relevant = len(rows), _percent(self.about["relevant"])
        above = sorted(states["above"], key=lambda r: -abs(r["gap"]))
        text = f"{_PARTS[part]} by category: surely {relevant} or more in {_count_of(above, n)}"
        if above:
            text += f": {_named(above)}"
        text += f"; surely below in {_count_of(states['below'], n)}"
        open_ = n - len(above) - len(states["below"])
        text += f"; of {open_} these people cannot tell" if open_ else ""
        largest = max(known, key=lambda r: abs(r["gap"]))
        if largest["state"] != "above":
            needed = _needed(largest, "there ")
            text += (
                f". The largest is that of {largest['group']}: women's {_PARTS[part].lower()} is "
            )
            text += _compared(largest)
            text += f", and {needed} would tell" * bool(needed)
        return f"{text}."

    def _variable(self):
        """Return who receives variable pay, and its gap among them."""
        row = self._one(figure="receive")
        if row is None:
            return ""
        if row["gap"] is None:
            return "Who receives variable pay is not shown, to protect the few who do."
        if row["women_value"] == row["men_value"] == 0:
            return "Nobody receives variable pay."
        women, men = (_percent(row[name], 1) for name in ("women_value", "men_value"))
        points = f"{abs(100 * row['gap']):.1f} points {'less' if row['gap'] > 0 else 'more'} often"
        points = points if abs(row["gap"]) >= _EQUAL else "as often"
        if None in (row["ci_low"], row["ci_high"]):
            return f"Variable pay goes to {women} of women and {men} of men."
        ends = sorted([100 * row["ci_low"], 100 * row["ci_high"]])
        if row["gap"] <= 0:
            ends = sorted(-end for end in ends)
        text = f"Variable pay goes to {women} of women and {men} of men, {points} to women "
        text += f"({ends[0]:.1f} to {ends[1]:.1f})"
        among = self._one(figure="mean", component="variable", among="recipients", basis="per hour")
        among = among or self._one(figure="mean", component="variable", among="recipients")
        if among is None or among["gap"] is None:
            return f"{text}."
        basis = _per_hour(among["basis"])
        return f"{text}; among those who receive it, women's mean{basis} is {_compared(among)}."

    def _equal(self):
        """Yield what objective columns account for."""
        for row in self.about["equal"]:
            where = "" if row["group"] is None else f"In category {row['group']}, "
            columns = _and(row["columns"])
            ends = {name: row[name] for name in ("ci_low", "ci_high", "ci_level")}
            several = "several rows are one person" * self.about["clustered"]
            remains = {"gap": row["remains"], **ends, "reason": several}
            pay = f"women's total pay{_per_hour(self.basis)} is "
            at = f"{where}{'at' if where else 'At'} equal {columns} {pay}"
            yield f"{at}{_compared(remains)}, in place of {_points(row['gap'])}."

    def _turned(self):
        """Return which states one person turns."""
        rows = [r for r in self.rows if r["turned_by_one"]]
        if not rows:
            asked = any(r["turned_by_one"] is not None for r in self.rows)
            return "No state is another one if any single person is left out." if asked else ""
        names = [f"{_PARTS[r['component']].lower()} of {r['group'] or 'all'}" for r in rows]
        return (
            f"If some single person is left out, whether the gap is "
            f"{_percent(self.about['relevant'])} or more has another answer for: {_and(names)}."
        )

    # The tables.

    def whole(self):
        """Return the table of all people."""
        bases = list(dict.fromkeys(r["basis"] for r in self.rows if r["figure"] == "mean"))
        rows = []
        for figure in ("mean", "median", "receive"):
            of = [r for r in self.rows if r["figure"] == figure]
            of.sort(key=lambda r: (r["row"], r["among"]))
            for (row, part, among), same in groupby(
                of, key=lambda r: (r["row"], r["component"], r["among"])
            ):
                rows.append(self._line(row, figure, part, among, list(same), bases))
        rows.sort(key=lambda line: line[0])
        heads = [f"Women lower by, {b}" for b in bases] if len(bases) > 1 else ["Women lower by"]
        columns = ("Figure", "Women", "Men", *heads)
        return {"title": "All people", "columns": columns, "rows": rows}

    def quarters(self):
        """Return the table of quarters of pay."""
        rows = self._of(figure="quarter")
        rows = [self._quarter(r, name) for r, name in zip(rows, _QUARTERS, strict=False)]
        what = "rows" if self.about["clustered"] else "people"
        title = f"Quarters of all {what} by total pay{_per_hour(self.basis)}"
        of = "rows of {}" if self.about["clustered"] else "{}"
        of = f"sum of weights of {of}" if self.about["weighted"] else of
        heads = [of.format(side) for side in ("women", "men")]
        heads = [head[0].upper() + head[1:] for head in heads]
        columns = "Quarter", *heads, "Range of the share of women"
        return {"title": title, "columns": columns, "rows": rows}

    def _line(self, row, figure, part, among, same, bases):
        """Return one line of the table of all people."""
        first = same[0]
        counts = [words.count(first[side]) for side in ("women", "men")]
        if figure == "receive":
            shares = [first["women_value"], first["men_value"]]
            if None not in shares:
                counts = [f"{_percent(s, 1)} of {n}" for s, n in zip(shares, counts, strict=True)]
        of_basis = {r["basis"]: r for r in same}
        gaps = [_cell(of_basis.get(basis), figure == "receive") for basis in bases]
        return (f"({row}) {_FIGURES[figure, part]}{_AMONG[among]}", *counts, *gaps)

    def _quarter(self, row, name):
        """Return the line of one quarter."""
        counts = [self._people(row, side) for side in ("women", "men")]
        others = f" (and {row['others']:g} other{'s' * (row['others'] != 1)})"
        others = others if row["others"] else ""
        ends = f"{_number(row['ci_low'])} to {_percent(row['ci_high'], 1)}"
        return (f"({row['row']}) {name}{others}", *counts, ends)

    def _people(self, row, side):
        """Return the number of women or men of a quarter, and their share."""
        digits = 0 if float(row[side]).is_integer() else 1
        return f"{row[side]:,.{digits}f} ({_percent(row[f'{side}_value'], 1)})"

    def categories(self):
        """Return the table of categories, a list of one or none."""
        rows = self._of(figure="category")
        if not rows:
            return []
        parts = list(dict.fromkeys(r["component"] for r in rows))
        names = list(dict.fromkeys(r["group"] for r in rows))
        lines = []
        for name in names:
            of = {r["component"]: r for r in rows if r["group"] == name}
            counts = [words.count(of[parts[0]][side]) for side in ("women", "men")]
            lines.append((name, *counts, *(self._with_state(of[part]) for part in parts)))
        heads = [f"{_PARTS[part]}: women lower by" for part in parts]
        category = self.about["columns"].get("category") or "category"
        level = f"{100 * next((r['ci_level'] for r in rows if r['ci_level']), 0.95):.4g}\u00a0%"
        title = f"(g) By category of workers ({category}), {self.basis}; each range {level}"
        return [{"title": title, "columns": ("Category", "Women", "Men", *heads), "rows": lines}]

    def _with_state(self, row):
        """Return a gap with its state around 5 %."""
        text, relevant = _cell(row), _percent(self.about["relevant"])
        if row["state"] is None:
            return text
        needed = _needed(row)
        said = {
            "above": f"{relevant} or more",
            "below": f"below {relevant}",
            "cannot tell": "cannot tell" + f" ({needed} would)" * bool(needed),
        }
        return f"{text}: {said[row['state']]}"

    # The notes.

    def notes(self):
        """Return what was joined, left out, and may be wrong."""
        about, notes = self.about, []
        if about["clustered"]:
            notes.append(
                "Several rows are one person: women and men are counted once, in quarters and in "
                "the answers below their rows."
            )
        if about["joined"]:
            notes.append(
                f"Joined, because too few women or men work in them: {_and(about['joined'])}."
            )
        if about["n_left_out"]:
            n = about["n_left_out"]
            figures = "1 figure is" if n == 1 else f"{n} figures are"
            notes.append(f"{figures} left out, to protect the few who receive variable pay.")
        if about.get("few_others"):
            notes.append(
                f"Fewer than {about['few_others']} people are neither women nor men, or have no "
                "value of sex: they are left out of all figures here and below, to protect them."
            )
        if about["others"]:
            notes.append(
                f"{_people_are(about['others'])} neither women nor men here, or have no value of "
                "sex: they count in quarters of pay, and are not compared below."
            )
        wrong, check = (about["implausible"].get(name) or 0 for name in ("wrong", "to check"))
        if wrong:
            notes.append(
                f"{_rows_are(wrong)} over ten times, or under a tenth of, the median pay of the "
                "category: probably errors; they count as they are."
            )
        if check:
            notes.append(
                f"{_rows_are(check)} over four times or under a quarter of that median, more than "
                "80 hours, or parts that do not add up: to be checked; they count as they are."
            )
        return notes


def _and(names):
    """Return names in a row, the last after "and"."""
    *first, last = map(str, names)
    return " and ".join([", ".join(first)] * bool(first) + [last])


def _compared(row):
    """Return how women's average compares with men's, with its range, and its level but 95 %."""
    if row["gap"] is None:
        return (
            f"not compared ({row['reason'] or 'unknown'})" if row.get("reason") else "not compared"
        )
    level = row.get("ci_level")
    level = f", {words.percent(level)}" if level and abs(level - 0.95) > _EQUAL else ""
    side = "lower" if row["gap"] > 0 else "higher"
    text = f"{_percent(abs(row['gap']), 1)} {side} than men's"
    low, high = row["ci_low"], row["ci_high"]
    if None in (low, high):
        return f"{text} (range unknown: {row.get('reason') or 'too few people'})"
    if low < 0 < high:
        return f"{text} (between {_percent(-low, 1)} higher and {_percent(high, 1)} lower{level})"
    ends = sorted([abs(low), abs(high)])
    return f"{text} ({_number(ends[0])} to {_number(ends[1])}{level})"


def _named(rows):
    """Return categories with their gaps."""
    named = [f"{r['group']}, {_compared(r)}" for r in rows[:_MOST_NAMED]]
    left = len(rows) - len(named)
    return _and([*named, f"{left} more"] if left else named)


def _count_of(rows, n):
    """Return how many of n categories."""
    return f"{len(rows) or 'none'} of {n}"


def _needed(row, where=""):
    """Return how many people it would take to tell, as text, or ''."""
    needed = row["needed"]
    if needed is None:
        return ""
    if needed > _MOST_TIMES * (row["women"] + row["men"]):
        return f"only more people {where}than such a firm has"
    return f"about {rounded_up(math.ceil(needed)):,.0f} people {where}".rstrip()


def _per_hour(basis):
    """Return " per hour", if pay is divided by hours."""
    return " per hour" * (basis == "per hour")


def _cell(row, is_share=False):
    """Return a gap with its interval, or why there is none."""
    if row is None:
        return ""
    if row["gap"] is None:
        return f"– ({row['reason']})" if row["reason"] else "–"
    text = f"{_number(row['gap'])}\u00a0{'points' if is_share else '%'}"
    if None in (row["ci_low"], row["ci_high"]):
        return f"{text} (range unknown)"
    return f"{text} [{_number(row['ci_low'])}, {_number(row['ci_high'])}]"


def _points(share):
    """Return a gap in percent, in which direction it goes."""
    return f"{_percent(abs(share), 1)} {'lower' if share > 0 else 'higher'}"


def _number(share):
    """Return a share as a number of percent with one decimal, without a sign of zero."""
    if share is None:
        return "–"
    text = f"{100 * share:.1f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _percent(share, digits=0):
    """Return a share in percent."""
    return "–" if share is None else f"{100 * share:.{digits}f}\u00a0%"


def _people_are(n):
    """Return a number of people with its verb."""
    return "1 person is" if n == 1 else f"{n:,} people are"


def _rows_are(n):
    """Return a number of rows with its verb."""
    return "1 row is" if n == 1 else f"{n:,} rows are"
