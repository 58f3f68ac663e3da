"""SliceDetector: what the detectors of slices, groups with more errors, share."""

import math
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from skdisc._results._audit_result import Discovery
from skdisc._results._findings import GroupFindings
from skdisc._space._items import count_values
from skdisc._space._subgroup import Subgroup
from skdisc.base import WeightedMixin
from skdisc.subgroup._base import N_BINS, SubgroupDetector
from skdisc.subgroup._estimation import _scored
from skdisc.subgroup._estimation._confirmation import confirmed, put_beside
from skdisc.subgroup._estimation._scored import Scored
from skdisc.subgroup._estimation._single_groups import excluded_groups, largest

ERRORS = ("error", "fp", "fn", "loss", "unfavourable")
_NAMES = {"metric": "measure", "slice": "subject", "slice_size": "support"}


class SliceDetector(WeightedMixin, SubgroupDetector):
    """Base of the detectors of slices: groups of rows on which a model errs more than overall."""

    _takes_trees = True
    _parameter_constraints = {
        **SubgroupDetector._parameter_constraints,
        "errors": [str, callable, "array-like"],
        "min_support": [Interval(Real, 0, 1, closed="right")],
        "min_rows": [Interval(Integral, 1, None, closed="left")],
        "n_bins": N_BINS,
        "confirm": [Interval(Real, 0, 1, closed="neither"), None],
        "relevant_gap": [Interval(Real, 0, None, closed="neither")],
    }
    _aliases = {**_NAMES, "slice_average_error": "outcome"}

    @property
    def output(self):
        """What the model is asked for: probabilities where a loss is wanted."""
        return "probability" if "loss" in self._kinds() else "decision"

    def _kinds(self):
        return (
            [self.errors]
            if isinstance(self.errors, str) or callable(self.errors)
            else [*self.errors]
        )

    def _discover(self, task):
        rows = self._rows(task)
        if self.confirm is None or len(rows) < 2:
            return self._search(task, rows)
        out = task.rng.permutation(len(rows)) < self.confirm * len(rows)
        discovery, again = self._search(task, rows.at(~out)), rows.at(out)
        settings = self.significance, self.correction_
        table = _scored.measure_again(discovery.findings, again, *settings)
        n_rows = len(rows) - len(again), len(again)
        discovery = put_beside(discovery, table, self.significance, self.protected_, n_rows)
        groups = _scored.single_groups(task.memory.on(again.X), again, *settings, len(table))
        return replace(discovery, smallest_gap=largest(groups["min_detectable_gap"]))

    def _remeasure(self, task):
        rows, at_fit = self._rows(task), self.result_.findings
        table = _scored.measure_again(at_fit, rows, self.significance, self.correction_)
        again = confirmed(table, self.significance)
        groups = set(at_fit.subgroups)
        found = {g for g, yes in zip(at_fit.subgroups, again, strict=True) if yes}
        by_value = count_values(groups, found, self.protected_)
        findings = at_fit.with_table(table)
        numbers = len(groups), len(found), by_value
        return self._report(task, rows, findings, numbers, len(groups), task.memory.on(rows.X))

    @property
    def correction_(self):
        """The correction of p-values over a fixed list of groups."""
        return self.correction

    def _rows(self, task):
        """Return the rows under audit with their errors; none if the budget forbids."""
        if task.queries is not None and not task.budget.opens(len(task.X)):
            kinds = [k if isinstance(k, str) else k.__name__ for k in self._kinds()]
            return Scored(task.X.iloc[:0], np.empty((len(kinds), 0)), kinds)
        names, values = errors_of(task, self._kinds())
        return Scored.ordered(task.X, values, names, task.weight)

    def _items(self, task, rows):
        """Make the items, and keep them for other rows."""
        items = self._items_of(rows.X, rows.weight, rows.values[0], self._least(rows))
        task.memory = items.bare()
        return items

    def _least(self, rows):
        """Return the smallest size of a slice."""
        share = math.ceil(self.min_support * rows.weights.sum() - 1e-9)
        return max(self.min_rows, share)

    @staticmethod
    def _sizes(items, rows):
        """Return the size of every item."""
        if rows.weight is None:
            return items.counts(np.zeros(len(rows), dtype=np.int64), 1)[:, 0]
        return items.sums(rows.weight[None])[:, 0]

    def _max_len(self, items):
        n_features = len(np.unique(items.feature))
        return n_features if self.max_predicates is None else min(self.max_predicates, n_features)

    def _first(self, items):
        """Say with which items a group may begin."""
        if self.must_include == "protected":
            return items.protected
        return np.ones(len(items.protected), dtype=bool)

    def _findings(self, task, groups, table):
        keys = [task.space.subgroup_key(g) for g in groups]
        return GroupFindings(groups, table, task.space.names, keys, self._aliases)

    def _report(self, task, rows, findings, numbers, n_tests, items, tables=None, notes=()):
        """Put a Discovery together, with every single protected value compared to the rest."""
        n_tested, n_found, by_value = numbers
        groups = _scored.single_groups(items, rows, self.significance, self.correction_, n_tests)
        return Discovery(
            findings=findings,
            measure=", ".join(rows.names),
            n_tested=n_tested,
            n_found=n_found,
            smallest_gap=largest(groups["min_detectable_gap"]),
            required_gap=float(self.relevant_gap),
            by_value=by_value,
            estimates=rows.overall(self.significance),
            excluded=excluded_groups(groups, self._least(rows)),
            tables={"groups": groups, **(tables or {})},
            notes=list(notes),
        )


def redundant_slices(rows, j, groups, means, threshold):
    """Say which slices have nearly the mean error of one with a condition less, a bool array."""
    error, weight, found = rows.values[j], rows.weights, np.zeros(len(groups), dtype=bool)
    for at, (group, mean) in enumerate(zip(groups, means, strict=True)):
        for p in group.predicates:
            wider = Subgroup([q for q in group.predicates if q is not p]).mask(rows.X)
            found[at] |= abs(weight[wider] @ error[wider] / weight[wider].sum() - mean) <= threshold
    return found


def errors_of(task, kinds):
    """Return the names of the errors and their value for every row, shape (n_errors, n_rows).

    Without a model, or without labels to compare its decisions with, the one error is an
    unfavourable label or decision.
    """
    answers = task.decisions()
    compared = task.queries is not None and task.y is not None
    labels = task.favourable_labels() if compared else None
    decided = answers >= 0.5
    names, values = [], []
    for kind in kinds:
        if callable(kind):
            name, error = kind.__name__, _own(kind, labels, answers, len(task.X))
        elif kind not in ERRORS:
            raise ValueError(f"errors must be among {ERRORS} or a callable; got {kind!r}.")
        elif kind == "unfavourable" or (kind == "error" and not compared):
            name, error = "unfavourable", ~decided
        elif not compared:
            lacking = "y, the labels" if task.queries is not None else "a model: pass model="
            raise ValueError(f"errors={kind!r} compares decisions with labels and needs {lacking}.")
        elif kind == "loss":
            name, error = kind, _log_loss(task, labels, answers)
        else:
            wrong = {"error": decided != labels, "fp": decided & ~labels, "fn": ~decided & labels}
            name, error = kind, wrong[kind]
        names.append(name)
        values.append(np.asarray(error, dtype=float))
    if len(set(names)) < len(names) or not names:
        raise ValueError(
            f"errors must name different errors, at least one; got {list(kinds)!r}, which are "
            f"{names!r}: without decisions to compare with labels, 'error' is 'unfavourable'."
            if names and not compared
            else f"errors must name different errors, at least one; got {names!r}."
        )
    return names, np.array(values)


def _log_loss(task, labels, answers):
    if task.queries.box.decisions is not None:
        raise ValueError(
            "errors='loss' needs probabilities, and BlackBox(decisions=...) holds none. Pass a "
            "model with predict_proba, or use errors='error'."
        )
    tiny = np.finfo(float).eps
    p = np.clip(answers, tiny, 1 - tiny)
    return -np.log(np.where(labels, p, 1 - p))


def _own(kind, labels, answers, n):
    error = np.asarray(kind(labels, answers), dtype=float)
    wrong = error[~(np.isfinite(error) & (error >= 0))]
    if error.shape != (n,) or wrong.size:
        got = f"the value {wrong[0]!r}" if wrong.size else f"the shape {error.shape}"
        raise ValueError(
            f"errors={kind.__name__} must return one finite number >= 0 per row, {n} of them; got "
            f"{got}."
        )
    return error
