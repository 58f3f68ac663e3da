"""The plan of an audit: which detectors run, and which of them answers which question."""

import inspect
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from skdisc._registry import all_detectors
from skdisc._space._bins import Bins
from skdisc._task._limits import Limits
from skdisc._utils._inputs import without_index
from skdisc._utils._json import jsonable
from skdisc._utils._published_names import meant_by
from skdisc._utils._validation import closest, takes_gaps
from skdisc._verdicts._relevant import PROBABILITY
from skdisc.auditing._audited_rows import TRAINED
from skdisc.auditing._numbers import VALUE
from skdisc.auditing._pay._templates import OF_RATES

LEAD, CORROBORATES, FACTS, DESCRIBES = "lead", "corroborates", "facts", "describes"
NULL_ORDER = ("marginal", "contextual", "conditional", "calibration", "counterfactual")
_BY_ATTRIBUTE = {"GroupDisparity", "DivExplorer", "DisparityPursuit", "Themis"}
_FIRST = ("GroupDisparity", "DivExplorer", "DisparityPursuit", "CounterfactualFairness", "Themis")
_AUTO = ("GroupDisparity", "DivExplorer", "DisparityPursuit", "Themis")
PUBLIC_DETECTORS = ("GroupDisparity", "DivExplorer")  # of numbers that are sums over groups
_ALL = 1000  # groups that a lead lists, so that all shadows are known
_TRAINING_WEIGHT = 0.25  # share of the level for the one question on a model trained here
_ERRORS = ("equal_opportunity", "balance_negative_class")


@dataclass(frozen=True)
class AuditStep:
    """One run of a detector.

    Parameters
    ----------
    name : str
        Unique among the steps.
    attribute : str
        Protected column that it is about; several are joined by commas.
    null : str
        The null hypothesis, a key of `NULLS`.
    role : {"lead", "corroborates", "facts", "describes"}
        A lead answers its question; facts have no sampling error; what describes shows rates of
        groups, and says nothing about a question.
    settings : dict
        Parameters of the detector.
    on : {"given", "labels", "model"}
        Whether it audits what was given, the labels that a model was trained on, or queries the
        model.
    n_refits : int, optional
        Models that one which was trained here is compared with.
    """

    name: str
    detector: str
    attribute: str
    protected: list
    null: str
    role: str
    settings: dict = field(default_factory=dict)
    on: str = "given"
    n_refits: int | None = None

    def build(self):
        """Return the detector, not fitted."""
        return all_detectors()[self.detector](protected=self.protected, **self.settings)

    def to_dict(self):
        """Return the step as a dict of JSON types."""
        fields = asdict(self)
        return {n: jsonable(fields[n]) for n in ("name", "detector", "attribute", "null", "role")}


@dataclass
class Plan:
    """The steps of an audit.

    Parameters
    ----------
    steps : list of AuditStep
        In the order in which they run.
    not_run : list of dict
        Detectors left out, each with the reason.
    weights : dict of (str, str) to float
        Share of the level of each cell: a pair of attribute and null. They add up to 1.
    """

    steps: list
    not_run: list
    weights: dict

    def leads_of(self, cell):
        """Return the leading steps of a cell, a pair of attribute and null."""
        return [s for s in self.steps if s.role == LEAD and (s.attribute, s.null) == cell]


def make_plan(audit, audited):
    """Return the Plan of an `Audit` for what was given."""
    requested, is_named = _requested_detectors(audit.detectors)
    _check_settings(audit.settings or {})
    able, not_run = _able(audit, audited, requested, is_named)
    steps, leads = [], _leads(able)
    for name in able:
        steps += _steps_of(audit, audited, name, leads)
    steps.sort(key=lambda s: (s.role == CORROBORATES, s.on == "model"))
    return Plan(steps, not_run, _weights(steps))


def _requested_detectors(detectors):
    """Return the names asked for, leads first, and whether each was named."""
    available = all_detectors()
    if isinstance(detectors, str) and detectors in ("auto", "all"):
        names, is_named = (_AUTO if detectors == "auto" else available), False
    else:
        names, is_named = [detectors] if isinstance(detectors, str) else list(detectors), True
    unknown = [n for n in names if n not in available]
    if unknown:
        raise ValueError(
            f"There is no detector {unknown[0]!r}{closest(unknown[0], available)} detectors= takes "
            f"'auto', 'all', or some of: {', '.join(available)}."
        )
    place = {n: i for i, n in enumerate(_FIRST)}
    return sorted(dict.fromkeys(names), key=lambda n: place.get(n, len(place))), is_named


def _check_settings(settings):
    """Raise ValueError if a setting is one of no detector."""
    detectors = all_detectors()
    parameters = {n for d in detectors.values() for n in inspect.signature(d).parameters}
    unknown = [n for n in settings if n not in detectors and n not in parameters]
    if unknown:
        suggestion = meant_by(unknown[0], [*detectors, *parameters])
        raise ValueError(f"settings={settings!r}: no detector has {unknown[0]!r}{suggestion}")
    for name in settings.keys() & {"rule", "limits"}:
        raise ValueError(
            f"settings has {name}={settings[name]!r}, for all detectors: pass it to Audit itself, "
            f"as {name}="
        )


def _able(audit, audited, names, is_named):
    """Return the detectors that can run, and the reasons for leaving out others."""
    detectors, able, not_run = all_detectors(), [], []
    if audited.choice is not None:
        names, not_run = _public(names, audited.choice)
    gaps = [c for c in audited.X if c not in audited.protected and audited.X[c].isna().any()]
    for name in names:
        reason, remedy = _unable(audit, audited, detectors[name])
        reason = reason or ("" if is_named else _unasked(audited, detectors[name], gaps))
        if not reason:
            reason, remedy = _cannot_count(audited, detectors[name]), ""
        if reason and is_named:
            raise ValueError(f"{name} {reason}{remedy}.")
        if reason:
            not_run.append({"detector": name, "reason": reason})
        else:
            able.append(name)
    return able, not_run


def _unable(audit, audited, detector):
    """Return why a detector cannot run, and what to do about it; two empty texts if it can."""
    if audited.numbers is not None and not _compares_numbers(detector):
        able = ", ".join(n for n, d in all_detectors().items() if _compares_numbers(d))
        reason = "compares decisions, and the outcomes are numbers"
        return reason, f". Those that compare numbers: {able}"
    if detector._asks and not audited.can_ask:
        reason = "queries a model with new rows, and there is none"
        return reason, ": pass model=, or estimator="
    if not _can_read(audit, audited, detector):
        reason = "needs the rows of people, and there are only counts"
        return reason, ": pass the table, not its counts"
    if "worlds" in detector._needs and audit.counterfactuals is None:
        return "needs a causal model or counterfactual rows: pass counterfactuals=", ""
    if "outcomes" in detector._needs and not _has_outcomes(audited):
        reason = "needs decisions, and the outcomes y of the people selected"
        return reason, ": pass y and model=BlackBox(decisions=...)"
    if "places" in detector._needs and not _settings(audit, audited, detector).get("place"):
        return "needs the column of places: pass settings={'place': COLUMN}", ""
    return "", ""


def _unasked(audited, detector, gaps):
    """Return why a detector runs only if it is named; "" if it runs with all others."""
    if "arrivals" in detector._needs:
        return "watches decisions as they arrive, and an audit looks once at one table"
    if "scores" in detector._needs and not audited.can_ask:
        return "orders people by scores, and there are only labels or decisions"
    if gaps and not takes_gaps(detector()):
        return f"needs complete columns, and values are missing in {', '.join(gaps)}"
    return ""


def _cannot_count(audited, detector):
    """Return why a detector would take rows for one independent person each, "" if it does not.

    What is found about single people is a fact about rows, whatever they stand for.
    """
    takes = inspect.signature(detector.fit).parameters
    if detector.card.finds == "individual" and _null(detector) == "individual":
        return ""
    n_clusters = len(audited.X) if audited.groups is None else len(np.unique(audited.groups))
    if n_clusters < len(audited.X) and "groups" not in takes:
        return "takes no clusters, and would count rows as independent: pass a row of each cluster"
    is_weighted = audited.weight is not None and np.ptp(audited.weight) > 0
    if is_weighted and "sample_weight" not in takes:
        return "takes no sample weights, and would count all rows alike"
    return ""


def _compares_numbers(detector):
    """Return whether a detector compares numbers in y."""
    allowed = detector._parameter_constraints.get("output", [])
    is_of_rows = any("value" in getattr(one, "options", ()) for one in allowed)
    return is_of_rows and not {"worlds", "scores"} & set(detector._needs)


def _public(names, choice):
    """Return the detectors that a public document may have, and the reasons for leaving out others.

    Those of numbers that are sums over groups, and in contexts only if these are chosen, too.
    """
    reasons = {
        n: "its numbers are no sums over groups, so that a public document has none of them"
        for n in names
        if n not in PUBLIC_DETECTORS
    }
    if not choice.depth and "DivExplorer" in names:
        reasons["DivExplorer"] = (
            "to choose which groups within contexts of so many columns may be public would take "
            "too long"
        )
    left_out = [{"detector": n, "reason": reason} for n, reason in reasons.items()]
    return [n for n in names if n not in reasons], left_out


def _has_outcomes(audited):
    """Return whether there are labels, and decisions that did not come from them."""
    is_beside = audited.box is not None and audited.y is not None and audited.numbers is None
    return is_beside and audited.kind != TRAINED


def _can_read(audit, audited, detector):
    """Return False for a detector that needs rows, if only their counts are there."""
    if audited.table is None or audited.table.rows is not None:
        return True
    settings = _settings(audit, audited, detector)
    return detector(protected=audited.protected, **settings)._counts_rows


def _leads(names):
    """Return the detectors that lead, one for each null hypothesis.

    Calibration is a question of its own to GroupDisparity. That a linear model leaves something is
    no answer about protected columns, so it leads none.
    """
    detectors, leads = all_detectors(), {}
    for name in names:
        leads.setdefault(_null(detectors[name]), name)
    return {name for null, name in leads.items() if null not in ("calibration", "linear")}


def _null(detector):
    """Return the null hypothesis of a detector with protected columns."""
    null = detector.null if isinstance(detector.null, str) else detector(protected=["a"]).null
    return "contextual" if null == "everyone" else null


def _steps_of(audit, audited, name, leads):
    """Return the steps of one detector: for each protected column if it leads, else for all."""
    detector = all_detectors()[name]
    null, is_lead = _null(detector), name in leads
    settings = _settings(audit, audited, detector)
    if is_lead and null == "individual" and audited.kind == TRAINED:
        attribute = ", ".join(map(str, audited.protected))
        return [AuditStep(name, name, attribute, audited.protected, null, LEAD, settings, "model")]
    role = (FACTS if null == "individual" else LEAD) if is_lead else CORROBORATES
    on = "model" if detector._asks else "given"
    columns = [[c] for c in audited.protected] if is_lead and name in _BY_ATTRIBUTE else []
    steps = []
    for several in columns or [audited.protected]:
        attribute = ", ".join(map(str, several))
        label = f"{name} {attribute}" if columns else name
        step_settings = settings | _legitimate(settings, several)
        step = AuditStep(label, name, attribute, several, null, role, step_settings, on)
        steps += _questions(step, audited, audit.template) if name == "GroupDisparity" else [step]
        if role == LEAD and audited.kind == TRAINED and on == "given":
            steps.append(replace(step, name=f"{label} (labels)", on="labels"))
            steps += _errors(step, audited)
    if name == "GroupDisparity" and is_lead and audit.template in OF_RATES and len(columns) > 1:
        crossed = replace(
            steps[0],
            name=f"{name} (intersections)",
            attribute=", ".join(map(str, audited.protected)),
            protected=audited.protected,
            role=CORROBORATES,
            settings=steps[0].settings | {"intersections": 2},
        )
        steps.append(crossed)
    return steps


def _legitimate(settings, protected):
    """Return the legitimate columns of a step, if they are listed: those it does not ask about."""
    listed = settings.get("adjust_for")
    if listed is None or isinstance(listed, str):
        return {}
    legitimate = [c for c in listed if c not in protected]
    if not legitimate:
        raise ValueError(
            f"adjust_for={listed!r} names no column but those that are asked about: {protected!r}. "
            "Name legitimate columns, which decisions may depend on, or leave it out: all others."
        )
    return {"adjust_for": legitimate}


def _questions(step, audited, template):
    """Return the steps of GroupDisparity: rates, and calibration where labels are known."""
    numbers, has_outcomes = audited.numbers, _has_outcomes(audited)
    measures = ["mean_difference"]
    if numbers is None:
        measures.append("impact_ratio")
    if has_outcomes:
        measures += _ERRORS
    settings = step.settings | {"measures": measures}
    if template in OF_RATES:
        del settings["reference"]
        settings["preset"] = template
    if step.role != LEAD:
        return [replace(step, settings=settings)]
    settings["intersections"] = 1
    steps = [replace(step, settings=settings)]
    of_calibration = {"measures": ["predictive_parity"]}
    is_scored = numbers is not None and numbers.is_of_labels and audited.y is not None
    if is_scored:
        of_calibration = {"measures": ["calibration_difference"], "output": PROBABILITY}
        of_calibration["pos_label"] = audited.favorable
    if has_outcomes or is_scored:
        name = f"{step.name} (calibration)"
        steps.append(
            replace(step, name=name, null="calibration", settings=settings | of_calibration)
        )
    return steps


def _errors(step, audited):
    """Return the step that shows rates of errors of a model that was trained here.

    They are no question of the audit, because labels have no errors that could confirm them.
    """
    if step.detector != "GroupDisparity" or audited.y is None:
        return []
    step_settings = step.settings | {"measures": list(_ERRORS), "intersections": 1}
    return [replace(step, name=f"{step.name} (errors)", role=DESCRIBES, settings=step_settings)]


def _settings(audit, audited, detector):
    """Return the parameters of a detector that the audit sets."""
    rule = audit._rule_in_force
    if audited.numbers is not None:
        rule = audited.numbers.rule(rule, audited.people_of_rows)
    common = {
        "rule": rule.only(detector.rule_fields),
        "limits": _limits(audit, detector),
        "n_bins": Bins.of(audit.n_bins) if isinstance(audit.n_bins, dict) else audit.n_bins,
        "confirm": audit.confirm,
        "weights": audit.weights,
        "missing": audit.missing,
        "adjust_for": audit.adjust_for,
        "counterfactuals": without_index(audited.counterfactuals),  # as the rows under audit
        "random_state": audit.random_state,
        "n_jobs": audit.n_jobs,
    }
    if detector.card.finds == "group":
        common |= {"reference": "rest"}
    elif detector.card.finds == "subgroup":
        common |= {"max_predicates": audit.max_predicates, "k": _ALL}
        common |= _metric(audit.metric, detector) if audited.numbers is None else {}
        common.pop("weights" if detector.__name__ == "FACTS" else "reference", None)
    if audited.numbers is None:
        common["pos_label"] = audited.favorable if detector._asks else 1
    else:
        common["output"] = VALUE
    detectors, extra = all_detectors(), audit.settings or {}
    common |= {n: v for n, v in extra.items() if n not in detectors}
    parameters = inspect.signature(detector).parameters
    if "adjust_for" in parameters and parameters["adjust_for"].default is None:
        del common["adjust_for"]  # its question is about groups as they are
    chosen = {n: v for n, v in common.items() if n in parameters and n != "protected"}
    own_settings = dict(extra.get(detector.__name__, {}))
    for name in chosen.keys() & {"rule", "limits"}:
        fields = own_settings.pop(name, {})
        if not isinstance(fields, dict):
            raise ValueError(
                f"settings[{detector.__name__!r}] has {name}={fields!r}; give a dict of the fields "
                f"that differ from those of the audit's {name}."
            )
        chosen[name] = chosen[name].but(**fields)
    return chosen | own_settings


def _limits(audit, detector):
    """Return the limits of a detector; its time limit is set when it begins."""
    limits = Limits() if audit.limits is None else audit.limits
    return limits.only(detector.limit_fields.keys() - {"seconds"})


def _metric(metric, detector):
    """Return the rates that a detector of subgroups compares."""
    several = [metric] if isinstance(metric, str) else list(metric)
    if "array-like" in detector._parameter_constraints.get("metric", ["array-like"]):
        return {"metric": metric}
    return {} if several == ["all"] else {"metric": several[0]}


def _weights(steps):
    """Return the share of the level of each cell."""
    cells = list(dict.fromkeys((s.attribute, s.null) for s in steps if s.role == LEAD))
    cells.sort(key=lambda c: c[1] == "individual")
    trained = [c for c in cells if c[1] == "individual"]
    if not trained or len(cells) == len(trained):
        return {c: 1 / len(cells) for c in cells}
    rest = (1 - _TRAINING_WEIGHT) / (len(cells) - 1)
    return {c: _TRAINING_WEIGHT if c in trained else rest for c in cells}
