"""A section on fairness for the card of a model, in Markdown."""

from skdisc._utils._safe_text import clean
from skdisc.report._audit_page._words import confidence
from skdisc.report._markdown import escape_markdown
from skdisc.report._summary import CAVEAT, number

_MOST = 5  # findings shown


def to_model_card(document):
    """Return a section of a model card (Mitchell et al. 2019): verdicts, findings, and limits.

    Returns a str: markdown that starts with a heading of level 2.
    """
    verdict, about = document["verdict"], document["about"]
    lines = ["## Fairness", _escaped(about["sentence"])]
    lines.append(_sentence(f"Verdict: **{verdict['verdict']}**", verdict["reason"]))
    names = {"system": "System", "period": "Period", "population": "Population"}
    names |= {"auditor": "Audited by", "independence": "Independence of the auditor"}
    stated = {names.get(n, n): v for n, v in document["meta"].items()}
    lines.append(
        "\n".join(f"- {_escaped(n)}: {_escaped(v or 'not stated')}" for n, v in stated.items())
    )
    lines += ["### Verdicts", _verdicts(document["verdicts"])]
    findings = [row for row in document["evidence"] if row["found"]]
    if findings:
        shown = f"first {_MOST} of {len(findings):,}" if len(findings) > _MOST else len(findings)
        lines += [f"### Disparities found ({shown})", _findings(findings[:_MOST])]
    limits = [text for text in document["limits"] if text != CAVEAT]
    lines += ["### Limits", "\n".join(f"- {_escaped(text)}" for text in [CAVEAT, *limits])]
    lines += ["### Evidence", _evidence(document)]
    return "\n\n".join(lines) + "\n"


def _verdicts(rows):
    """Return the table of verdicts."""
    head = ["Attribute", "Null hypothesis", "Verdict", "Group", "Effect", "People"]
    return _table(
        head,
        [
            [r["attribute"], r["claim"], r["verdict"], r["group"], _effect(r), _count(r)]
            for r in rows
        ],
    )


def _findings(rows):
    """Return the table of findings."""
    head = ["Group", "Compared with", "Measure", "Effect", "People"]
    return _table(
        head, [[r["group"], r["compared_with"], r["measure"], _effect(r), _count(r)] for r in rows]
    )


def _evidence(document):
    """Return by which hashes the audit can be checked."""
    hashes = [f"- {n}: {_escaped(v or 'none')}" for n, v in document["fingerprints"].items()]
    version = document["skdisc"]["versions"].get("skdisc", "unknown")
    introduction = (
        f"Audited with skdisc {_escaped(version)}. Check it with `skdisc verify`; SHA-256 of"
    )
    return "\n".join([introduction, "", *hashes])


def _effect(row):
    """Return effect and interval as text."""
    prefix = "held_out_" if row.get("held_out_effect") is not None else ""
    names = ("effect", "ci_low", "ci_high", "ci_level")
    effect, low, high, level = (row[f"{prefix}{name}"] for name in names)
    if effect is None:
        return "–" if row.get("bound") is None else f"no gap above {number(row['bound'])}"
    confidence_text = f", {confidence(level)}" if level else ""
    return (
        number(effect)
        if None in (low, high)
        else f"{number(effect)} ({number(low)} to {number(high)}{confidence_text})"
    )


def _count(row):
    return "–" if row["people"] is None else f"{row['people']:,}"


def _sentence(start, reason):
    """Return a sentence with its reason, if there is one."""
    return f"{start} ({_escaped(reason)})." if reason else f"{start}."


def _table(head, rows):
    """Return a table in Markdown."""
    cells = [[_escaped(c or "–") for c in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *cells])


def _escaped(text):
    return escape_markdown(clean(str(text)))
