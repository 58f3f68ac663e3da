"""Running the steps of a plan: progress, shared time, interruption and resumption."""

import inspect
import json
import math
import sys
import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import joblib
import numpy as np
from sklearn.utils import check_random_state

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._model_input import without_message
from skdisc._counts._counted_table import rows_to_draw
from skdisc._results._audit_result import AuditResult
from skdisc._results._judgment import FOUND
from skdisc._space._bins import Bins
from skdisc._task._task import Request
from skdisc._utils._files import warn_of_cache, write_text
from skdisc._utils._interruption import release
from skdisc._utils._run_clock import OutOfTime, clock
from skdisc._utils._safe_text import clean
from skdisc.auditing._cells import refits_needed
from skdisc.auditing._disclosure import asks_about_errors
from skdisc.auditing._fingerprints import code_fingerprint
from skdisc.auditing._plan import FACTS, LEAD, PUBLIC_DETECTORS, TRAINED
from skdisc.exceptions import ModelError


class Run:
    """The results of the steps that ran.

    `started`: when the audit began, by `time.perf_counter`: reading rows and training a model take
    of its time. By default now. `not_run`: detectors without a result, each with the reason.
    """

    def __init__(self, audit, audited, plan, started=None):
        self.audit, self.audited, self.plan = audit, audited, plan
        self.results, self.not_run = {}, list(plan.not_run)
        self.interrupted = False
        self._start = time.perf_counter() if started is None else started
        self._folder = None if audit.cache is None else Path(audit.cache)
        self._data = None
        if self._folder is not None:
            if self._folder.is_file():
                raise ValueError(f"cache={str(self._folder)!r} is a file; it must be a folder.")
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                warn_of_cache(self._folder, f"cannot be used ({error.strerror})")
                self._folder = None
        if self._folder is not None:
            hashed = [audited.X, audited.original, audited.y, audited.weight, audited.groups]
            hashed.append(audited.frequency)
            if audited.numbers is not None:
                hashed.append(audited.numbers.compared)
            hashed.append(None if audited.box is None else audited.outcomes)
            self._data = joblib.hash(hashed)

    @cached_property
    def _model(self):
        """A hash of the model and of what it was trained on; None if it has none."""
        box = self.audited.box
        try:
            return joblib.hash([box.model, vars(box.training) if box.training else None])
        except Exception:  # what cannot be pickled, such as a function of the user
            return None

    @property
    def seconds(self):
        """Seconds since the start."""
        return time.perf_counter() - self._start

    def go(self):
        """Run all steps, until there are none, the time is spent, or the user interrupts."""
        try:
            release()
            for i, step in enumerate(self.plan.steps):
                self._one(i, step)
        except KeyboardInterrupt:
            self.interrupted = True
        return self

    def _one(self, i, step):
        """Run one step, unless its result is known or not needed."""
        budget, n_left = self.audit._limit("seconds"), len(self.plan.steps) - i
        if step.on == "labels" and not self._may_matter(step):
            return
        if not self._looks_at_some_group(step):
            self._leave_out(step, "none of its groups is looked at, to protect people")
            return
        step = self._sized(step)
        stored = self._stored(step)
        stored_result = None if stored is None else _read_result(stored)
        if stored_result is not None:
            self.results[step.name] = stored_result
            return
        if budget is not None and self.seconds >= budget:
            self._leave_out(step, f"the time budget of {budget:g} s was spent")
            return
        self._tell(f"{i + 1} of {len(self.plan.steps)}: {step.name}, {self.seconds:.0f} s")
        limit = None if budget is None else (budget - self.seconds) / n_left
        end = None if limit is None else self.seconds + limit
        try:
            with clock(lambda: end is None or self.seconds < end, lambda text: None):
                result = self._fitted(step, limit)
        except OutOfTime as cut:  # beyond the search, which has an answer of its own
            self._leave_out(step, f"the time budget of {budget:g} s ended while {cut.doing}")
            return
        except ModelError as error:
            if not self.results:
                raise
            self._leave_out(step, without_message(error))
            return
        except (ValueError, TypeError) as error:
            if step.role in (LEAD, FACTS):
                raise
            self._leave_out(step, str(error))
            return
        self.results[step.name] = result
        if stored is not None and result.stopped_by is None:
            try:
                write_text(stored, json.dumps(result.to_dict(), allow_nan=False))
            except (OSError, ValueError) as error:  # full, or read-only
                warn_of_cache(stored, f"was not written ({error})")

    def _sized(self, step):
        """Return the step with as many refits as its verdict takes."""
        if step.role != LEAD or step.null != "individual" or self.audited.kind != TRAINED:
            return step
        n_refits = self.audited.box.n_refits
        if n_refits is None:
            cell, level = (step.attribute, step.null), self.audit.significance
            n_refits = refits_needed(self.plan, self.results, level, cell)
        return replace(step, n_refits=n_refits)

    def _looks_at_some_group(self, step):
        """Return False if a public document looks at no group of the columns of a step."""
        choice, X = self.audited.choice, self.audited.X
        if choice is None:
            return True
        masks = [(X[c] == v).to_numpy() for c in step.protected for v in X[c].unique()]
        return bool(choice.looks_at(np.array(masks), errors=asks_about_errors(step)).any())

    def _may_matter(self, step):
        """Return True if the same test of the model's decisions finds something."""
        first = self.results.get(step.name.removesuffix(" (labels)"))
        return first is not None and first.verdict == FOUND

    def _fitted(self, step, limit):
        """Return the result of a step."""
        detector, audited = step.build(), self.audited
        if step.detector == "GroupDisparity":
            detector._min_cell = self.audit.min_cell  # what is hidden is no standard for others
        if step.detector in PUBLIC_DETECTORS:
            detector._choice = audited.choice
        if self.needs_rows(step):
            audited = self.sample
            if Bins in detector._parameter_constraints.get("n_bins", ()):
                detector.set_params(n_bins=audited.bins)
        if limit is not None and "seconds" in detector.limit_fields:
            seconds = min(limit, detector._limit("seconds") or math.inf)
            detector.limits = detector.limits.but(seconds=seconds)
        detector.verbose = self.audit.verbose  # training models again takes long in any detector
        X, box, y = audited.X, audited.decided, audited.labels
        # Whether scores mean the same is asked about the model and the labels.
        is_of_scores = audited.numbers is not None and step.null == "calibration"
        if step.on == "model" or is_of_scores:
            X = X if audited.original is None else audited.original
            X, box, y = X if audited.is_frame else X.to_numpy(), audited.box, audited.y
            if step.n_refits is not None:
                box = BlackBox(box, chunk_size=box.chunk_size, n_refits=step.n_refits)
        offered = {"sample_weight": audited.weight, "groups": audited.groups}
        takes = inspect.signature(detector.fit).parameters
        extra = {n: v for n, v in offered.items() if v is not None and n in takes}
        box = None if step.on == "labels" else box
        if audited.frequency is None and audited.sample is None:
            return detector.fit(X, y, box, **extra).result_
        return detector._fit(_request(detector, audited, X, y, box)).result_

    def needs_rows(self, step):
        """Return True if a step needs rows where a table was counted."""
        return self.audited.table is not None and not step.build()._counts_rows

    @cached_property
    def sample(self):
        """The rows for detectors that need them: a sample of the table that was counted."""
        n = rows_to_draw(self.audit, lambda: self.audited.table.n_people)
        return self.audited.sampled(n, check_random_state(self.audit.random_state).randint(2**31))

    def _stored(self, step):
        """Return the file of a step's result, or None without a folder."""
        if self._folder is None:
            return None
        settings = {k: v for k, v in step.settings.items() if k != "n_jobs"}
        # The version alone would bring back what other code of the same version concluded.
        hashed = [self._data, step.to_dict(), step.on, step.protected, settings, step.n_refits]
        hashed.append(code_fingerprint())
        if step.detector == "GroupDisparity":
            hashed.append(self.audit.min_cell)
        if self.audited.choice is not None:
            hashed += [self.audit.disclosure, self.audited.choice.fingerprint]
        if step.on == "model":
            hashed.append(self._model)
            if self._model is None:
                return None
        key = joblib.hash(hashed)
        return self._folder / f"{step.detector}-{key}.json"

    def _leave_out(self, step, reason):
        self.not_run.append({"detector": step.name, "reason": reason})

    def _tell(self, text):
        if self.audit.verbose:
            sys.stderr.write(f"Audit: {clean(text)}\n")
            sys.stderr.flush()


def _read_result(path):
    """Return the result in a file of the cache; None without one, or if it is damaged."""
    if not path.is_file():
        return None
    try:
        return AuditResult.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        warn_of_cache(path, f"cannot be read, and its detector runs again ({error})")
        return None


def _request(detector, audited, X, y, box):
    """Return the request of a step about counted rows, or about a sample of rows."""
    if audited.frequency is None:
        return Request(X, y, box, sample=audited.sample)
    if detector._counts_rows and audited.groups is None:
        return Request(
            X, y, box, frequency=audited.frequency, bins=audited.bins, sample=audited.sample
        )
    return Request(X, y, box, audited.frequency, audited.groups).repeated()
