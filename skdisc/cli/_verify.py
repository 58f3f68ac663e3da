"""The command `skdisc verify`: an audit and its data in, what differs out."""

import argparse
import json
from pathlib import Path

import pandas as pd

from skdisc import BlackBox
from skdisc._utils._files import read_text
from skdisc._utils._safe_text import clean
from skdisc._utils._tables._reading import Reading
from skdisc.auditing import AuditReport
from skdisc.auditing._fingerprints import in_canonical_order
from skdisc.auditing._pay._templates import TEMPLATES
from skdisc.auditing._verify import verify
from skdisc.cli._audit import add_model, model_of, prepared, trained
from skdisc.cli._numbers import numbers_of
from skdisc.cli._say import say
from skdisc.cli._table import read_in, source_in
from skdisc.cli._thresholds import decisions_at, scores_in
from skdisc.report._audit_page import document_in, without_document
from skdisc.report._first_page import LANGUAGES

EQUAL, DIFFERENT = 0, 1
_ROLES = ("target", "predictions", "weights", "groups", "hours")
_LANGUAGE = '<meta name="skdisc-language" content="{}">'  # of pages that are not in English


def add_verify(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "verify",
        help="check an audit against its data and model",
        epilog="exit codes: 0 nothing differs, 1 something differs, 2 usage, 4 failure",
    )
    command.set_defaults(run=_verify)
    add = command.add_argument
    add("audit", metavar="AUDIT", help="report of skdisc audit, a .json or .html file")
    add("data", metavar="DATA", help="the table, rows and parts in any order and place")
    add("--model", metavar="FILE", help="fitted model, if one was audited")
    add_model(command)
    add("--seed", type=int, metavar="N", help="seed that the audit must have")


def _verify(arguments):
    """Check an audit; return the exit code."""
    path = Path(arguments.audit)
    if not path.is_file():
        raise ValueError(f"There is no file {str(path)!r}.")
    document, changed = _read(path)
    source = document.get("source")
    if source is None:
        raise ValueError(
            f"{path.name!r} was not made by skdisc audit, so that its file of data is not known. "
            "Call skdisc.auditing.verify(document, X, y, model) with what was passed to Audit.fit."
        )
    if source.get("counted"):
        differences = _differences_of_counts(document, source, arguments)
    else:
        frame = rows_in(arguments.data, source)
        differences = lacking(frame, source)
        differences = differences or _differences_of_rows(document, source, frame, arguments)
    return _print_differences([*changed, *differences])


def rows_in(path: str, source: dict) -> pd.DataFrame:
    """Return the rows of a file as an audit read them, which its document says under "source"."""
    reading, preparation = _reading_of(source)
    frame = in_canonical_order(read_in(path, reading).frame)
    hours = source.get("hours")
    if (preparation or hours) and not lacking(frame, source):
        ends = [source[n] for n in ("target", "predictions") if source.get(n)]
        frame = prepared(frame.rename(columns=str), ends, [], hours=hours, **preparation)[0]
    return frame


def report_in(path: Path) -> tuple[AuditReport, str]:
    """Return the report of an audit in a file, JSON or a page, and the text of a page, else ""."""
    try:
        text = read_text(path)
        if not text.lstrip().startswith("<"):
            return AuditReport.from_json(text), ""
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError(
            f"{path.name!r} is not a report of skdisc audit in JSON or HTML. Pass the .json or "
            ".html file that --report wrote."
        ) from None
    return AuditReport.from_dict(document_in(text)), text


def _reading_of(source):
    """Return how an audit read its file, and what it then changed, as `prepared` takes it."""
    reading = dict(source.get("reading", {}))
    names = ("drop_unlabeled", "drop_copies", "fold")
    preparation = {name: reading.pop(name) for name in names if name in reading}
    return Reading.from_dict(reading), preparation


def _read(path):
    """Return the document of an audit in a file, and what differs in the page around it."""
    report, text = report_in(path)
    if not text:
        return report.document, []
    language = next((name for name in LANGUAGES if _LANGUAGE.format(name) in text), "en")
    if without_document(report.to_html(language)) == without_document(text):
        return report.document, []
    difference = "it does not show the document in it as this skdisc does; it may have been changed"
    return report.document, [f"page: {difference}"]


def _print_differences(differences):
    """Print what differs; return the exit code."""
    for line in differences:
        say(clean(line))  # a text of the document must not look like a line of this answer
    say(f"Differences: {len(differences)}." if differences else "Nothing differs.")
    return DIFFERENT if differences else EQUAL


def lacking(frame: pd.DataFrame, source: dict) -> list[str]:
    """List the columns with a role that the file does not have."""
    roles = [source[n] for n in _ROLES if source.get(n)]
    names = set(map(str, frame.columns))
    return [f"data: there is no column {name!r}" for name in roles if name not in names]


def _differences_of_counts(document, source, arguments):
    """Return what differs from the audit of a table that was counted."""
    table = source_in(arguments.data, _reading_of(source)[0])
    missing = lacking(table, source)
    if missing:
        return missing
    by_name = {str(c): c for c in table.columns}
    ends = {r: by_name[source[r]] for r in ("target", "predictions") if source[r]}
    table = table.only([c for name, c in by_name.items() if name not in source["ignore"]])
    if source["model_file"] and not arguments.model:
        raise ValueError(f"The model {source['model_file']!r} was audited. Pass it by --model.")
    model = model_of(arguments) if arguments.model else ends.get("predictions")
    return verify(document, table, ends["target"], model, **_expected(arguments))


def _differences_of_rows(document, source, frame, arguments):
    X, y, model, extra = passed(document, source, frame, arguments)
    if document["settings"].get("disclosure") == "public":
        is_pay = document["about"]["template"] in TEMPLATES
        hours = [source["hours"]] if source.get("hours") and not is_pay else []
        extra["described_by"] = frame.rename(columns=str)[[*source["ignore"], *hours]]
    return verify(document, X, y, model, **_expected(arguments), **extra)


def _expected(arguments):
    """Return the model file and the settings that the options say the audit must have."""
    expected = {} if arguments.seed is None else {"random_state": arguments.seed}
    return {"model_file": arguments.model, "expected": expected}


def passed(
    document: dict, source: dict, frame: pd.DataFrame, arguments: argparse.Namespace
) -> tuple:
    """Return X, y, model and further arguments of the `Audit.fit` behind a document."""
    frame = frame.rename(columns=str)
    is_pay = document["about"]["template"] in TEMPLATES
    role_columns = {source[n] for n in _ROLES if source.get(n) and not (is_pay and n == "hours")}
    X = frame.drop(columns=[c for c in frame if c in {*role_columns, *source["ignore"]}])
    order = [c for c in document["about"]["columns"] if c in X]
    X = X[[*order, *(c for c in X if c not in order)]]
    target = [source["target"]] if source["target"] else []
    y = numbers_of(frame, target, source.get("hours"), is_pay)
    extra = {
        name: frame[source[role]]
        for role, name in (("weights", "sample_weight"), ("groups", "groups"))
        if source.get(role)
    }
    model = None
    if source["predictions"] and "outcome" in document["about"]:
        y = frame[source["predictions"]]
    elif source["predictions"] and source.get("threshold") is None:
        model = BlackBox(decisions=frame[source["predictions"]])
    if arguments.model:
        model = model_of(arguments)
    elif source["model_file"]:
        raise ValueError(f"The model {source['model_file']!r} was audited. Pass it by --model.")
    if source.get("threshold") is not None:
        scores = scores_in(frame, [source["predictions"]] if source["predictions"] else [])
        model = decisions_at(source["threshold"], y, source["favorable"], model, scores)
    if source["fit"]:
        X, y, model, extra = trained(source, X, y, extra)
    return X, y, model, extra
