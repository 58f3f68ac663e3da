"""Paragraphs: the answers of the first page in the sentences of a language."""

import math
import re
from importlib import import_module

from scipy import special

from skdisc._results._judgment import FOUND
from skdisc._stats import people_needed
from skdisc._stats._equivalence import power_quantile
from skdisc._verdicts._answer import rounded_up
from skdisc.report._first_page._answers import (
    ACCOUNTED,
    AT_EQUAL,
    EQUAL_OUTCOMES,
    LIMITED,
    NONE,
    OF_FEW,
    OPEN,
    SIDES,
    UNEQUAL,
    UNKNOWN,
    answers,
    in_all,
    is_of_smaller_group,
    nulls_found,
    seen_from,
)
from skdisc.report._first_page._told import in_language, is_sentence
from skdisc.report._first_page._units import (
    Points,
    Texts,
    confidence,
    favorable_named,
    group_name,
    in_a_row,
    is_of_outcomes,
    number,
    percent,
    units_of,
)

LANGUAGES = ("en", "de", "fr")
MOST_COLUMNS = 6  # of those held equal, that a sentence names
_OF_FAVORABLE = ("four_fifths", "ll144")  # templates whose ratios are of favorable outcomes
_OF_DESIGN = 1.25  # times the variance of independent people, which few people do not explain
MOST_TIMES = 10  # times the people there are; a larger number needed is only said in words


def first_page(document, language="en"):
    """Return the first page in words.

    Parameters
    ----------
    document : dict
        The document of an audit.
    language : str, default="en"
        One of `LANGUAGES`.

    Returns
    -------
    dict
        ``columns``: for each protected column a dict of ``attribute``, ``state``, ``word`` (the
        state in words), ``first`` (a sentence), ``more`` (sentences) and ``lines``, pairs of a name
        and what it says; ``lines``: those that are about the whole audit.

    Raises
    ------
    ValueError
        If the language is unknown.
    """
    texts = texts_of(document, language)
    columns = [_Paragraph(answer, document, texts).said() for answer in answers(document)]
    return {"columns": columns, "lines": _about_all(document, texts) if columns else []}


def texts_of(document, language):
    """Return the sentences of a language for a document; ValueError if it is unknown."""
    if language not in LANGUAGES:
        raise ValueError(f"language={language!r} is not one of {', '.join(LANGUAGES)}.")
    outcome = (document.get("about") or {}).get("outcome") or {}
    module = import_module(f"skdisc.report._first_page.languages.{language}")
    return Texts(module, outcome.get("better") == "low")


def _about_all(document, texts):
    """Return the lines about the whole audit: ranges, what it could not see, and the law."""
    sizes = [(row["answer"] or {}).get("relevant_size") for row in document["verdicts"]]
    size = next((size for size in sizes if size), 0.05)
    is_one_found = any(
        row.get("found") and row.get("judged") is False for row in document["evidence"]
    )
    other = texts.UNSEEN_OTHER * is_one_found
    unseen = texts.UNSEEN.format(other=other, size=percent(texts, size))
    outcome_kind = document["about"]["audited"]
    unseen += texts.UNSEEN_SINGLE * (outcome_kind in ("labels", "decisions", "counts"))
    level = 1 - document["about"]["significance"]
    sure = units_of(document, texts).sure()
    sentences = {"sure": sure.format(level=percent(texts, level)), "unseen": unseen}
    sentences["law"] = texts.LAW
    return [(texts.LINES[name], text) for name, text in sentences.items()]


def _is_below_zero(gap):
    """Return whether a gap and its range, if there is one, are below 0."""
    return gap["gap"] < 0 if gap["ci_high"] is None else gap["ci_high"] < 0


class _Paragraph:
    """What is said about one protected column."""

    def __init__(self, answer, document, texts):
        self.answer, self.document, self.texts = answer, document, texts
        self.raw, self.equal, self.worst = (answer[name] for name in ("raw", "equal", "worst"))
        ends = () if self.equal is None else (self.equal["ci_low"], self.equal["ci_high"])
        if None in ends and not self._is_found_at_equal_columns():
            # Without a range, as where numbers are too skewed, an estimate tells nothing, unless
            # nobody varies: then there is a test, and no interval.
            self.equal = self.equal | {"gap": None}
        self.units = units_of(document, texts)
        self.outcome = document["about"].get("outcome")
        self.is_of_smaller_group = is_of_smaller_group(answer, document)
        self.raw = self._with_reference(self.raw)
        if self.equal is not None and self.raw is not None:
            self.equal = self.equal | {"reference": self.raw["reference"]}
            if self.outcome is not None and self._excludes_nothing():
                self.equal = self.equal | {"gap": None}

    def _is_found_at_equal_columns(self):
        """Return whether the group that is worse off as a whole, or its other side, is a cause."""
        groups = self._whole_groups()
        return any(
            row["found"] and row["kind"] == "cause" and row["group"] in groups
            for row in self.document["evidence"]
        )

    def _whole_groups(self):
        """Return the names of the two sides of the raw gap; none if there is no such gap."""
        return [] if self.raw is None else [self.raw[side]["group"] for side in SIDES]

    def _with_reference(self, raw):
        """Return the raw gap with the mean that it is a share of: that of whom it is about."""
        if raw is None:
            return None
        is_rest = raw["worse_off"]["group"] is None
        return raw | {"reference": raw["worse_off" if is_rest else "better_off"]["rate"]}

    def said(self):
        state = self.answer["state"]
        # What comes first where there is nothing else is not said again in its place.
        sentences = list(dict.fromkeys(self._begun(text) for text in self._sentences() if text))
        return {
            "attribute": self.answer["attribute"],
            "state": state,
            "word": self._word(),
            "first": sentences[0],
            "more": sentences[1:],
            "lines": self._lines(),
        }

    def _excludes_nothing(self):
        """Return whether what remains of a gap of means may be 100 % less, and more as well.

        Numbers that are 0 or more cannot be as much less, so that such a range tells nothing.
        """
        low, high, reference = (self.equal[n] for n in ("ci_low", "ci_high", "reference"))
        if None in (low, high, reference) or not low < 0 < high or reference <= 0:
            return False
        less = -low if self._is_less() else high
        return self.outcome.get("scale") != "log" and less >= reference

    def _word(self):
        """Return the state in words, which say if only a smaller group, or errors, are found."""
        texts, state = self.texts, self.answer["state"]
        if state == UNEQUAL:
            found = nulls_found(self.answer["attribute"], self.document)
            if found.isdisjoint(AT_EQUAL - {"calibration"}):
                has_gap = self.raw is not None and self.raw["found"]
                is_of_rates = has_gap and is_of_outcomes(self.raw["measure"])
                return texts.STATE_ALSO_OF_ERRORS if is_of_rates else texts.STATE_OF_ERRORS
            has_columns = self.equal is None or self.equal["columns"] or self.is_of_smaller_group
            if not has_columns and found.isdisjoint(AT_EQUAL - {"calibration", "conditional"}):
                return texts.STATE_ALONE
        words = texts.STATES_OF_SMALLER if self.is_of_smaller_group else texts.STATES
        return words[state]

    def _sentences(self):
        """Yield the sentences in their order, '' where there is nothing to say."""
        state = self.answer["state"]
        if state == NONE:
            yield self._nothing()
            yield self._rates()
        elif state == LIMITED:
            yield self._limited()
            yield self._whole()
            yield self._rates()
            yield self._bound_at_equal_columns() or self._true_reason()
        elif state == UNKNOWN:
            yield self._unknown()
            yield self._corrected()
            if not self.answer["reason"]:
                yield self._remains_open() or self._true_reason()
                yield self._needed()
        elif self.raw is not None and self.raw["found"]:
            leads = self._smaller_group_leads()
            if leads:
                yield self._smaller_group()
            yield self._unequal()
            yield self._medians()
            yield self._small()
            yield from self._at_equal_columns()
            yield self._against_everyone()
            if not leads:
                yield self._smaller_group() if self.is_of_smaller_group else self._elsewhere()
            yield self._also()
        else:
            # What is found may be hidden: then only its state is said.
            text = self._smaller_group() or self._single() or self._calibration()
            yield text or f"{self._word()}."
            yield self._nearly_equal()
        if self.answer["single"] is not None and self.answer["single"]["found"]:
            yield self._single()
        yield self._calibration()
        if state in (UNEQUAL, OPEN):
            yield self._found_several()
            yield self._others()
        for sample in self.answer["samples"]:
            yield self.texts.SAMPLED.format(**self._sampled(sample))

    def _begun(self, sentence):
        """Return a sentence with a capital, unless it begins with the name of a group."""
        else_ = self.texts.EVERYONE_ELSE
        return sentence[:1].upper() + sentence[1:] if sentence.startswith(else_) else sentence

    # The sentences.

    def _unequal(self):
        raw, texts = self.raw, self.texts
        less, more = texts.LESS_OFTEN, texts.MORE_OFTEN
        if self.outcome is not None:
            less, more = texts.LESS_OF_NUMBER, texts.MORE_OF_NUMBER
        text = less if is_of_outcomes(raw["measure"]) else texts.LOWER
        if self._tells_of_more():
            text = more
        measure = raw["measure"].replace("_", " ")
        gap = self._gap(raw, is_less=text is not more)
        return text.format(measure=measure, **self._sides(), **gap)

    def _tells_of_more(self):
        """Return whether the page says that one group has more, rather than everyone else less."""
        return is_of_outcomes(self.raw["measure"]) and self.raw["worse_off"]["group"] is None

    def _medians(self):
        """Return the medians beside the means, if the document has them."""
        medians = self.raw.get("medians")
        if medians is None:
            return ""
        return self.texts.MEDIANS.format(
            median=self.units.mean(medians["worse_off"]),
            other_median=self.units.mean(medians["better_off"]),
            range=self._range_alone(medians | {"reference": 1.0}),  # they are shares already
        )

    def _small(self):
        """Return that the gap is surely smaller than the one that matters, if it is."""
        raw, relevant = self.raw, self.answer["relevant_gap"]
        if (
            relevant is None
            or not is_of_outcomes(raw["measure"])
            or None in (raw["ci_low"], raw["ci_high"])
        ):
            return ""
        is_small = max(-raw["ci_low"], raw["ci_high"]) < relevant
        return self.texts.SMALL.format(relevant=self.units.bound(relevant)) if is_small else ""

    def _also(self):
        """Return the other groups that are found."""
        texts, also = self.texts, self.raw["also"]
        groups = [
            (texts.ALSO_LESS if one["gap"] < 0 else texts.ALSO_MORE).format(
                group=group_name(texts, one["group"]), points=self._size(one, one["gap"] < 0)
            )
            for one in also
        ]
        if not groups:
            return ""
        # A reference has a rate, and no gap from itself; gaps of all groups are to it.
        rows = self.document["groups"]
        compared = {row.get("group") for row in rows if row.get("gap") is not None}
        for side in (self.raw["worse_off"]["group"], self.raw["better_off"]["group"]):
            if side is not None and side not in compared:
                reference = group_name(texts, side)
                return texts.ALSO_FROM.format(reference=reference, groups=", ".join(groups))
        return texts.ALSO.format(groups=", ".join(groups))

    def _nearly_equal(self):
        """Return the rates of groups of which none is found, and that they show little."""
        rates = self._rates()
        if (self.document.get("settings") or {}).get("confirm") is not None:
            return rates  # those of all rows, of which the tests saw a part
        return f"{self.texts.NEARLY_EQUAL} {rates}" if rates else ""

    def _rates(self):
        """Return the rates, or the means, of the groups as a whole."""
        if self.raw is None or not is_of_outcomes(self.raw["measure"]) or not self._has_rates():
            return ""
        texts = self.texts
        text = texts.RATES if self.outcome is None else texts.MEANS
        return text.format(**self._sides())

    def _at_equal_columns(self):
        """Yield what remains of the gap at equal legitimate columns."""
        equal, texts, state = self.equal, self.texts, self.answer["state"]
        if equal is None or not equal["columns"]:
            yield self._reason() or (texts.NOT_ASKED if self._is_unasked() else texts.NO_COLUMNS)
        elif state == ACCOUNTED:
            yield self._remains_open()
            yield texts.ACCOUNTED.format(
                bound=self.units.bound(equal["bound"]),
                n=self._count(equal["n_groups"]),
                level=self._percent((self.answer["others"]["equal"] or {}).get("level", 0.95)),
            )
        elif equal["gap"] is None:
            if state == OPEN:
                yield texts.ACCOUNT_UNKNOWN.format(columns=self._columns())
                yield self._reason()
        elif state == OPEN and not self._is_turned():
            shown = self._range_alone(equal, is_less=self._is_less())
            yield texts.ACCOUNT_OPEN.format(columns=self._columns(), range=shown)
        elif _is_below_zero(equal):
            text = texts.REMAINS_MORE if self._tells_of_more() else texts.REMAINS
            gap = self._gap(equal, is_less=not self._tells_of_more())
            yield text.format(columns=self._columns(), **gap)
        else:
            yield self._remains_open()

    def _is_unasked(self):
        """Return whether there are other columns, and no question at equal values of them."""
        columns = (self.document.get("about") or {}).get("columns") or []
        return self.equal is None and any(c != self.answer["attribute"] for c in columns)

    def _against_everyone(self):
        """Return whom a group is compared with at equal columns, if the raw gap is to one group."""
        if not self._has_other_counterparts():
            return ""
        sides = self._sides()
        return self.texts.AGAINST_EVERYONE.format(group=sides["worse"], other_group=sides["better"])

    def _has_other_counterparts(self):
        """Return whether the gap at equal columns is one to more people than the raw gap.

        A raw gap may be to a reference, as in the four-fifths rule; at equal columns everyone else
        is the other side.
        """
        if self.raw is None or self.equal is None or self.equal["gap"] is None:
            return False
        sides = self.raw["worse_off"], self.raw["better_off"]
        if any(side["group"] is None or side["people"] is None for side in sides):
            return False
        return sum(side["people"] for side in sides) < self.answer["people"]

    def _reason(self):
        """Return why nobody is compared at equal columns, a sentence of the audit."""
        reason = self._told((self.equal or {}).get("reason"))
        return f"{reason[:1].upper()}{reason[1:].rstrip('.')}." if reason else ""

    def _is_only_reason(self, state):
        """Return whether nothing is found, and columns held equal are why no more is known."""
        return state in (LIMITED, UNKNOWN) and bool(self._true_reason())

    def _true_reason(self):
        """Return why nobody is compared at equal columns, unless people are too few for it."""
        is_of_few = is_sentence((self.equal or {}).get("reason"), *OF_FEW)
        return "" if is_of_few else self._reason()

    def _told(self, reason):
        """Return a reason in the language: a sentence, or what was noticed of a column."""
        parts = re.fullmatch(r"('.*?'): (.*); (.*) \((leave it out: .*)\)", str(reason or ""))
        if parts is None:
            return in_language(self.texts, reason)
        seen, done, option = (in_language(self.texts, text) for text in parts.groups()[1:])
        return f"{parts[1]}: {seen}; {done} ({option})"

    def _remains_open(self):
        """Return what may remain of the gap of the group as a whole."""
        equal = self.equal
        if equal is None or not equal["columns"] or equal["gap"] is None:
            return ""
        if self._is_turned():
            gap, is_less = self._seen_turned()
            text = self.texts.TURNED_LESS if is_less else self.texts.TURNED_MORE
            return text.format(columns=self._columns(), **self._gap(gap, is_less=is_less))
        shown = self._range_alone(equal, is_less=self._is_less())
        return self.texts.REMAINS_OPEN.format(columns=self._columns(), range=shown)

    def _is_turned(self):
        """Return whether the side that is worse off is better off at equal columns."""
        low = self.equal["ci_low"]
        return low is not None and low > 0

    def _seen_turned(self):
        """Return a gap that is turned at equal columns, and whether it is told as less."""
        turned = seen_from(self.equal, "gap", is_same=False)
        return turned | {"reference": self.equal.get("reference")}, not self._is_less()

    def _elsewhere(self):
        """Return where the gap is largest, after a sentence about all together."""
        if self.worst is None:
            return ""
        texts, at_equal = self.texts, self.worst["at_equal_columns"]
        text = {
            (True, False): texts.WORST,
            (True, True): texts.WORST_EQUAL,
            (False, False): texts.BEST,
            (False, True): texts.BEST_EQUAL,
        }[self.worst["effect"] < 0, at_equal]
        return self._of_smaller_group(text)

    def _smaller_group_leads(self):
        """Return whether a smaller group comes first, as the gap of all together hardly matters."""
        is_raw_found = self.raw is not None and self.raw["found"]
        return self.worst is not None and is_raw_found and bool(self._small())

    def _smaller_group(self):
        """Return the gap of the smaller group, as the first sentence; '' if none is found."""
        worst, texts = self.worst, self.texts
        if worst is None:
            return ""
        is_less, is_number = worst["effect"] < 0, self.outcome is not None
        if not is_of_outcomes(worst["measure"] or "selection_rate"):
            return self._elsewhere()
        text = {
            (True, False): texts.GROUP_LESS_OFTEN,
            (False, False): texts.GROUP_MORE_OFTEN,
            (True, True): texts.GROUP_LESS_OF_NUMBER,
            (False, True): texts.GROUP_MORE_OF_NUMBER,
        }[is_less, is_number]
        return self._of_smaller_group(text)

    def _of_smaller_group(self, text):
        """Return a sentence about the smaller group."""
        worst, texts = self.worst, self.texts
        is_less = worst["effect"] < 0
        context = group_name(texts, worst.get("context"))
        return text.format(
            where=texts.WHERE_GROUP * worst["at_equal_columns"],
            group=group_name(texts, worst["group"]),
            others=texts.OTHERS_THERE.format(context=context) if context else texts.ALL_OTHERS,
            people=self._count(worst["people"]),
            favorable=self._favorable(),
            target=self._target(),
            **self._gap(self._of_worst(worst, is_less), is_less=is_less),
        )

    def _of_worst(self, worst, is_less):
        gap = seen_from(worst, "effect", is_less)
        return gap | {"reference": worst.get("rate_others")}

    def _single(self):
        single = self.answer["single"]
        if single is None:
            return ""
        return self.texts.SINGLE.format(
            attribute=self.answer["attribute"],
            people=self._count(single["people"]),
            share=self._percent(single["share"]),
        )

    def _calibration(self):
        """Return that outcomes differ at equal scores, if they do."""
        side = self.answer.get("calibration")
        if side is None:
            return ""
        points = Points(self.texts, {})
        low, high = (points.end(-side[n], True, None) for n in ("ci_high", "ci_low"))
        return self.texts.CALIBRATION.format(
            group=group_name(self.texts, side["group"]),
            points=points.gap(-side["gap"], None),
            range=self.texts.RANGE.format(low=low, high=high),
        )

    def _nothing(self):
        """Return what no group has, raw and at equal columns."""
        raw, equal = (self.answer["others"][name] for name in ("raw", "equal"))
        first, texts = raw or equal, self.texts
        if first is None or first["bound"] is None:
            return f"{texts.STATES[NONE]}."
        template = texts.NONE_ABOVE if first["n"] > 1 else texts.NONE_ABOVE_ONE
        text = template.format(
            bound=self.units.bound(first["bound"]),
            n=self._count(first["n"]),
            attribute=self.answer["attribute"],
        )
        has_both = raw is not None and equal is not None and equal["bound"] is not None
        if has_both:
            text += texts.NONE_AT_EQUAL.format(
                columns=self._columns(), bound=self.units.bound(equal["bound"])
            )
        level = self._percent(first["level"])
        return text + (texts.HOLDS_EACH if has_both else texts.HOLDS).format(level=level)

    def _limited(self):
        """Return what is excluded of which groups, by the question that excludes least."""
        answers = [one for one in self.answer["others"].values() if one is not None]
        answers = [one for one in answers if one["verdict"] != "no disparity found"] or answers
        least = min(
            answers, key=lambda one: (one["resolution"] is not None, -(one["bound"] or 9.0))
        )
        values = {
            "attribute": self.answer["attribute"],
            "people": self._count(least["people"]),
            "relevant": self.units.bound(least["relevant_gap"]),
            "resolution": self._count(least["resolution"]),
            "bound": self.units.bound(least["bound"]),
            "level": self._percent(least["level"]),
        }
        if least.get("ratio") is not None:
            return self._open_by_ratio(self.texts.LIMITED_BY_RATIO, least)
        if least["resolution"] is None:  # then what is known of whole groups is said first
            return "" if self._whole() else self.texts.UNKNOWN_ALL.format(**values)
        unbound = least["bound"] is None or self.units.is_too_wide(least["bound"])
        return (self.texts.CLEARED_SOME_UNBOUND if unbound else self.texts.CLEARED_SOME).format(
            **values
        )

    def _open_by_ratio(self, text, exclusion):
        """Return that no gap matters in any group, and which ratio is not excluded."""
        return text.format(
            attribute=self.answer["attribute"],
            people=self._count(exclusion["people"]),
            n=self._count(exclusion["n"]),
            bound=self.units.bound(exclusion["bound"]),
            ratio=number(self.texts, exclusion["ratio"], 2),
            outcome=self.texts.OF_UNFAVORABLE * self._has_ratios_of_unfavorable(),
            level=self._percent(exclusion["level"]),
        )

    def _has_ratios_of_unfavorable(self):
        """Return whether ratios are of unfavorable outcomes, as these are the rarer ones."""
        template = (self.document.get("settings") or {}).get("template")
        if self.raw is None or template in _OF_FAVORABLE:
            return False
        sides = [self.raw[side] for side in SIDES]
        if any(None in (side["rate"], side["people"]) for side in sides):
            return False
        favorable = sum(side["rate"] * side["people"] for side in sides)
        return favorable > sum(side["people"] for side in sides) / 2

    def _whole(self):
        """Return the bound of the groups as a whole."""
        whole = self.answer["others"]["whole"]
        return self._bounded(whole, self.texts.WHOLE, self.texts.WHOLE_TOO_FEW)

    def _bound_at_equal_columns(self):
        """Return the bound at equal legitimate columns."""
        if not self.equal or not self.equal["columns"]:
            return ""
        equal = self.answer["others"]["equal"]
        return self._bounded(equal, self.texts.EQUAL_BOUND, self.texts.EQUAL_TOO_FEW)

    def _bounded(self, exclusion, text, too_few):
        """Return a text about a bound, or that the people are too few for one; '' without any."""
        if exclusion is None or exclusion["bound"] is None:
            return ""
        text = too_few if self.units.is_too_wide(exclusion["bound"]) else text
        return text.format(
            columns=self._columns(),
            bound=self.units.bound(exclusion["bound"]),
            level=self._percent(exclusion["level"]),
        )

    def _unknown(self):
        raw = self.raw
        values = {
            "attribute": self.answer["attribute"],
            "people": self._count(self.answer["people"]),
        }
        if self.answer["reason"]:
            return self.texts.UNKNOWN_BECAUSE.format(
                **values, reason=self._told(self.answer["reason"]).rstrip(".")
            )
        if raw is None or not self._has_rates() or raw["ci_low"] is None:
            return self.texts.UNKNOWN_ALL.format(**values)
        text = self.texts.UNKNOWN if self.outcome is None else self.texts.UNKNOWN_NUMBER
        sides, is_less = self._sides(), self._is_less()
        if not is_less:  # one group is told of, here and in the sentences that follow
            for worse, better in (
                ("worse", "better"),
                ("rate", "other_rate"),
                ("mean", "other_mean"),
            ):
                sides[worse], sides[better] = sides[better], sides[worse]
        return text.format(**values, **sides, range=self._range_alone(raw, is_less=is_less))

    def _corrected(self):
        """Return that a gap is significant by itself, and not among the questions of the audit."""
        attribute = self.answer["attribute"]
        for row in self.document["verdicts"]:
            is_whole = (row["attribute"], row["null"]) == (attribute, "marginal")
            if is_whole and is_sentence(row["reason"], "after correction"):
                return f"{in_language(self.texts, row['reason'])}."
        return ""

    def _needed(self):
        relevant, raw = self.answer["relevant_gap"], self.raw
        if relevant is None or raw is None or not self._has_rates():
            return ""
        whole = self.answer["others"]["whole"]
        if (whole or {}).get("ratio") is not None:  # these people show that no gap matters
            return self._open_by_ratio(self.texts.OPEN_BY_RATIO, whole)
        if self.outcome is not None:
            variances = [self.outcome["deviation"] ** 2] * 2
            needed = 2 * power_quantile(0.05) ** 2 * variances[0] / relevant**2
        else:
            rates = [raw[side]["rate"] for side in ("worse_off", "better_off")]
            variances = [p * (1 - p) for p in rates]
            needed = 2 * people_needed(min(max(rates[1], 0.05), 0.95), relevant, relevant_ratio=0)
        needed = float(needed) * self._design_effect(variances)
        sizes = [raw[side]["people"] for side in ("worse_off", "better_off")]
        if None not in sizes and needed <= min(sizes):
            return ""  # so many are there, and do not show it
        return self._told_needed(needed, relevant)

    def _design_effect(self, variances):
        """Return how many times as many people it takes as if people were independent and equal.

        Clusters, weights and rows held out make the interval of the raw gap wider. What less than
        a quarter of its square may be due to are few people.

        `variances`: of the outcomes of each side.
        """
        raw = self.raw
        sizes = [raw[side]["people"] for side in ("worse_off", "better_off")]
        if None in (raw["ci_low"], raw["ci_high"], raw["ci_level"], *sizes) or not min(sizes):
            return 1.0
        z = special.ndtri((1 + raw["ci_level"]) / 2)
        error = (raw["ci_high"] - raw["ci_low"]) / 2 / z
        of_independent = sum(v / n for v, n in zip(variances, sizes, strict=True))
        ratio = error**2 / of_independent if of_independent else 1.0
        return ratio if ratio > _OF_DESIGN else 1.0

    def _told_needed(self, needed, relevant):
        """Return how many people it would take, in words if they are far more than there are."""
        people, shown = self.answer["people"], self._count(rounded_up(math.ceil(needed)))
        is_far_more = people is not None and needed > MOST_TIMES * people
        text = self.texts.NEEDED_FAR_MORE if is_far_more else self.texts.NEEDED
        return text.format(needed=shown, relevant=self.units.bound(relevant))

    def _found_several(self):
        """Return how many groups are found, and one that no sentence before is about."""
        exclusion, is_equal, nulls = self._examined_groups()
        if exclusion is None or exclusion["n_found"] < 2:
            return ""
        already_told = {
            *self._whole_groups(),
            *(one["group"] for one in (self.raw or {}).get("also", ())),
        }
        already_told |= set() if self.worst is None else {self.worst["group"]}
        more = [
            row
            for row in self.document["evidence"]
            if row["found"]
            and row["null"] in nulls
            and self.answer["attribute"] in row["attributes"]
            and row["judged"] is not False
            and row["group"] not in already_told
        ]
        if not more:
            return ""
        largest = max(map(in_all, more), key=lambda row: abs(row["effect"]))
        is_less = largest["effect"] < 0
        text = self.texts.FOUND_SEVERAL if is_less else self.texts.FOUND_SEVERAL_MORE
        return text.format(
            where=self.texts.WHERE_EQUAL * is_equal,
            n=self._count(exclusion["n_found"]),
            group=group_name(self.texts, largest["group"]),
            **self._gap(self._of_worst(largest, is_less), is_less=is_less),
        )

    def _examined_groups(self):
        """Return what is excluded of groups, whether at equal columns, and the null hypotheses."""
        raw, equal = (self.answer["others"][n] for n in ("raw", "equal"))
        is_equal = equal is not None and (equal["bound"] is not None or equal["n_cleared"] > 0)
        # Without other columns, comparisons at equal columns are those of the raw question.
        is_equal &= bool(raw is None or (self.equal and self.equal["columns"]))
        nulls = ("conditional",) if is_equal or raw is None else ("contextual", "marginal")
        return equal if is_equal or raw is None else raw, is_equal, nulls

    def _others(self):
        texts, (exclusion, is_equal, nulls) = self.texts, self._examined_groups()
        if exclusion is None or exclusion["n"] < 1:
            return ""
        values = {
            "where": texts.WHERE_EQUAL * is_equal,
            "n": self._count(exclusion["n"]),
            "bound": self.units.bound(exclusion["bound"]),
            "relevant": self.units.bound(exclusion["relevant_gap"]),
            "resolution": self._count(exclusion["resolution"]),
            "level": self._percent(exclusion["level"]),
        }
        if exclusion["bound"] is None:
            text = texts.OTHERS_OPEN
            if exclusion["n_cleared"]:
                is_whole = exclusion["n_cleared"] >= exclusion["n"]
                text = texts.OTHERS_SHOWN if is_whole else texts.OTHERS_CLEARED
                values["cleared"] = self._count(exclusion["n_cleared"])
        elif exclusion["n_cleared"] >= exclusion["n"]:
            text = texts.OTHERS_ALL
        else:
            text = {
                (True, False): texts.OTHERS_SOME,
                (True, True): texts.OTHERS_SOME_TOO_FEW,
                (False, False): texts.OTHERS_BOUND,
                (False, True): texts.OTHERS_TOO_FEW,
            }[exclusion["resolution"] is not None, self._is_of_few(exclusion["bound"], nulls)]
        alone = exclusion["n_without_counterparts"]
        more = f" {texts.ALONE.format(n=self._count(alone))}" if alone else ""
        if exclusion.get("needed") and exclusion["n_cleared"] < exclusion["n"]:
            more = f" {self._told_needed(exclusion['needed'], exclusion['relevant_gap'])}{more}"
        return text.format(**values) + more

    def _is_of_few(self, bound, nulls):
        """Return whether a bound excludes next to nothing because the people are few.

        It does not where most of it is the gap that is estimated, however many people there are.
        """
        if not self.units.is_too_wide(bound):
            return False
        widest = [
            row
            for row in self.document["families"]
            if row["attribute"] == self.answer["attribute"] and row["null"] in nulls
            if not row["found"] and None not in (row["upper"], row["estimate"])
            if rounded_up(row["upper"]) == bound
        ]
        return all(abs(row["estimate"]) <= row["upper"] / 2 for row in widest)

    # The lines.

    def _lines(self):
        """Return the lines below: what to quote, what remains, of how many people, what to do."""
        leads, smaller = self._smaller_group_leads(), self._quoted_group()
        quote, remains = self._quote(), self._remains_quoted()
        kind = "smaller" if self.worst is None or self.worst["context"] else "another"
        if self.is_of_smaller_group or leads:
            remains = self._with_smaller(remains)
        lines = {
            "quote": quote,
            "whole": self._quoted_whole() if leads else None,
            "remains": remains,
            "equal": self._columns() if self.equal and self.equal["columns"] else None,
            kind: None if smaller == quote or self.is_of_smaller_group else smaller,
            "people": self._people(),
            "next": self._next(),
        }
        lines["equal"] = lines["equal"] or self.texts.HELD_NONE
        return [(self.texts.LINES[name], text) for name, text in lines.items() if text]

    def _with_smaller(self, remains):
        """Return the line at equal columns: the smaller group, and what is left of all together."""
        if not self.worst["at_equal_columns"]:
            return remains
        if not (self.equal and self.equal["columns"]):
            return self._quoted_group(where="")
        return self.texts.QUOTE_TOGETHER.format(
            smaller=self._quoted_group(where=""), whole=remains or self.texts.QUOTE_OPEN
        )

    def _next(self):
        """Return what to do next."""
        single, state = self.answer["single"], self.answer["state"]
        if state == UNEQUAL and single is not None and single["found"]:
            return self.texts.NEXT_OF_MODEL.format(attribute=self.answer["attribute"])
        if self.answer["reason"]:
            is_alike = is_sentence(self.answer["reason"], *EQUAL_OUTCOMES)
            return self.texts.NEXT_OF_ALIKE if is_alike else self.texts.NEXT_OF_NOTHING
        if (state == OPEN and self._reason()) or self._is_only_reason(state):
            return self.texts.NEXT_OF_REASON
        if state == OPEN and self._is_unasked():
            return self.texts.NEXT_OF_UNASKED
        if state == UNEQUAL and self.outcome is not None:
            return self.texts.NEXT_OF_NUMBERS
        return self.texts.NEXT[state]

    def _quote(self):
        """Return the number to quote."""
        texts, state = self.texts, self.answer["state"]
        if state in (NONE, LIMITED, UNKNOWN):
            none = texts.QUOTE_NOTHING if self.answer["reason"] else texts.QUOTE_NONE
            return none if state == UNKNOWN else self._quoted_bound() or texts.QUOTE_HIDDEN
        if self.raw is not None and self.raw["found"] and not self._smaller_group_leads():
            return self._quoted_whole()
        return self._quoted_group() or self._single().rstrip(".") or texts.QUOTE_HIDDEN

    def _quoted_whole(self):
        """Return the gap of the groups as a whole."""
        return self._of_whole(self.raw, self._is_less())

    def _of_whole(self, gap, is_less):
        """Return a gap of the groups as a whole, and of whom it is."""
        text = self.texts.QUOTE_GROUP if is_less else self.texts.QUOTE_GROUP_MORE
        gap = self._gap(gap, level=False, is_less=is_less)
        return text.format(group=self._group_of_whole(), **gap)

    def _group_of_whole(self):
        """Return the group that the gap of the groups as a whole is told of."""
        return self._sides()["worse" if self._is_less() else "better"]

    def _remains_quoted(self):
        """Return what is left of the gap at equal columns; '' if that was not asked."""
        equal, texts, state = self.equal, self.texts, self.answer["state"]
        if equal is None or not equal["columns"]:
            return ""
        if state in (NONE, LIMITED, ACCOUNTED):
            exclusion = self.answer["others"]["equal"]
            return self._bounded(exclusion, texts.QUOTE_BOUND, texts.QUOTE_TOO_FEW)
        if equal["gap"] is None:
            return texts.QUOTE_OPEN if state == OPEN else ""
        is_turned = self._is_turned()
        gap, is_less = self._seen_turned() if is_turned else (equal, self._is_less())
        is_open = state in (OPEN, UNKNOWN) and equal["verdict"] != FOUND
        if _is_below_zero(gap) and not is_open:
            quoted = self._of_whole(gap, is_less)
        else:
            shown = self._range_alone(gap, is_less=is_less)
            quoted = texts.QUOTE_BETWEEN.format(range=shown, group=self._group_of_whole())
        return quoted + texts.QUOTE_AGAINST * self._has_other_counterparts()

    def _is_less(self):
        """Return whether ranges are those of the side that is worse off."""
        return not (self.raw is not None and self._tells_of_more())

    def _quoted_bound(self):
        """Return the bound to quote where nothing is found; '' if there is none."""
        exclusions = self.answer["others"]
        if self.answer["state"] == LIMITED:
            exclusion, text = exclusions["whole"], self.texts.QUOTE_WHOLE
        else:
            exclusion, text = exclusions["raw"] or exclusions["equal"], self.texts.QUOTE_BOUND
        return self._bounded(exclusion, text, self.texts.QUOTE_NONE)

    def _quoted_group(self, where=None):
        """Return the gap of the smaller group that is worst off; '' if none is found.

        `where` says what is equal, in place of the words of the language.
        """
        worst = self.worst
        if worst is None:
            return ""
        is_less = worst["effect"] < 0
        text = self.texts.QUOTE_SMALLER if is_less else self.texts.QUOTE_SMALLER_MORE
        gap = self._gap(self._of_worst(worst, is_less), level=False, is_less=is_less)
        if where is None:
            where = self.texts.WHERE_GROUP_AFTER * worst["at_equal_columns"]
        name, people = group_name(self.texts, worst["group"]), self._count(worst["people"])
        return text.format(group=name, people=people, where=where, **gap)

    def _people(self):
        """Return how many people each side has, and how many of them some questions are about."""
        people, texts = self._people_of_sides(), self.texts
        for sample in self.answer["samples"]:
            if sample["n"] != self.answer["people"]:
                people = texts.PEOPLE_SAMPLED.format(people=people, **self._sampled(sample))
        return people

    def _sampled(self, sample):
        """Return which questions a sample answers, and its size, in words."""
        names = ["all"] if sample["nulls"] is None else sample["nulls"]
        questions = dict.fromkeys(self.texts.QUESTIONS[name] for name in names)
        sizes = {"n": self._count(sample["n"]), "total": self._count(sample["n_drawn_from"])}
        return {"questions": in_a_row(questions, self.texts.AND), **sizes}

    def _people_of_sides(self):
        raw, n = self.raw, self._count(self.answer["people"])
        if raw is None or raw["worse_off"]["people"] is None or raw["better_off"]["people"] is None:
            return self.texts.PEOPLE.format(n=n)
        # The group that the page is about comes first, and everyone else after it.
        sides = sorted((raw["worse_off"], raw["better_off"]), key=lambda s: s["group"] is None)
        names = [group_name(self.texts, s["group"]) or self.texts.ALL_OTHERS for s in sides]
        people, others = (self._count(side["people"]) for side in sides)
        return self.texts.PEOPLE_SIDES.format(
            n=n, people=people, others=others, group=names[0], other_group=names[1]
        )

    # The words.

    def _has_rates(self):
        return None not in (self.raw["worse_off"]["rate"], self.raw["better_off"]["rate"])

    def _sides(self):
        """Return the names and rates of both sides of the raw gap."""
        raw, texts = self.raw, self.texts
        return {
            "favorable": self._favorable(),
            "worse": group_name(texts, raw["worse_off"]["group"]) or texts.EVERYONE_ELSE,
            "better": group_name(texts, raw["better_off"]["group"]) or texts.EVERYONE_ELSE,
            "rate": self._percent(raw["worse_off"]["rate"], digits=1),
            "other_rate": self._percent(raw["better_off"]["rate"], digits=1),
            "target": self._target(),
            "mean": self.units.mean(raw["worse_off"]["rate"]),
            "other_mean": self.units.mean(raw["better_off"]["rate"]),
        }

    def _favorable(self):
        """Return the favorable outcome with its labels."""
        source = self.document.get("source", {})
        labels, is_cut = favorable_named(self.texts, self.document)
        # Decisions that stand in a column are told by its name, not by that of the labels.
        name = source.get("predictions") or source.get("target")
        labels = f"{name} = {labels}" if name and not is_cut else labels
        text = self.texts.ONE_CLASS if source.get("one_vs_rest") else self.texts.FAVORABLE
        return text.format(labels=labels)

    def _target(self):
        """Return the name of what is compared."""
        outcome = self.outcome or {}
        if self.document.get("about_pay"):
            return self.texts.PAY_TARGETS.get(outcome.get("name"), outcome.get("name"))
        return outcome.get("name") or self.texts.TARGETS.get(outcome.get("output"), "")

    def _gap(self, gap, level=True, is_less=True):
        """Return a gap in points, its range, and the range with its confidence to quote."""
        shown = self._range(gap, level, is_less)
        points = self._size(gap, is_less)
        sure = self.texts.RANGE_QUOTED.format(range=shown, level=self._level(gap))
        if shown == self.texts.RANGE_UNKNOWN:
            sure = shown
        return {"points": points, "range": shown, "sure": sure}

    def _range_alone(self, gap, is_less=True):
        """Return a range with its unit and whether it is less or more: no gap stands beside it."""
        return self._range(gap, is_less=is_less, is_alone=True)

    def _range(self, gap, level=True, is_less=True, is_alone=False):
        """Return the range of a gap of the side that is worse off, and its level, if not 95 %."""
        if "relative" in gap:  # a share in which the mean of the others varies, too
            gap = gap["relative"] | {"reference": 1.0}
        if gap["ci_low"] is None or gap["ci_high"] is None:
            return self.texts.RANGE_UNKNOWN
        least, most = -gap["ci_high"], -gap["ci_low"]
        if is_alone and least < 0 and most <= 0:  # medians may differ the other way round
            least, most, is_less = -most, -least, not is_less
        text, has_less, reference = self.texts.RANGE, (is_less, is_less), gap.get("reference")
        if is_alone:
            text = self.texts.RANGE_LESS if is_less else self.texts.RANGE_MORE
        if least < 0 < most:
            less, more = (most, -least) if is_less else (-least, most)
            text, least, most = self.texts.RANGE_AROUND_ZERO, less, more
            has_less = True, False
        least, most = (
            self._cut(least, has_less[0], reference),
            self._cut(most, has_less[1], reference),
        )
        is_around_zero = text == self.texts.RANGE_AROUND_ZERO
        low = self.units.end(least, has_less[0], reference, with_unit=is_around_zero)
        high = self.units.end(
            most, has_less[1], reference, with_unit=is_alone and not is_around_zero
        )
        shown = text.format(low=low, high=high)
        if not level or self._level(gap) == self._percent(0.95):
            return shown
        # In a sentence, the level of a range in words stands in brackets of its own.
        is_in_words = text != self.texts.RANGE
        return f"{shown} ({self._level(gap)})" if is_in_words else f"{shown}, {self._level(gap)}"

    def _cut(self, end, has_less, reference):
        """Return the end of a range; numbers that are 0 or more are at most 100 % less."""
        has_less = has_less != ((self.outcome or {}).get("better") == "low")
        if has_less and reference and self.raw is not None and "relative" in self.raw:
            return min(end, reference)
        return end

    def _level(self, gap):
        return confidence(self.texts, gap.get("relative", gap).get("ci_level"))

    def _columns(self):
        names = self.equal["columns"] if self.equal else []
        if len(names) > MOST_COLUMNS:
            more = self.texts.MORE_COLUMNS.format(n=len(names) - MOST_COLUMNS)
            names = [*names[:MOST_COLUMNS], more]
        return in_a_row(names or [self.texts.HELD_NONE], self.texts.AND)

    def _size(self, gap, is_less=True):
        return self.units.gap(abs(gap["gap"]), gap.get("reference"), is_less)

    def _percent(self, share, digits=None):
        return percent(self.texts, share, digits)

    def _count(self, n):
        return "–" if n is None else number(self.texts, n, 0)
