"""The state of a monitor: begun by its settings, kept as JSON."""

import json
from types import NoneType
from typing import Any

import numpy as np

from skdisc import __version__
from skdisc._blackbox._blackbox import AuditedModel
from skdisc._utils._json import check_types, jsonable, loaded, placed, settings
from skdisc._utils._validation import check_names, check_protected, is_number
from skdisc._verdicts._rule import Rule
from skdisc.monitoring._stream import Stream, StreamRules, check_bounds

_VERSION = 2
_ABOUT = (
    "Data about people, not a document: it has the outcomes of groups of any size, and of single "
    "people where groups or strata are as small. Keep it as you keep the rows."
)
_TYPES = {  # of a state
    "version": int,
    "settings": dict,
    "columns": list,
    "protected": list,
    "favorable": list,
    "labels": (list, NoneType),
    "stream": dict,
}
_GONE = ("max_queries", "n_refits", "memory")  # settings of monitors that were kept earlier
_NOT_KEPT = ("estimator", "n_jobs", "verbose", "subgroups", "random_state")


def new_stream(monitor: Any) -> Stream:
    """Return the stream that the settings of a monitor describe, without people.

    Raises
    ------
    ValueError
        If there is no protected column, or a setting is not allowed.
    """
    m, gaps = monitor, list(monitor.gaps)
    if not m.protected_:
        raise ValueError("DisparityMonitor needs protected=[...]: the columns to compare by.")
    if not gaps or not all(is_number(g) and 0 < g < 1 for g in gaps):
        raise ValueError(f"gaps must be numbers between 0 and 1, got {m.gaps!r}.")
    bounds = bounds_of(m)
    strata = check_protected(m.strata, m._columns, "strata")
    if twice := [c for c in strata or [] if c in m.protected_]:
        raise ValueError(f"strata names {twice[0]!r}, which is protected: within it all are alike.")
    rules = StreamRules(
        m.protected_,
        strata,
        m.intersections,
        gaps,
        m.output != "decision",
        float(m.run_length),
        int(m._seeds[0]),
        bounds,
    )
    if m.subgroups is None:
        return Stream(rules)
    findings = getattr(m.subgroups, "findings", None)
    groups = m.subgroups if findings is None else findings.subgroups
    return Stream.of_groups(rules, list(dict.fromkeys(groups)))


def bounds_of(monitor: Any) -> list[float] | None:
    """Return the bounds of numbers, or None for decisions and probabilities.

    Raises
    ------
    ValueError
        If a setting does not go with what is compared.
    """
    m = monitor
    if m.output != "value":
        if m.bounds is not None:
            raise ValueError(
                f"bounds={m.bounds!r} are those of numbers, and output={m.output!r} has 0 and 1: "
                "leave bounds out, or set output='value'."
            )
        return None
    if m.metric != "selection_rate":
        raise ValueError(
            f"metric={m.metric!r} is a rate of decisions, and output='value' compares means: "
            "leave metric out."
        )
    if m.bounds is None:
        raise ValueError(
            "output='value' needs bounds=(low, high), such as (0, 15000) for pay per month: no "
            "test of numbers without bounds keeps its level at all times, because a single one may "
            "move a mean by any amount. Numbers beyond the bounds count as the bound."
        )
    return check_bounds(m.bounds)


def to_json(monitor: Any, stream: Stream) -> str:
    """Return the state of a monitor, which says that it is data about people."""
    state = {
        "about": _ABOUT,
        "skdisc": __version__,
        "version": _VERSION,
        "settings": _settings(monitor),
        "columns": jsonable(list(monitor._columns)),
        "protected": jsonable(monitor.protected_),
        "favorable": jsonable(monitor.pos_label_),
        "labels": jsonable(monitor._audited.labels),
        "batches": list(getattr(monitor, "batches_", [])),
        "stream": stream.to_dict(),
    }
    return json.dumps(state, indent=1, allow_nan=False)


def _settings(monitor):
    """Return the parameters that a state keeps, in JSON types."""
    rule = None if monitor.rule is None else monitor.rule.to_dict()
    return settings(monitor.get_params(deep=False) | {"rule": rule}, but=_NOT_KEPT)


def _of_version_1(state):
    """Return a state of version 1 as one of this version.

    Its wealths go on, for to start anew would spend the level twice. The gap that it took for
    relevant, as a difference of rates, stays the same.
    """
    settings = dict(state["settings"])
    fields = {n: settings.pop(n) for n in ("significance", "relevant_gap", "relevant_ratio")}
    fixed = {"relevant_gap": fields["relevant_gap"]}
    parts = {"settings": settings | {"rule": fields}, "stream": state["stream"] | fixed}
    return state | {"version": _VERSION} | parts


def from_json(cls: type, text: str) -> tuple[Any, Stream]:
    """Return a monitor without result, and its stream, from a state.

    Raises
    ------
    ValueError
        If the text is not the state of a monitor.
    """
    state = loaded(text, "the state of a DisparityMonitor")
    try:
        check_types(state, _TYPES)
        is_old = state["version"] == 1
        if is_old:
            state = _of_version_1(state)
        if state["version"] != _VERSION:
            raise ValueError(f"it has version {state['version']!r}, not 1 or {_VERSION}")
        settings = {n: v for n, v in state["settings"].items() if n not in _GONE}
        settings["rule"] = None if settings["rule"] is None else Rule(**settings["rule"])
        monitor = cls(**settings)
        with placed("stream"):
            stream = Stream.from_dict(state["stream"])
            stream.check()
            if stream.rules.protected != state["protected"]:
                raise ValueError("its protected columns are others")
            check_names("protected", state["protected"], state["columns"])
            for wealth in stream.groups:
                for side in (wealth.group, wealth.context):
                    named = [p.column for p in side.predicates]
                    check_names("groups", named, state["columns"])
            check_names("strata", stream.rules.strata, state["columns"])
        monitor._validate_params()
        monitor._check_rule()
        if is_old:
            stream.judge(monitor.relevant_size)
        monitor._columns, monitor.protected_ = list(state["columns"]), list(state["protected"])
        monitor.batches_ = list(map(str, state.get("batches", [])))
        monitor._audited = AuditedModel(
            None, "decisions", state["labels"], list(state["favorable"])
        )
    except KeyError as error:
        raise ValueError(
            f"This is not the state of a DisparityMonitor: no {error} in it."
        ) from error
    except (ValueError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"This is not the state of a DisparityMonitor: {error}") from error
    if not stream.is_open:
        monitor.subgroups = [w.group for w in stream.groups]
    monitor._seeds = np.full(4, stream.rules.seed)
    monitor.n_features_in_, monitor.space_ = len(monitor._columns), None
    return monitor, stream
