"""AuditResult: the outcome of an audit, with findings, uncertainty and JSON."""

import json
from dataclasses import asdict, dataclass, field, fields, replace
from types import NoneType
from typing import Self

import numpy as np
import pandas as pd

from skdisc._results._findings import (
    CaseFindings,
    Discovery,
    GroupFindings,
    feature_names,
    findings_from_dict,
)
from skdisc._results._in_database import InDatabase
from skdisc._results._judgment import FOUND, NULLS, UNSURE, Judgment
from skdisc._results._notebook import result_to_html
from skdisc._results._shared_values import SharedValues
from skdisc._results._without_people import without_people
from skdisc._utils._json import (
    check_types,
    frame_from_dict,
    frame_to_dict,
    jsonable,
    loaded,
    placed,
)
from skdisc._utils._optional import versions
from skdisc._verdicts._answer import Answer

SCHEMA_VERSION = 3


_TYPES = {
    "detector": str,
    "params": dict,
    "audited": str,
    "pos_label": list,
    "protected": list,
    "n_samples": int,
    "n_drawn_from": (int, NoneType),
    "n_queries": int,
    "stopped_by": (str, NoneType),
    "total_time": (int, float),
    "null": str,
    "versions": dict,
    "shared_values": (dict, NoneType),
    "last_shown": dict,
    "discovery": dict,
}
_DISCOVERY_TYPES = {
    "findings": dict,
    "measure": str,
    "n_tested": int,
    "n_found": int,
    "by_value": dict,
    "estimates": (dict, NoneType),
    "excluded": (dict, NoneType),
    "tables": dict,
    "notes": list,
    "versus": str,
    "judgment": (dict, NoneType),
    "nodes_visited": (int, NoneType),
}


def _pair(values):
    """Return two whole numbers."""
    n_tested, n_found = values
    check_types({"tested": n_tested, "found": n_found}, {"tested": int, "found": int})
    return n_tested, n_found


@dataclass(frozen=True, eq=False)
class AuditResult(InDatabase):
    """The immutable result of `fit` or `audit`.

    Results are equal if they differ in times and versions only. They can be saved by `to_json`;
    `without_people` returns one to hand on.

    Parameters
    ----------
    detector : str
        Name of the detector.
    params : dict
        Parameters of the detector.
    audited : {"model", "refit", "surrogate", "decisions", "labels"}
        What was audited. A surrogate is not your own model.
    pos_label : list
        The favorable labels.
    protected : list
        The protected columns.
    n_samples : int
        Number of rows of X.
    n_queries : int
        Number of distinct rows sent to the model.
    stopped_by : str or None
        The limit that ended the search; None if the search completed.
    total_time : float
        Seconds.
    discovery : Discovery
        Findings, estimates and tables. Its fields are also attributes of the result.
    null : str
        The null hypothesis that "disparity found" rejects: "marginal", "contextual", "conditional",
        "linear", "individual", "counterfactual", "calibration" or "everyone".
    versions : dict
        Versions of Python and of the packages.
    shared_values : dict or None
        Maps columns to the values that at least 10 people share, which reports may show; columns
        that are left out may be shown.
    last_shown : AuditResult or None
        The result that reports show in place of this one: of a monitor, with the numbers of groups
        as they were last renewed.
    n_drawn_from : int or None
        Number of rows that the `n_samples` rows were drawn from by chance; None if no sample was
        drawn.
    """

    detector: str
    params: dict
    audited: str
    pos_label: list
    protected: list
    n_samples: int
    n_queries: int
    stopped_by: str | None
    total_time: float
    discovery: Discovery
    null: str = ""
    versions: dict = field(default_factory=versions)
    shared_values: dict | None = None
    last_shown: Self | None = None
    n_drawn_from: int | None = None

    def __getattr__(self, name):
        if name in _DISCOVERY_FIELDS:
            return getattr(self.discovery, name)
        raise AttributeError(f"AuditResult has no attribute {name!r}.")

    def __dir__(self):
        return sorted({*super().__dir__(), *_DISCOVERY_FIELDS})

    def __len__(self):
        return len(self.findings)

    def __getitem__(self, i):
        return self.findings[i]

    @property
    def rule(self) -> dict:
        """The fields of the `Rule` in force that the detector uses."""
        return self.params.get("rule") or {}

    @property
    def significance(self) -> float:
        """The significance level of verdict, intervals and corrected p-values."""
        return self.rule.get("significance", 0.05)

    @property
    def verdict(self) -> str:
        """One of "disparity found", "no disparity found", "insufficient evidence".

        With the null "everyone", "differs from everyone" takes the place of the first.
        """
        if self.judgment is not None:
            return self.judgment.verdict
        return FOUND if self.n_found > 0 else UNSURE

    @property
    def reason(self) -> str:
        """Why the verdict is not "disparity found", or ""."""
        return "" if self.judgment is None else self.judgment.reason

    @property
    def null_claim(self) -> str:
        """The null hypothesis as a clause, or "" if it is unknown."""
        return NULLS.get(self.null, "")

    @property
    def curve(self) -> pd.DataFrame:
        """Numbers of cases, tests and seconds in the course of a search.

        Raises
        ------
        ValueError
            If the result is not that of a search.
        """
        return self.to_frame("curve")

    @property
    def metrics(self) -> dict:
        """TSN, DSN, SUR, DSS, total_time, and the same per protected value.

        TSN is the number of tests and DSN the number of findings. SUR = DSN / TSN, and DSS is the
        number of seconds per finding; both are NaN if undefined. For subgroups, DSR equals SUR;
        for cases, EGS = DSN / seconds. Searches that visit patterns, or draw people until they are
        sure, have nodes_visited.
        """
        counts = {name: self._rates(*pair) for name, pair in self.by_value.items()}
        total = self._rates(self.n_tested, self.n_found)
        metrics = {
            **total,
            "total_time": self.total_time,
            "dsn_by_attr_value": {**counts, "total": total},
        }
        if isinstance(self.findings, GroupFindings):
            metrics["DSR"] = metrics["SUR"]
        else:
            metrics["EGS"] = self.n_found / self.total_time if self.total_time else float("nan")
        if self.nodes_visited is not None:
            metrics["nodes_visited"] = self.nodes_visited
        return metrics

    def _rates(self, n_tested, n_found):
        return {
            "TSN": n_tested,
            "DSN": n_found,
            "SUR": n_found / n_tested if n_tested else float("nan"),
            "DSS": self.total_time / n_found if n_found else float("nan"),
        }

    def to_frame(self, kind: str = "findings", *, expand: bool = False) -> pd.DataFrame:
        """Return the findings as a table.

        Parameters
        ----------
        kind : {"findings", "pairs", "subgroups"} or a key of `tables`
            "findings": one row per finding. "pairs": two rows per case. "subgroups": one row per
            group, with the value of each column in it (None: any), or the text of a condition on
            several values. Otherwise the table of this name.
        expand : bool, default=False
            Whether "subgroups" has one row per combination of single values, for conditions with
            several values.

        Returns
        -------
        DataFrame
            Columns of X with the name of a result get the suffix ``_feature``.

        Raises
        ------
        ValueError
            If the result has no such table.
        """
        if kind == "findings":
            return self.findings.to_frame()
        class_of_kind = {"pairs": CaseFindings, "subgroups": GroupFindings}
        if kind in self.tables and kind not in class_of_kind:
            return self.tables[kind].copy()
        if kind not in class_of_kind or not isinstance(self.findings, class_of_kind[kind]):
            allowed = "pairs" if isinstance(self.findings, CaseFindings) else "subgroups"
            raise ValueError(
                f"kind must be 'findings' or {allowed!r} for a {self.detector} result, "
                f"got {kind!r}."
            )
        expand = expand and kind == "subgroups" and len(self)
        chunks = self.findings.expand() if expand else [self.findings]
        parts = zip(*(chunk.parts() for chunk in chunks), strict=True)
        features, results = (pd.concat(part, ignore_index=True) for part in parts)
        names = [n for n in ("TSN", "DSN", "SUR", "DSS", "DSR", "total_time") if n in self.metrics]
        results = results.assign(**{n: self.metrics[n] for n in names})
        names = feature_names(features.columns, results.columns)
        return features.rename(columns=names).join(results)

    def overlap(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the Jaccard indices of the groups found: intersection over union of their rows.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            The rows of fit, or others.

        Returns
        -------
        DataFrame of shape (n_findings, n_findings)
            1 on the diagonal; NaN for two groups without members.

        Raises
        ------
        ValueError
            If the findings are cases.
        """
        if not isinstance(self.findings, GroupFindings):
            raise ValueError(
                f"overlap compares groups, but the findings of {self.detector} are cases."
            )
        groups = self.findings.subgroups
        inside = np.array([g.mask(X) for g in groups], dtype=float).reshape(len(groups), len(X))
        common, size = inside @ inside.T, inside.sum(axis=1)
        union = size[:, None] + size - common
        names = [str(g) for g in groups]
        jaccard = np.divide(common, union, out=np.full_like(union, np.nan), where=union > 0)
        return pd.DataFrame(jaccard, index=names, columns=names)

    def without_people(self) -> Self:
        """Return the result without what could describe a person, as reports show it.

        Left out are rows of people, with their tables, and made-up inputs that have all values of
        somebody's row, protected columns aside; groups of fewer than 10 people, which are counted;
        and in made-up inputs and conditions, values that fewer than 10 people share: numbers are
        rounded to one digit. Numbers of tests and findings, verdict and null are kept.

        Returns
        -------
        AuditResult
        """
        shown = self if self.last_shown is None else self.last_shown
        shared = None if shown.shared_values is None else SharedValues(shown.shared_values)
        return replace(shown, discovery=without_people(shown.discovery, shared))

    def to_dict(self) -> dict:
        """Return the result as a dict of JSON types, the inverse of `from_dict`."""
        nested = ("discovery", "last_shown")
        data = _without(self, nested)
        if self.shared_values is None:
            del data["shared_values"]
        if self.last_shown is not None:
            data["last_shown"] = self.last_shown.to_dict()
        d = self.discovery
        scalars = _without(d, _STRUCTURED)
        frames = {
            n: None if getattr(d, n) is None else frame_to_dict(getattr(d, n))
            for n in ("estimates", "excluded")
        }
        tables = {name: frame_to_dict(table) for name, table in d.tables.items()}
        structured = {"findings": d.findings.to_dict(), "tables": tables}
        structured["judgment"] = None if d.judgment is None else asdict(d.judgment)
        structured["answer"] = None if d.answer is None else d.answer.to_dict()
        return {
            "schema_version": SCHEMA_VERSION,
            **data,
            "discovery": {**scalars, **frames, **structured},
        }

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return a result from a dict made by `to_dict`.

        Parameters
        ----------
        data : dict

        Returns
        -------
        AuditResult

        Raises
        ------
        ValueError
            If the dict has another schema version, or a part of it is not what it should be; the
            message names the place.
        """
        with placed("result"):
            result = cls._of_parts(data)
            result.to_dict(), result.to_frame(), result.without_people(), repr(result)
            return result

    @classmethod
    def _of_parts(cls, data):
        """Return the result of a dict, whose parts are checked."""
        version = data.get("schema_version")
        if version != SCHEMA_VERSION:
            raise ValueError(
                f"This is schema version {version!r}; this version of skdisc reads version "
                f"{SCHEMA_VERSION}. Read it with the skdisc that wrote it."
            )
        check_types(data, {n: kinds for n, kinds in _TYPES.items() if n in data})
        with placed("params.rule"):
            rule = data["params"].get("rule") or {}
            check_types(rule, dict.fromkeys(rule, (int, float, str, NoneType)))
            check_types({"significance": 0.05} | rule, {"significance": (int, float)})
        with placed("shared_values"):
            for values in (data.get("shared_values") or {}).values():
                hash(tuple(values))
            if any(not isinstance(v, list) for v in (data.get("shared_values") or {}).values()):
                raise ValueError("values of columns must be lists")
        d = dict(data["discovery"])
        with placed("discovery"):
            check_types(d, {n: kinds for n, kinds in _DISCOVERY_TYPES.items() if n in d})
            if not all(isinstance(note, str) for note in d["notes"]):
                raise ValueError("notes must be texts")
        with placed("discovery.findings"):
            d["findings"] = findings_from_dict(d["findings"])
            findings = d["findings"]
            findings.to_frame()
            if isinstance(findings, GroupFindings) and len(findings.keys) != len(findings):
                raise ValueError("there is not one key for each finding")
        tables = {}
        for name, table in d["tables"].items():
            with placed(f"discovery.tables.{name}"):
                tables[name] = frame_from_dict(table)
        d["tables"] = tables
        with placed("discovery.by_value"):
            d["by_value"] = {k: _pair(v) for k, v in d["by_value"].items()}
        for name in ("estimates", "excluded"):
            with placed(f"discovery.{name}"):
                d[name] = None if d[name] is None else frame_from_dict(d[name])
        judgment = d.pop("judgment", None)
        with placed("discovery.judgment"):
            d["judgment"] = None if judgment is None else Judgment(**judgment)
            if judgment is not None:
                check_types(judgment, {"verdict": str, "reason": str})
        answer = d.pop("answer", None)
        with placed("discovery.answer"):
            d["answer"] = None if answer is None else Answer.from_dict(answer)
        names = [f.name for f in fields(cls) if f.name != "discovery"]
        attributes = {"null": "", **{name: data[name] for name in names if name in data}}
        if "last_shown" in data:
            with placed("last_shown"):
                attributes["last_shown"] = cls._of_parts(data["last_shown"])
        return cls(**attributes, discovery=Discovery(**d))

    def to_json(self, indent: int | None = None) -> str:
        """Return the result as JSON text (without NaN or Infinity), the inverse of `from_json`.

        Nothing is left out: the text can hold rows of people. `without_people` returns a result
        that can be handed on.
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a result from a text made by `to_json`.

        Raises
        ------
        ValueError
            If the text is not JSON, has another schema version, or a part of it is not what it
            should be; the message names the place.
        """
        return cls.from_dict(loaded(text, "the result of a detector"))

    def __eq__(self, other):
        if not isinstance(other, AuditResult):
            return NotImplemented
        return self._timeless() == other._timeless()

    __hash__ = None

    def _timeless(self):
        data = self.to_dict()
        del data["total_time"], data["versions"]
        for name in ("shared_values", "last_shown"):
            data.pop(name, None)
        for table in data["discovery"]["tables"].values():
            if "seconds" in table["columns"]:
                table["data"][table["columns"].index("seconds")] = None
        return json.dumps(data, sort_keys=True)

    def _repr_html_(self):
        return result_to_html(self)

    def __repr__(self):
        null = f"null={self.null!r}, " if self.null else ""
        shown = self if self.last_shown is None else self.last_shown  # a repr ends up in logs
        shared = SharedValues(shown.shared_values or {})
        reason = f" ({shown.reason})" if shown.reason and shared.describe(shown.reason) else ""
        return (
            f"AuditResult({self.detector}, audited={self.audited!r}, {null}{self.verdict}{reason}: "
            f"{shown.n_found} of {shown.n_tested} tested, {self.n_queries} queries)"
        )


_STRUCTURED = {
    *("findings", "tables", "estimates", "excluded", "judgment", "answer"),
    *("candidates", "items"),  # results do not keep them
}
_DISCOVERY_FIELDS = {f.name for f in fields(Discovery)}


def _without(record, names):
    """Return the fields of a record in JSON types, without some."""
    return {
        f.name: jsonable(getattr(record, f.name)) for f in fields(record) if f.name not in names
    }
