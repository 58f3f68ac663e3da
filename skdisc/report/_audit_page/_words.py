"""Words and numbers of an audit's page: questions, rules, figures."""

import math
import re

from skdisc._results._judgment import FOUND, NOTHING, NULLS
from skdisc.report import _summary

QUESTIONS = {
    "marginal": "Are the rates of the groups equal?",
    "contextual": "Does it make a difference, as a whole or within smaller groups of people?",
    "conditional": "Does it make a difference where the other columns are equal?",
    "linear": "Does a linear model of the other columns leave a difference?",
    "individual": "Does the decision about a person change with it alone?",
    "counterfactual": "Would the decision have been another in another group?",
    "calibration": "Do outcomes differ at equal scores, or among the selected?",
    "everyone": "Does a group differ from everyone else?",
}
KINDS = {
    "cause": "differs at equal legitimate columns",
    "gap": "raw gap",
    "context": "gap within a context",
}
NO_CONTEXT = "gap from everyone else"
FOUND_ALONE = "disparity found by this step alone, not by the audit"
ROLES = {
    "lead": "leads",
    "corroborates": "corroborates",
    "facts": "states facts",
    "describes": "describes",
}
META = {
    "system": "System audited",
    "period": "Period of the data",
    "population": "Population",
    "auditor": "Auditor",
    "independence": "Independence of the auditor",
}
RULES = {
    "four_fifths": {
        "title": "Impact ratios (four-fifths rule)",
        "text": (
            "The four-fifths rule of the United States' Uniform Guidelines on Employee Selection "
            "Procedures (29 CFR 1607.4 D) compares the selection rate of each group with the rate "
            "of the group that has the highest, here of those with 2 % of the people or more: the "
            "impact ratio. Enforcement agencies generally regard a ratio below four fifths (0.8) "
            "as evidence of adverse impact, and the guidelines name exceptions in both directions. "
            "This page states ratios and how sure they are; it does not report whether the rule is "
            "met."
        ),
        "meta": {"position": "Job or position", "procedure": "Selection procedure"},
    },
    "ll144": {
        "title": "Impact ratios (New York City Local Law 144)",
        "text": (
            "New York City Local Law 144 of 2021 and its rules (6 RCNY 5-300 to 5-304) require of "
            "automated employment decision tools a yearly bias audit by an independent auditor: "
            "for each category of sex, of race or ethnicity, and of both together, the selection "
            "rate (or the rate of scores above the median) and its ratio to that of the category "
            "with the highest rate. This page states these figures; it does not report whether "
            "the law is complied with. The fields marked 'not stated' are for you to fill in."
        ),
        "meta": {
            "audit_date": "Date of the bias audit",
            "data_source": "Source and explanation of the data",
            "unknown_category": "People of an unknown category",
            "distribution_date": "Distribution date of the tool",
        },
    },
}
CAVEAT = _summary.CAVEAT
JOINT = (
    'The effect of a cause is what its group adds to the other causes; "in all" is what the group '
    "differs by from the others in its context at equal legitimate columns, other causes included."
)


LEGITIMATE = (
    "Columns are held equal because they may explain a difference; tables below call these "
    "legitimate columns."
)


def meta_fields(template):
    """Return what a reader must know about an audit: maps each field to its words."""
    return META | RULES.get(template, {}).get("meta", {})


def level(verdict):
    """Return the class of a verdict: found, nothing, or unsure."""
    return {FOUND: "found", NOTHING: "nothing"}.get(verdict, "unsure")


def question(null, claim, average="rate"):
    """Return what a null asks, in plain words, and the null itself.

    Groups are compared by their rates, or their means.
    """
    claim = (claim or NULLS.get(null, "")).replace("rates", f"{average}s")
    wording = QUESTIONS.get(null, "").replace("rates", f"{average}s")
    return wording or claim or null or "–", claim


def about(group, measure):
    """Return a group with the measure of its gap, unless that is the rate of selection."""
    named = [measure.replace("_", " ")] if measure and measure != "selection_rate" else []
    return ", ".join([group, *named]) if group else ""


def outcomes(before, after):
    """Return two outcomes as text: decisions in words, other numbers as they are."""
    names = {0: "unfavorable", 1: "favorable"}
    values = (before, after)
    return tuple(map(names.get if {*values} == {*names} else number, values))


def labels(values):
    """Return the favorable labels as text, in quotes where blanks or case tell them apart."""
    texts = [str(v) for v in values]
    alike = len({t.strip().casefold() for t in texts}) < len(texts)
    return ", ".join(map(repr, texts) if alike or any(t != t.strip() for t in texts) else texts)


def number(value):
    """Return a number with at most three decimals; missing is a dash, text stays."""
    if value is None or isinstance(value, str):
        return value or "–"
    return _summary.number(value)


def count(value):
    """Return a whole number with its thousands separated."""
    return "–" if value is None else f"{value:,.10g}"


def percent(share):
    return "–" if share is None else f"{100 * share:.3g}\u00a0%"


def p_value(p):
    """Return a p-value as text."""
    return "–" if p is None else _summary.p_value(p)


def interval(low, high, level=None):
    """Return an interval as text with its confidence level, or '' without one."""
    if low is None or high is None:
        return ""
    return f"[{number(low)}, {number(high)}]" + (f" ({confidence(level)})" if level else "")


def about_levels(significance):
    """Return what the levels of intervals are."""
    return (
        "Each interval has its confidence beside it. Where nothing is found it is "
        f"{confidence(1 - 2 * significance)}: each end holds with {confidence(1 - significance)}, "
        'and the larger one is what "no gap above" is about. Findings have more, because they were '
        "chosen among many."
    )


def confidence(level):
    """Return a confidence level in percent, rounded down to a tenth."""
    return f"{math.floor(1000 * level + 1e-6) / 10:g}\u00a0%"


def estimate(value, low, high, level=None):
    """Return a number with its interval."""
    return " ".join(filter(None, [number(value), interval(low, high, level)]))


def people(n):
    """Return a number of people in words."""
    return "–" if n is None else f"{count(n)} {'person' if n == 1 else 'people'}"


def note(row):
    """Return what was noticed in a table as one line."""
    column = row["column"]
    done, option = row["done"], row["option"]
    what = "" if column is None else f"{column!r}: "
    about = f"; {done} ({option})" if done and option else ""
    return f"{what}{row['seen']}{about}."


def shown(n, total, what):
    """Return the sentence on rows left out, or ''."""
    if n >= total:
        return ""
    return f"The first {count(n)} of {count(total)} {what}; the JSON document has all of them."


_OF_ONE_LETTER = re.compile(r"\w ?[=<>]|\w is ")  # a symbol, or the name of a column


def sentence(text):
    """Return a reason as a sentence."""
    text = re.sub(r"(?<=\d) %", "\u00a0%", str(text or ""))
    first = text[:1] if _OF_ONE_LETTER.match(text) else text[:1].upper()  # "p = .04" stays
    return f"{first}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}" * bool(text)
