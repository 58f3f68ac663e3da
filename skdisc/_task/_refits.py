"""Whether a disparity of a model trained here is larger than chance in training makes it.

A model is one draw of what could have been learned. Detectors that compare the decisions about
groups count its disparity if the labels show one, too, as an audit does. For all others it says
something about the people only if it is larger than that of models which were trained on rows whose
protected columns were drawn anew from their distribution given all other columns, and so had
nothing to learn from them (the conditional randomization test of Candès, Fan, Janson and Lv, 2018).
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from skdisc._blackbox._blackbox import AuditedModel
from skdisc._results._findings import CaseFindings
from skdisc._results._judgment import FOUND, NOTHING, ONLY_THE_MODEL, UNSURE, Judgment
from skdisc._task._task import Task
from skdisc._utils._run_clock import OutOfTime, clock
from skdisc._utils._warnings import ignoring

_FOR_REFITS = 0.5  # share of the time that a search leaves for models trained again


@contextmanager
def time_for_refits(detector: object, task: Task) -> Iterator[None]:
    """Keep half of the time that is left for refits, while a model that was trained is searched.

    A search takes all the time that it has, and a disparity that no refit was compared with is no
    evidence.
    """
    box = detector._audited.box
    is_trained = box is not None and box.training is not None
    compares = is_trained and not detector._resamples_training
    with task.budget.keeping(_FOR_REFITS if compares else 0.0):
        yield


def weigh_training(detector, task, result):
    """Return the result with a verdict that counts chance in training.

    `detector`: with its model. `task`: the run of the result. `result`: with a verdict about this
    one model.
    """
    box = detector._audited.box
    if box is None or box.training is None:
        return result
    try:  # searches of refits and of labels ask for the time, as that of the model does
        with clock(lambda: not task.budget.has_spent(1), lambda doing: None):
            return _weighed(detector, task, result)
    except OutOfTime as cut:
        return _out_of_time(result, f"while {cut.doing}")


def _weighed(detector, task, result):
    """Return the result of a model that was trained, with a verdict that counts chance in that."""
    if result.verdict == NOTHING and result.audited == "surrogate":
        reason = "a surrogate, which stands in for your own model, may miss a disparity"
        return _judged(result, Judgment(UNSURE, reason))
    if result.verdict != FOUND or detector._resamples_training:
        return result
    on_decisions = detector._on_decisions()
    has_labels = task.y is not None and detector._audited.labels is not None
    if on_decisions is not None and has_labels and _verdict(on_decisions, task) == FOUND:
        return _confirmed_by_labels(on_decisions, task, result)
    return _compared(detector, task, result)


def _verdict(detector, task):
    """Return the verdict of a copy of a fitted detector with other settings on the same rows."""
    run = _opened(detector, task, task.people)
    discovery = detector._remeasure(run) if task.is_audit else detector._discover(run)
    return detector._conclude(run, discovery).verdict


def _confirmed_by_labels(detector, task, result):
    """Return the result with a verdict that counts a disparity only if labels show one as well.

    `detector` compares decisions only: labels have no errors that could confirm those of a model.
    What a model does to groups on average, chance in training can make, but also columns that the
    protected ones go with: rows whose protected columns are redrawn keep both. The labels have no
    chance in training, and are tested like the decisions.
    """
    audited, label_detector = detector._audited, copy(detector)
    label_detector._audited = AuditedModel(None, "labels", audited.labels, audited.favorable)
    label_detector.model_, label_detector.audited_, label_detector.estimator = None, "labels", None
    if label_detector.output == "probability":
        label_detector.output = "decision"
    if _verdict(label_detector, task) != FOUND:
        return _judged(result, Judgment(UNSURE, ONLY_THE_MODEL))
    note = (
        "The model was trained here, which is a matter of chance. The labels show a disparity, "
        "too, so that of the model counts."
    )
    return replace(result, discovery=replace(result.discovery, notes=[*result.notes, note]))


def _compared(detector, task, result):
    """Return the result with the verdict that a comparison with refits leaves."""
    level = detector.significance
    least, n_refits = enough_for(level), detector._audited.box.n_refits
    n_refits = least if n_refits is None else n_refits
    allowed = math.floor(level * (n_refits + 1) + 1e-9) - 1  # refits with as large a statistic
    if allowed < 0:
        reason = (
            f"a model that is trained here takes n_refits >= {least} at level {level:g}, "
            f"not {n_refits}"
        )
        return _judged(result, Judgment(UNSURE, reason))
    refits = _Refits(detector, task, n_refits)
    if refits.is_late:
        return _out_of_time(result, f"before the model was trained again, {n_refits} times")
    audited = refits.audited_statistic()
    n, n_as_large, failures = _counted(refits, audited, allowed)
    if n < n_refits and n_as_large <= allowed:
        return _out_of_time(result, f"after {n} of {n_refits} models trained again")
    p = (1 + n_as_large) / (1 + n)
    row = {"statistic": [audited], "n_refits": [n], "n_as_large": [n_as_large], "p_value": [p]}
    tables = {**result.tables, "training": pd.DataFrame(row)}
    compared = (
        f"{n_as_large} of {n} models trained without the information of the protected columns have "
        f"as large a statistic: p = {p:.2g}."
    )
    notes = [*result.notes, f"The model was trained here, which is a matter of chance. {compared}"]
    if failures:
        notes.append(
            f"{len(failures)} of the {n} refits could not be measured and count as as large: "
            f"{failures[0]}"
        )
    result = replace(result, discovery=replace(result.discovery, tables=tables, notes=notes))
    if n_as_large <= allowed:
        return result
    if n_as_large - len(failures) <= allowed:
        reason = f"{len(failures)} of {n} refits could not be measured: {failures[0]}"
        return _judged(result, Judgment(UNSURE, reason.rstrip(".")))
    reason = (
        "training a model without the information of the protected columns gives as large a "
        f"statistic: p = {p:.2g}, {n} refits"
    )
    return _judged(result, Judgment(UNSURE, reason))


def enough_for(level):
    """Return the least number of refits of which none as large is significant at a level."""
    return math.ceil(1 / level - 1e-9) - 1


def _out_of_time(result, when):
    """Return the result whose comparison with refits the time budget ended."""
    reason = f"the time budget ended the comparison with chance in training {when}"
    return replace(_judged(result, Judgment(UNSURE, reason)), stopped_by="seconds")


def _counted(refits, audited, allowed):
    """Return the number of refits, how many have a statistic as large as audited, and errors.

    A refit that cannot be measured, for example because too few people of a group are left among
    redrawn values, counts as as large: it is no evidence that training finds less by chance.

    They end with the one that makes these more than `allowed`, whatever `n_jobs`: what further
    threads have computed by then does not count. The time budget ends them, too.
    """
    detector, task, n_refits = refits.detector, refits.task, refits.n_refits
    n, n_as_large, failures = 0, 0, []
    n_jobs = detector._audited.box.n_jobs
    threads = Parallel(n_jobs=n_jobs, prefer="threads")
    with ignoring(ConvergenceWarning):  # it has been given the first time
        while n < n_refits and n_as_large <= allowed and not refits.is_late:
            last = min(n + effective_n_jobs(n_jobs), n_refits)
            for statistic in threads(delayed(refits.statistic)(i) for i in range(n, last)):
                if n_as_large > allowed:
                    break
                if isinstance(statistic, ValueError):
                    failures.append(str(statistic))
                    n_as_large += 1
                else:
                    n_as_large += not audited > statistic
                n += 1
            seconds = task.budget.elapsed
            task.progress(f"{n} of {n_refits} models trained again, {seconds:.0f} s")
    return n, n_as_large, failures


class _Refits:
    """Models trained on redrawn rows, and their statistics, within the time of the call.

    With a time budget the model under audit and all refits are searched for equal times, which
    divide what is left when the first one has been trained.
    """

    def __init__(self, detector, task, n_refits):
        self.detector, self.task, self.n_refits = detector, task, n_refits
        self._first = self._each = None
        self._seed = int(detector._seeds[0])
        if self.is_late:
            return
        self._redrawn = detector._audited.box.training.redrawn(detector.protected_, self._seed)
        if task.budget.max_seconds is not None and not self.is_late:
            started = time.perf_counter()
            with ignoring(ConvergenceWarning):
                self._first = self._trained(0)
            training = (n_refits - 1) * (time.perf_counter() - started)
            self._each = max(task.budget.seconds_left - training, 0.0) / (n_refits + 1)

    @property
    def is_late(self):
        """Whether the time budget has been spent, or would be before a model is searched."""
        return self.task.budget.has_spent(1) or self._each == 0.0

    def audited_statistic(self):
        """Return the statistic of the model under audit."""
        return self._measured(self.detector, self.task.people)

    def statistic(self, number):
        """Return the statistic of the refit of this number, or an error."""
        is_known = number == 0 and self._first is not None
        audited, rows = self._first if is_known else self._trained(number)
        detector, people = copy(self.detector), self.task.people
        detector._audited, detector.model_ = audited, audited.box
        trained = self.detector._audited.box.training.rows
        if people.sample is not None and len(people.sample.drawn) == len(rows):
            rows, trained = rows[people.sample.drawn], trained[people.sample.drawn]
        if _are_equal(people.X, trained):  # they are under audit with the values trained on
            people = replace(people, X=rows.set_axis(people.X.index))
        try:
            return self._measured(detector, people)
        except ValueError as error:
            return error

    def _trained(self, number):
        """Return the model trained on the redrawn rows of this number, and these."""
        rows = self._redrawn.draw([self._seed, number])
        return self.detector._audited.retrained(rows), rows

    def _measured(self, detector, people):
        run = _opened(detector, self.task, people)
        if self._each is not None:
            run.budget.renew(self._each)
        return detector._statistic(run)


def evidence(discovery):
    """Return how strong the evidence of a Discovery is: -log10 of its smallest p-value.

    Effects order what p-values of 0 do not. Without p-values it is the share of cases.
    """
    frame = discovery.findings.table
    if isinstance(discovery.findings, CaseFindings):
        frames = [discovery.tables[n] for n in ("gaps", "effects") if n in discovery.tables]
        frame = frames[0] if frames else frame
    if "p_value" not in frame:
        return discovery.n_found / max(discovery.n_tested, 1)
    p, tiny, largest = frame["p_value"].min(), np.finfo(float).tiny, 0.0
    if not p <= 1:  # there is none
        return 0.0
    if p < tiny and "effect" in frame:
        largest = frame["effect"].abs().max()
    return float(largest - np.log10(max(p, tiny)))


def _opened(detector, task, people):
    return Task.open(detector, people, is_audit=task.is_audit)


def _are_equal(X, rows):
    """Return True if these are the same rows, whatever their index."""
    return X is not None and len(X) == len(rows) and X.equals(rows.set_axis(X.index))


def _judged(result, judgment):
    discovery = replace(result.discovery, judgment=judgment).in_agreement()
    return replace(result, discovery=discovery)
