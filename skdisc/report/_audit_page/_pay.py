"""The figures of pay that a law asks for, in sentences and tables of the page."""

import math
import re
from itertools import groupby

from skdisc._verdicts._answer import rounded_up
from skdisc.report._audit_page._pictures import axis
from skdisc.report._first_page import texts_of
from skdisc.report._first_page._units import confidence, in_a_row, number, percent
from skdisc.report._first_page.languages import en

_QUARTERS = ("quarter 1", "quarter 2", "quarter 3", "quarter 4")
_MOST_NAMED = 4
_MOST_TIMES = 100  # times the people there are; a larger number needed is only said in words
_EQUAL = 5e-4  # shares that differ by less have the same digits
_ROUNDING = 1e-9  # of shares
_NONE = "–"
_KINDS = {"gap": "gap", "accounted": "column", "remains": "equal"}  # the classes of bars


def pay_page(document, language="en"):
    """Return the part of the page about pay: title, sentences, tables and notes; None without any.

    Parameters
    ----------
    document : dict
        The document of an audit, cleaned.
    language : str, default="en"

    Returns
    -------
    dict or None
        ``tables`` are dicts of ``title``, ``columns`` and ``rows`` of texts; ``pictures`` too,
        with an ``axis``, and for each row its ``bars``: kind, ends and interval in percent.
    """
    rows, about = document.get("pay") or [], document.get("about_pay") or {}
    if not about:
        return None
    writer = _PayWriter(rows, about, texts_of(document, language))
    return {
        "title": writer.texts.PAY_TITLES[about["template"]],
        "sentences": [text for text in writer.sentences() if text],
        "tables": [writer.whole(), writer.quarters(), *writer.categories(), *writer.quantiles()],
        "pictures": [*writer.consists(), *writer.shaded()],
        "relevant": 100 * about["relevant"],
        "notes": writer.notes(),
    }


def _picture(title, columns, rows, bars):
    """Return a table with a bar, or a point, and an interval in each row, in percent."""
    bars = [
        (kind, [100 * v for v in ends], [100 * v for v in interval])
        for kind, ends, interval in bars
    ]
    across = axis([v for _, *several in bars for part in several for v in part])
    return {"title": title, "columns": columns, "rows": rows, "axis": across, "bars": bars}


class _PayWriter:
    """Writes what the page says about a record of pay, in one language."""

    def __init__(self, rows, about, texts):
        self.rows, self.about, self.texts = rows, about, texts
        self.basis = next((r["basis"] for r in rows if r["figure"] == "mean"), "as recorded")
        self.relevant = self._percent(about["relevant"])

    def _of(self, **fields):
        """Return the rows whose fields have these values."""
        return [r for r in self.rows if all(r[name] == v for name, v in fields.items())]

    def _one(self, **fields):
        return next(iter(self._of(**fields)), None)

    # The sentences.

    def sentences(self):
        """Yield the sentences in their order, '' where there is nothing to say."""
        yield self._whole()
        yield self._hours()
        for part in ("total", "base"):
            yield self._worst(part)
        yield self._variable()
        yield from self._equal()
        yield from self._logib()
        yield self._turned()

    def _whole(self):
        """Return the gap of all people by mean and by median."""
        mean, median = (
            self._one(figure=figure, component="total", basis=self.basis)
            for figure in ("mean", "median")
        )
        compared = {"mean": self._compared(mean), "median": self._compared(median)}
        text = self.texts.PAY_WHOLE.format(basis=self._per_hour(self.basis), **compared)
        recorded = self._one(figure="mean", component="total", basis="as recorded")
        if recorded is None or self.basis == "as recorded":
            return text
        return f"{text} {self.texts.PAY_WHOLE_RECORDED.format(mean=self._compared(recorded))}"

    def _hours(self):
        share = self.about["hours_share"]
        if not share:
            return ""
        low, high = share["ci_low"], share["ci_high"]
        if low >= 0 and high <= 1:
            shares = {"share": share["share"], "low": low, "high": high}
            shares = {name: self._percent(value) for name, value in shares.items()}
            return self.texts.PAY_HOURS.format(**shares)
        hourly, recorded = (
            self._one(figure="mean", component="total", basis=basis)
            for basis in ("per hour", "as recorded")
        )
        if hourly is None or recorded is None or None in (hourly["gap"], recorded["gap"]):
            return ""
        text = self.texts.PAY_HOURS_OPEN
        if low > 1:
            text = self.texts.PAY_HOURS_TURNED
        elif high < 0:
            text = self.texts.PAY_HOURS_LARGER
        return text.format(
            hourly=self._points(hourly["gap"]), recorded=self._points(recorded["gap"])
        )

    def _worst(self, part):
        """Return in which categories the gap of a part of pay is 5 % or more, below, or open."""
        rows, texts = self._of(figure="category", component=part), self.texts
        rows_with_gap = [r for r in rows if r["gap"] is not None]
        if not rows_with_gap:
            return ""
        above, below = ([r for r in rows_with_gap if r["state"] == s] for s in ("above", "below"))
        above.sort(key=lambda r: -abs(r["gap"]))
        n_open = len(rows) - len(above) - len(below)
        largest, sentence = max(rows_with_gap, key=lambda r: abs(r["gap"])), ""
        if largest["state"] != "above":
            needed = self._needed(largest, where="_THERE")
            sentence = texts.PAY_LARGEST.format(
                group=self._group(largest),
                part=texts.PAY_PARTS_WITHIN[part],
                compared=self._compared(largest),
                needed=texts.PAY_WOULD_TELL.format(needed=needed) if needed else "",
            )
        return texts.PAY_BY_CATEGORY.format(
            part=texts.PAY_PARTS[part],
            relevant=self.relevant,
            above=self._count_of(above, len(rows)),
            named=texts.PAY_ABOVE_NAMED.format(groups=self._named(above)) if above else "",
            below=self._count_of(below, len(rows)),
            open=texts.PAY_OPEN.format(n=n_open) if n_open else "",
            largest=sentence,
        )

    def _variable(self):
        """Return who receives variable pay, and its gap among them."""
        row, texts = self._one(figure="receive"), self.texts
        if row is None:
            return ""
        if row["gap"] is None:
            return texts.PAY_RECEIVE_HIDDEN
        if row["women_value"] == row["men_value"] == 0:
            return texts.PAY_RECEIVE_NOBODY
        women, men = (self._percent(row[name], 1) for name in ("women_value", "men_value"))
        if None in (row["ci_low"], row["ci_high"]):
            return texts.PAY_RECEIVE.format(women=women, men=men, often="", among="")
        ends = sorted([100 * row["ci_low"], 100 * row["ci_high"]])
        if row["gap"] <= 0:
            ends = sorted(-end for end in ends)
        direction = "less" if row["gap"] > 0 else "more"
        direction = direction if abs(row["gap"]) >= _EQUAL else "equal"
        numbers = {"n": abs(100 * row["gap"]), "low": ends[0], "high": ends[1]}
        numbers = {name: number(texts, value, 1) for name, value in numbers.items()}
        often_text, recipients_text = texts.PAY_RECEIVE_OFTEN[direction].format(**numbers), ""
        recipients = self._one(
            figure="mean", component="variable", among="recipients", basis="per hour"
        )
        recipients = recipients or self._one(
            figure="mean", component="variable", among="recipients"
        )
        if recipients is not None and recipients["gap"] is not None:
            recipients_text = texts.PAY_RECEIVE_AMONG.format(
                basis=self._per_hour(recipients["basis"]), compared=self._compared(recipients)
            )
        return texts.PAY_RECEIVE.format(
            women=women, men=men, often=often_text, among=recipients_text
        )

    def _equal(self):
        """Yield what objective columns account for."""
        texts = self.texts
        for row in self._at_equal_columns():
            ends = {name: row[name] for name in ("ci_low", "ci_high", "ci_level")}
            several = en.PAY_REASONS["several rows"] * self.about["clustered"]
            remains = {"gap": row["remains"], **ends, "reason": several}
            text = texts.PAY_EQUAL if row["group"] is None else texts.PAY_EQUAL_IN
            yield text.format(
                group=self._group(row),
                columns=in_a_row(row["columns"], texts.AND),
                basis=self._per_hour(self.basis),
                compared=self._compared(remains),
                gap=self._points(row["gap"]),
            )

    def _at_equal_columns(self):
        """Return the figures at equal columns; within a category there may be no other column."""
        return [row for row in self.about["equal"] if row["columns"]]

    def _logib(self):
        """Yield what remains by Logib's model, and how this differs from the figure before it."""
        texts, logib = self.texts, self.about.get("logib")
        if logib is None:
            return
        yield texts.PAY_LOGIB.format(
            columns=in_a_row(list(dict.fromkeys(logib["columns"].values())), texts.AND),
            basis=self._per_hour(self.basis),
            compared=self._compared(logib),
        )
        row_of_all = next((row for row in self._at_equal_columns() if row["group"] is None), None)
        if row_of_all is not None and logib["gap"] is not None:
            yield texts.PAY_LOGIB_DIFFERS.format(columns=in_a_row(row_of_all["columns"], texts.AND))

    def _turned(self):
        """Return which states one person turns."""
        rows, texts = [r for r in self.rows if r["turned_by_one"]], self.texts
        if not rows:
            is_examined = any(r["turned_by_one"] is not None for r in self.rows)
            return texts.PAY_NOT_TURNED if is_examined else ""
        names = [self._turned_group(r) for r in rows]
        groups = in_a_row(names, texts.AND)
        return texts.PAY_TURNED.format(relevant=self.relevant, groups=groups)

    def _turned_group(self, row):
        """Return whose state one person turns, with its basis if the page leads with another."""
        texts, part = self.texts, self.texts.PAY_PARTS_WITHIN[row["component"]]
        text = texts.PAY_TURNED_GROUP.format(part=part, group=self._group(row))
        return text if row["basis"] == self.basis else f"{text} ({texts.PAY_BASES[row['basis']]})"

    # The tables.

    def whole(self):
        """Return the table of all people."""
        bases = list(dict.fromkeys(r["basis"] for r in self.rows if r["figure"] == "mean"))
        rows, texts = [], self.texts
        for figure in ("mean", "median", "receive"):
            rows_of_figure = [r for r in self.rows if r["figure"] == figure]
            rows_of_figure.sort(key=lambda r: (r["row"], r["among"]))
            for (row, part, among), same in groupby(
                rows_of_figure, key=lambda r: (r["row"], r["component"], r["among"])
            ):
                rows.append(self._line(row, figure, part, among, list(same), bases))
        rows.sort(key=lambda line: line[0])
        heads = [texts.PAY_HEADS["gap"]]
        if len(bases) > 1:
            heads = [texts.PAY_HEAD_OF_BASIS.format(basis=texts.PAY_BASES[b]) for b in bases]
        columns = (*(texts.PAY_HEADS[name] for name in ("figure", "women", "men")), *heads)
        return {"title": texts.PAY_ALL_PEOPLE, "columns": columns, "rows": rows}

    def quarters(self):
        """Return the table of quarters of pay."""
        rows, texts = self._of(figure="quarter"), self.texts
        rows = [self._quarter(r, name) for r, name in zip(rows, _QUARTERS, strict=False)]
        what = "rows" if self.about["clustered"] else "people"
        title = texts.PAY_QUARTERS_TITLE[what].format(basis=self._per_hour(self.basis))
        prefix = "weights of " * self.about["weighted"] + "rows of " * self.about["clustered"]
        names = ("quarter", f"{prefix}women", f"{prefix}men", "range")
        columns = tuple(texts.PAY_HEADS[name] for name in names)
        return {"title": title, "columns": columns, "rows": rows}

    def _line(self, row, figure, part, among, same, bases):
        """Return one line of the table of all people."""
        first, texts = same[0], self.texts
        counts = [self._count(first[side]) for side in ("women", "men")]
        if figure == "receive":
            shares = [first["women_value"], first["men_value"]]
            if None not in shares:
                counts = [
                    texts.PAY_SHARE_OF.format(share=self._percent(s, 1), n=n)
                    for s, n in zip(shares, counts, strict=True)
                ]
        of_basis = {r["basis"]: r for r in same}
        gaps = [self._cell(of_basis.get(basis), figure == "receive") for basis in bases]
        name = f"({row}) {texts.PAY_FIGURES[f'{figure} {part}']}{texts.PAY_AMONG[among]}"
        return (name, *counts, *gaps)

    def _quarter(self, row, name):
        """Return the line of one quarter."""
        counts = [self._people(row, side) for side in ("women", "men")]
        name, n_others = self.texts.PAY_QUARTERS[name], row["others"]
        if n_others:
            text = self.texts.PAY_OTHERS["one" if n_others == 1 else "several"]
            digits = 0 if float(n_others).is_integer() else 1
            name = text.format(quarter=name, n=number(self.texts, n_others, digits))
        low, high = self._number(row["ci_low"]), self._percent(row["ci_high"], 1)
        return (f"({row['row']}) {name}", *counts, self.texts.RANGE.format(low=low, high=high))

    def _people(self, row, side):
        """Return the number of women or men of a quarter, and their share."""
        digits = 0 if float(row[side]).is_integer() else 1
        share = self._percent(row[f"{side}_value"], 1)
        return f"{number(self.texts, row[side], digits)} ({share})"

    def categories(self):
        """Return the table of categories, a list of one or none."""
        rows, texts = self._of(figure="category"), self.texts
        if not rows:
            return []
        parts = list(dict.fromkeys(r["component"] for r in rows))
        lines = []
        for name in dict.fromkeys(r["group"] for r in rows):
            row_of_part = {r["component"]: r for r in rows if r["group"] == name}
            first = row_of_part[parts[0]]
            counts = [self._count(first[side]) for side in ("women", "men")]
            states = (self._with_state(row_of_part[part]) for part in parts)
            lines.append((self._group(first), *counts, *states))
        names = (texts.PAY_HEADS[name] for name in ("category", "women", "men"))
        heads = (texts.PAY_HEAD_OF_PART.format(part=texts.PAY_PARTS[part]) for part in parts)
        level = next((r["ci_level"] for r in rows if r["ci_level"]), 0.95)
        title = texts.PAY_CATEGORIES_TITLE.format(
            column=self.about["columns"].get("category") or texts.PAY_CATEGORY_COLUMN,
            basis=texts.PAY_BASES[self.basis],
            level=confidence(texts, level),
        )
        return [{"title": title, "columns": (*names, *heads), "rows": lines}]

    def _with_state(self, row):
        """Return a gap with its state around 5 %."""
        text, state = self._cell(row), row["state"]
        if state is None:
            return text
        needed = self._needed(row)
        state = "needed" if needed and state == "cannot tell" else state
        label = self.texts.PAY_STATES[state].format(relevant=self.relevant, needed=needed)
        return f"{text}: {label}"

    # The pictures.

    def quantiles(self):
        """Return the picture of gaps by quantile of pay, a list of one or none."""
        rows, texts = self.about.get("quantiles") or [], self.texts
        if not rows:
            return []
        lines = [(texts.PAY_QUANTILES[f"{row['quantile']:g}"], self._cell(row)) for row in rows]
        bars = [("point", (row["gap"],), (row["ci_low"], row["ci_high"])) for row in rows]
        title = texts.PAY_QUANTILES_TITLE.format(
            basis=self._per_hour(self.basis), level=confidence(texts, rows[0]["ci_level"])
        )
        names = (texts.PAY_HEADS[name] for name in ("quantile", "gap"))
        return [_picture(title, tuple(names), lines, bars)]

    def shaded(self):
        """Return the picture of gaps by quantile, and below its title what is shaded."""
        return [
            picture
            | {
                "title": self.texts.PAY_SHADED.format(
                    title=picture["title"], relevant=self.relevant
                )
            }
            for picture in self.quantiles()
        ]

    def consists(self):
        """Return the picture of what goes with columns and what remains, a list of one or none."""
        rows, texts, lines, bars = self._at_equal_columns(), self.texts, [], []
        for row in rows:
            group = texts.PAY_ALL_PEOPLE if row["group"] is None else self._group(row)
            whole, columns = self._whole_gap(row), in_a_row(row["columns"], texts.AND)
            accounted = {"gap": row["accounted"], "ci_low": None, "ci_high": None}
            ends = {name: row[name] for name in ("ci_low", "ci_high", "ci_level")}
            remains = {"gap": row["remains"], **ends}
            starts = {"gap": 0.0, "accounted": 0.0, "remains": row["accounted"]}
            for name, part in (("gap", whole), ("accounted", accounted), ("remains", remains)):
                text, start = texts.PAY_CONSISTS[name].format(columns=columns), starts[name]
                amount, interval = self._percent(part["gap"], 1), ()
                if None not in (part["ci_low"], part["ci_high"]):
                    amount = self._cell(part) + self._level(part, " ({})")
                    interval = (start + part["ci_low"], start + part["ci_high"])
                lines.append((f"{group}: {text}" if name == "gap" else text, amount))
                bars.append((_KINDS[name], (start, start + part["gap"]), interval))
        title = texts.PAY_CONSISTS_TITLE.format(basis=self._per_hour(self.basis))
        names = (texts.PAY_HEADS[name] for name in ("part", "amount"))
        return [_picture(title, tuple(names), lines, bars)] if rows else []

    def _whole_gap(self, row):
        """Return the gap of mean total pay of a category, or of everybody, with its interval."""
        figure = "mean" if row["group"] is None else "category"
        about = {"figure": figure, "component": "total", "basis": self.basis}
        whole = self._one(**about, group=row["group"])
        is_known = whole is not None and whole["gap"] is not None
        return whole if is_known else {"gap": row["gap"], "ci_low": None, "ci_high": None}

    # The notes.

    def notes(self):
        """Return what was joined, left out, and may be wrong, and the source."""
        about, texts = self.about, self.texts
        several = texts.PAY_NOTES
        notes = [several["clustered"]] * bool(about["clustered"])
        if about["joined"]:
            groups = in_a_row(about["joined"], texts.AND)
            notes.append(several["joined"].format(groups=groups))
        if about.get("few_others"):
            few = [several["few others"].format(n=about["few_others"])]
        else:
            few = self._noted(about["others"], "one other", "others")
        notes += self._noted(about["n_left_out"], "one left out", "left out") + few
        for name in ("wrong", "to check"):
            notes += self._noted(about["implausible"].get(name) or 0, f"one {name}", name)
        n_without_logib = (about.get("logib") or {}).get("left_out")
        notes += self._noted(n_without_logib, "one not in Logib", "not in Logib")
        source = texts.PAY_SOURCES[about["template"]]
        return [*notes, source.format(relevant=self.relevant)]

    def _noted(self, n, one, several):
        """Return the note on n rows or people, in a list; an empty list if n is 0."""
        text = self.texts.PAY_NOTES[one if n == 1 else several]
        return [text.format(n=self._count(n))] * bool(n)

    # The words.

    def _compared(self, row):
        """Return how women's average compares with men's, its range, and its level but 95 %."""
        texts, reason = self.texts, row.get("reason")
        if row["gap"] is None:
            because = texts.PAY_NOT_COMPARED_BECAUSE.format(reason=self._reason(reason))
            return because if reason else texts.PAY_NOT_COMPARED
        level = self._level(row, ", {}")
        side = "lower" if row["gap"] > 0 else "higher"
        side = "equal" if abs(row["gap"]) < _ROUNDING else side
        text = texts.PAY_COMPARED[side].format(gap=self._percent(abs(row["gap"]), 1))
        low, high = row["ci_low"], row["ci_high"]
        if None in (low, high):
            reason = self._reason(reason or en.PAY_REASONS["few"])
            return texts.PAY_RANGE_UNKNOWN.format(text=text, reason=reason)
        if low < 0 < high or (side == "equal" and low < high):
            low, high = self._percent(-low, 1), self._percent(high, 1)
            return texts.PAY_RANGE_AROUND_ZERO.format(text=text, low=low, high=high, level=level)
        low, high = map(self._number, sorted([abs(low), abs(high)]))
        return texts.PAY_RANGE.format(text=text, low=low, high=high, level=level)

    def _level(self, row, text):
        """Return the level of an interval in a text, '' if it is 95 %."""
        level = row.get("ci_level")
        is_other = level and abs(level - 0.95) > _EQUAL
        return text.format(confidence(self.texts, level)) if is_other else ""

    def _reason(self, reason):
        """Return why a figure is missing, which a document says in English."""
        for name, text in en.PAY_REASONS.items():
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[\\d.e+]+)", re.escape(text))
            match = re.fullmatch(pattern, reason)
            if match:
                return self.texts.PAY_REASONS[name].format(**match.groupdict())
        return reason

    def _named(self, rows):
        """Return categories with their gaps."""
        texts = self.texts
        named = [
            texts.PAY_NAMED.format(group=self._group(r), compared=self._compared(r))
            for r in rows[:_MOST_NAMED]
        ]
        n_left = len(rows) - len(named)
        more = [texts.PAY_MORE_NAMED.format(n=n_left)] if n_left else []
        return in_a_row([*named, *more], texts.AND)

    def _group(self, row):
        """Return the name of a category, or of everybody."""
        group = row["group"]
        return (
            self.texts.PAY_EVERYBODY if group is None else self.texts.PAY_GROUPS.get(group, group)
        )

    def _count_of(self, rows, n):
        """Return how many of n categories."""
        text = self.texts.PAY_COUNT if rows else self.texts.PAY_COUNT_NONE
        return text.format(n=len(rows), total=n)

    def _needed(self, row, where=""):
        """Return how many people it would take to tell, as text, or ''."""
        needed = row["needed"]
        if needed is None:
            return ""
        if needed > _MOST_TIMES * (row["women"] + row["men"]):
            return getattr(self.texts, f"PAY_NEEDED_TOO_MANY{where}")
        text = getattr(self.texts, f"PAY_NEEDED{where}")
        return text.format(n=self._count(rounded_up(math.ceil(needed))))

    def _per_hour(self, basis):
        """Return " per hour", if pay is divided by hours."""
        return self.texts.PAY_PER_HOUR * (basis == "per hour")

    def _cell(self, row, is_share=False):
        """Return a gap with its interval, or why there is none."""
        if row is None:
            return ""
        if row["gap"] is None:
            return f"{_NONE} ({self._reason(row['reason'])})" if row["reason"] else _NONE
        gap = self._number(row["gap"])
        text = self.texts.POINTS if is_share else self.texts.PERCENT.replace("{}", "{n}")
        gap = text.format(n=gap).replace(" ", "\u00a0")
        if None in (row["ci_low"], row["ci_high"]):
            return self.texts.PAY_CELL_UNKNOWN.format(gap=gap)
        low, high = map(self._number, (row["ci_low"], row["ci_high"]))
        return self.texts.PAY_CELL.format(gap=gap, low=low, high=high)

    def _points(self, share):
        """Return a gap in percent, in which direction it goes."""
        side = "lower" if share > 0 else "higher"
        return self.texts.PAY_SIDES[side].format(gap=self._percent(abs(share), 1))

    def _number(self, share):
        """Return a share as a number of percent with one decimal."""
        return _NONE if share is None else number(self.texts, 100 * share, 1)

    def _percent(self, share, digits=0):
        return percent(self.texts, share, digits)

    def _count(self, n):
        """Return a number of people."""
        return _NONE if n is None else number(self.texts, n, 0)
