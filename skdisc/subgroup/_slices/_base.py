"""SliceDetector: what the detectors of slices, groups with a larger error, share."""

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.utils._param_validation import StrOptions

from skdisc._results._findings import GroupFindings
from skdisc._space._subgroup import Subgroup
from skdisc._task._clustered import ClusteredMixin
from skdisc._task._shared_settings import CONFIRM
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._types import Estimator
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._estimation._outcomes import Summed
from skdisc.subgroup._estimation._task_rows import summed

ERRORS = ("error", "fp", "fn", "loss", "unfavorable")
_NAMED = 3  # groups, in a caveat
_NAMES = {"metric": "measure", "slice": "subject", "slice_size": "support"}


class SliceDetector(ClusteredMixin, SubgroupDetector):
    """Base of the detectors of slices: groups of rows with a larger error than overall."""

    errors: str | Callable | Sequence = setting(
        "error",
        [str, callable, "array-like"],
        """The error of a row, see `SliceLine`; the paper uses "loss".""",
        kind='{"error", "fp", "fn", "loss", "unfavorable"}, callable, or sequence',
    )
    min_rows: int = setting(
        32,
        [AT_LEAST_ONE],
        "Smallest number of rows of a slice; the larger of the two limits applies.",
    )
    must_include: str | None = setting(
        "protected",
        [StrOptions({"protected"}), None],
        "Whether a slice must involve a protected column.",
    )
    k: int = setting(
        10,
        [AT_LEAST_ONE],
        """Number of slices kept for each error and approach: problematic ones first, then by
        effect size.""",
    )
    confirm: float | None = CONFIRM
    versus: str = setting(
        "context",
        [StrOptions({"context", "everyone"})],
        """What a slice is compared with. "context": the rows that meet its conditions on other
        columns, but not those on protected ones, so that a finding says that the model errs
        more for the protected part. "everyone": all others, as published; the verdict is then
        "differs from everyone", which says nothing about discrimination.""",
    )
    order: str = setting(
        "evidence",
        [StrOptions({"evidence", "bound", "effect"})],
        """Order of the slices with a significantly larger error: by the standardized effect,
        where slices follow those that they refine, as in `DivExplorer`; by the end of its
        simultaneous interval that is nearer to 0; or, as published, by size (`SliceFinder`) or
        score (`SliceLine`). The other slices follow in the published order, which is that of
        all with ``versus="everyone"``.""",
    )
    distinct: bool = setting(
        True,
        ["boolean"],
        """Whether definitions of the same set of rows count as one slice, the shortest, and
        conditions that every row meets define none; with ``versus="context"`` only.""",
    )
    weights: str = setting(
        "probability",
        [StrOptions({"probability", "frequency"})],
        """What `sample_weight` means: how many people a row stands for, on which variances
        depend, but not on the unit; or how many equal people it stands for, a whole number.
        These are counted, with the result of repeated rows (with `confirm`, of the same
        distribution); where a model is trained, clusters are sought, or errors are permuted,
        rows are repeated.""",
    )
    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. With neither, an error is an unfavorable label.""",
    )
    min_support: float = setting(0.01, text="Smallest share of the rows that a slice must cover.")

    limit_fields = SubgroupDetector.limit_fields | {"tests": "candidate slices measured"}
    _takes_trees = True
    _aliases = {**_NAMES, "slice_average_error": "outcome"}

    @property
    def output(self) -> str:
        """What the model is queried for: probabilities if a loss is among the errors."""
        return "probability" if "loss" in self._kinds() else "decision"

    def _kinds(self):
        return (
            [self.errors]
            if isinstance(self.errors, str) or callable(self.errors)
            else [*self.errors]
        )

    def _rows(self, task):
        """Return the rows under audit with their errors; none if the budget is too small."""
        if not task.can_decide():
            kinds = [k if isinstance(k, str) else k.__name__ for k in self._kinds()]
            return Summed(task.X.iloc[:0], np.empty((len(kinds), 0)), kinds)
        names, values = errors_of(task, self._kinds())
        return summed(task, values, names)

    def _least(self, rows):
        return max(self.min_rows, super()._least(rows))

    def _max_len(self, items):
        n_features = len(np.unique(items.feature))
        return n_features if self.max_predicates is None else min(self.max_predicates, n_features)

    def _first(self, items):
        """Return which items a slice may begin with, a bool array."""
        if self.must_include == "protected":
            return items.protected
        return np.ones(len(items.protected), dtype=bool)

    def _findings(self, task, groups, table):
        return GroupFindings.of(groups, table, task.space, self._aliases)

    def _report(self, rows, items, findings, counts, n_tests=None, **more):
        if self.versus == "everyone" and n_tests is None:
            n_tests = counts.n_tested  # as published, over all errors
        return super()._report(rows, items, findings, counts, n_tests, **more)

    def _reasons(self, discovery):
        if self.versus == "everyone":
            return ["the published criterion does not tell whether errors are equal"]
        groups, findings = discovery.tables.get("groups"), discovery.findings
        if groups is None:  # the time ended before anything was compared
            return []
        names = list(groups["group"][groups["p_adjusted"] <= self.significance])
        differ = findings.table["p_adjusted"] <= self.significance
        names += [str(findings.subgroups[i]) for i in np.flatnonzero(differ)]
        names = ", ".join(list(dict.fromkeys(names))[:_NAMED])
        return [f"errors differ significantly, though not as a finding must: {names}"] * bool(names)

    def _shown(self, patterns, family, worth, published):
        """Choose the slices to show, at most `k` by each error.

        Parameters
        ----------
        worth : ndarray of bool, shape (n_errors, n_groups)
            Contrasts that may be shown.
        published : sequence of ndarray of int
            For each error, positions of groups in the published order.

        Returns
        -------
        error, group : ndarray of int
            First those with a significantly larger error than the rest of their context, by
            `order`; then the first of the published order.
        """
        strong = worth & (family.p_adjusted <= self.significance)
        error, group = family.first(self.k, self.order, patterns.length, strong)
        first, weak = [], []
        for j, order in enumerate(published):
            chosen = group[error == j].tolist()
            if self.order == "effect":
                chosen = list(dict.fromkeys([*order[strong[j, order]].tolist(), *chosen]))
            others = order[(worth & ~strong)[j, order]].tolist()
            first += [(j, i) for i in chosen[: self.k]]
            weak += [(j, i) for i in others[: max(self.k - len(chosen), 0)]]
        pairs = np.array(first + weak, dtype=np.intp).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


def redundant_slices(rows, j, groups, means, threshold):
    """Return which slices have nearly the mean error of one with a condition less, a bool array."""
    error, weight, is_redundant = rows.values[j], rows.mass, np.zeros(len(groups), dtype=bool)
    for position, (group, mean) in enumerate(zip(groups, means, strict=True)):
        for p in group.predicates:
            wider = Subgroup([q for q in group.predicates if q is not p]).mask(rows.X)
            is_redundant[position] |= (
                abs(weight[wider] @ error[wider] / weight[wider].sum() - mean) <= threshold
            )
    return is_redundant


def errors_of(task, kinds):
    """Return the names of the errors and their values, an array of shape (n_errors, n_rows).

    Without a model, or without labels to compare its decisions with, the only error is an
    unfavorable label or decision.

    Raises ValueError if an error is unknown, occurs twice, or needs labels, decisions or
    probabilities that are not available, or if a callable does not return one finite number >= 0
    per row.
    """
    answers = task.decisions()
    compared = task.queries is not None and task.y is not None
    labels = task.favorable_labels() if compared else None
    decided = answers >= 0.5
    names, values = [], []
    for kind in kinds:
        if callable(kind):
            name, error = kind.__name__, _callable_errors(kind, labels, answers, len(task.X))
        elif kind not in ERRORS:
            raise ValueError(f"errors must be among {ERRORS} or a callable; got {kind!r}.")
        elif kind == "unfavorable" or (kind == "error" and not compared):
            name, error = "unfavorable", ~decided
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
            f"errors must be one or more different errors; got {list(kinds)!r}, which are "
            f"{names!r}: without decisions to compare with labels, 'error' is 'unfavorable'."
            if names and not compared
            else f"errors must be one or more different errors; got {names!r}."
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


def _callable_errors(kind, labels, answers, n):
    error = np.asarray(kind(labels, answers), dtype=float)
    wrong = error[~(np.isfinite(error) & (error >= 0))]
    if error.shape != (n,) or wrong.size:
        problem = f"the value {wrong[0]!r}" if wrong.size else f"the shape {error.shape}"
        raise ValueError(
            f"errors={kind.__name__} must return one finite number >= 0 per row, {n} of them; got "
            f"{problem}."
        )
    return error
