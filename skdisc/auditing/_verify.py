"""Verification: whether an audit says what its data, model and settings say."""

import math
import re
from collections.abc import Iterator
from typing import Any

from skdisc._counts._counted_table import CountedTable, is_source
from skdisc._counts._counts import Counts
from skdisc._counts._sources import source_of
from skdisc._utils._safe_text import clean
from skdisc._utils._types import ArrayLike, FilePath, FrameLike, Model
from skdisc.auditing._audit import Audit
from skdisc.auditing._audit_report import AuditReport
from skdisc.auditing._audited_rows import TRAINED, AuditedRows
from skdisc.auditing._document import NOT_SETTINGS, fingerprints_of, shared_from_dict
from skdisc.auditing._fingerprints import model_fingerprint, settings_fingerprint

_IGNORED = {  # places: what a run cannot repeat, what is compared as hashes, what people wrote
    *("skdisc.versions", "about.seconds", "log[].seconds", "fingerprints", "meta", "source"),
    *("code", "plan.sha256"),
}
_CLOSE = 1e-6  # relative: libraries of linear algebra differ in the last digits
_MODELS = ("model", TRAINED)
_LONG = 120  # characters of a text that are shown


def verify(
    document: dict,
    X: FrameLike,
    y: ArrayLike | None = None,
    model: Model | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    model_file: FilePath | None = None,
    expected: dict | None = None,
    described_by: FrameLike | None = None,
) -> list[str]:
    """Check the document of an audit against data and model, and run the audit again.

    Parameters
    ----------
    document : dict
        ``AuditReport.to_dict()``.
    X, y, model, sample_weight, groups
        What was passed to `Audit.fit`; rows may be in another order, and dtypes others. A table
        that was counted may lie elsewhere, and be divided otherwise.
    model_file : str or Path, optional
        The file of the model, if the audit names one.
    expected : dict, optional
        Settings that the audit must have, by name.
    described_by : DataFrame, optional
        For a public audit by the command line: the ignored columns, by which its groups were
        chosen, too.

    Returns
    -------
    list of str
        What differs, a sentence for each; empty if nothing does. If data, model or settings
        differ, the audit is not run again.

    Raises
    ------
    ValueError
        If the document is not as its schema says, if published counts were audited, which have no
        rows, if a table was counted and X is a DataFrame, or if the settings cannot be rebuilt.
    ModelError
        If the model raises an error.
    """
    document = AuditReport.from_dict(document).document
    if document["about"]["audited"] == "counts":
        raise ValueError("Published counts were audited: there are no rows to check.")
    differing = _settings(document, expected or {})
    X, lacking = _ordered(X, document["about"])
    if lacking:
        return [*differing, f"data: there is no column {', '.join(map(repr, lacking))}"]
    audit = _audit(document["settings"])
    audit._more_columns = described_by
    audited_rows = AuditedRows.read(audit, X, y, model, sample_weight, groups)
    fingerprints, of_document = fingerprints_of(audit, audited_rows), document["fingerprints"]
    if fingerprints["data"] != of_document["data"]:
        n_now, n_then = audited_rows.people(), document["about"]["n_rows"]
        counts = "" if n_now == n_then else f": {n_now:,}, not {n_then:,}"
        differing.append(f"data: these are other rows{counts}")
    audited = document["about"]["audited"]
    if audited_rows.kind != audited:
        differing.append(_of_kind(audited_rows.kind, audited))
    elif model_file is not None and of_document["model"] not in (
        None,
        model_fingerprint(model_file),
    ):
        differing.append("model: this is another file")
    inputs_differ = bool(differing)
    # Another version of the code is reported, and does not keep the audit from being run again.
    if fingerprints["code"] != of_document["code"]:
        differing.append(
            f"skdisc: the audit was made by {_version(of_document)}, this is "
            f"{_version(fingerprints)}"
        )
    if inputs_differ:
        return differing
    if document["about"]["interrupted"]:
        return [*differing, "run: the audit was interrupted, so that it cannot be run again alike"]
    repeated_report = audit.fit(X, y, model, sample_weight, groups).report_
    if document["robustness"]:
        audit.robustness(X, y, model, sample_weight, groups)
    return differing + list(differences(document, repeated_report.document))


def _ordered(X, about):
    """Return the table with its columns in the order of the audit, and the names that it lacks."""
    is_table = is_source(X)
    if "counts" in about and not (is_table or isinstance(X, Counts | CountedTable)):
        raise ValueError("The table was counted: pass its path, another table that is, or Counts.")
    if not is_table and not hasattr(X, "columns"):
        return X, []
    X = source_of(X) if is_table else X
    by_name = {str(c): c for c in X.columns}
    lacking = [c for c in about["columns"] if c not in by_name]
    order = [by_name[c] for c in about["columns"] if c in by_name]
    order += [c for c in X.columns if c not in order]
    return X.only(order) if is_table else X[order], lacking


def differences(before: dict, after: dict, place: str = "") -> Iterator[str]:
    """Yield how two documents differ, a line for each place; times and versions are ignored.

    Numbers are equal if they differ by less than a millionth.

    `before` and `after`: documents, or parts of them. `place`: the place of the parts. Yields a
    str: for example "evidence[0].effect: -0.12, now -0.11".
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(n for n in after if n not in before)]:
            inner_place = f"{place}.{name}" if place else str(name)
            if re.sub(r"\[\d+\]", "[]", inner_place) in _IGNORED:
                continue
            if name not in before or name not in after:
                document = "second" if name in after else "first"
                yield f"{inner_place}: only in the {document} document"
            else:
                yield from differences(before[name], after[name], inner_place)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{place}: {len(before)} entries, now {len(after)}"
        for i, (first, second) in enumerate(zip(before, after, strict=False)):
            yield from differences(first, second, f"{place}[{i}]")
    elif not _equal(before, after):
        yield f"{place}: {_as_line(before)}, now {_as_line(after)}"


def _equal(a: Any, b: Any) -> bool:
    """Return whether two values are equal, numbers up to rounding."""
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b))
    if numbers:
        return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=1e-12)
    return type(a) is type(b) and a == b


def _as_line(value):
    """Return a value as text of one line."""
    text = clean(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _settings(document, expected):
    """List how settings were changed after the audit, or differ from the expected ones."""
    settings, sentences = document["settings"], []
    if settings_fingerprint(settings) != document["fingerprints"]["settings"]:
        sentences.append("settings: they were changed after the audit, their hash is another one")
    shared = (settings.get("rule") or {}) | (settings.get("limits") or {})
    settings_by_name = shared | settings  # fields of rule and limits may be named, too
    sentences += [
        f"settings: {name} is set, which no document sets; it is not obeyed"
        for name in settings
        if name in NOT_SETTINGS
    ]
    for name, value in expected.items():
        if not _equal(settings_by_name.get(name), value):
            shown = _as_line(settings_by_name.get(name))
            sentences.append(f"settings: {name} is {shown} in the audit, not {_as_line(value)}")
    return sentences


def _audit(settings):
    """Return the Audit of the settings of a document."""
    parameters = Audit().get_params(deep=False)
    unknown = [name for name in settings if name not in parameters]
    if unknown:
        raise ValueError(f"This version of skdisc has no setting {unknown[0]!r}.")
    # A document is data: where it says that results are kept, nothing is read or written.
    audit_settings = {name: value for name, value in settings.items() if name not in NOT_SETTINGS}
    return Audit(**shared_from_dict(audit_settings))


def _of_kind(kind, of_document):
    """Return what was audited, if something else is passed."""
    had, has = of_document in _MODELS, kind in _MODELS
    if had != has:
        return f"model: {'the audit had one, pass it' if had else 'the audit had none'}"
    return f"data: the audit is about {of_document}, and {kind} are passed"


def _version(fingerprints):
    """Return version and start of the hash of the sources."""
    version, _, code = (fingerprints["code"] or "unknown sources").partition(" ")
    return f"skdisc {version} ({code[:12]})"
