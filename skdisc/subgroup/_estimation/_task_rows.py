"""The rows of a task with their outcomes: rates of decisions, probabilities, or numbers."""

from collections.abc import Callable, Sequence

import numpy as np

from skdisc._stats._rates import WITHOUT_LABELS, check_metrics, rate_values
from skdisc._task._numbers import numbers_of
from skdisc._task._task import Task
from skdisc.subgroup._estimation._outcomes import Counted, Summed


class NumbersMixin:
    """Adds ``output``: decisions, probabilities of the model, or the numbers in y ("value")."""

    def _resolve_model(self, people, model):
        audited = super()._resolve_model(people, model)
        if self.output == "probability" and audited.box is None:
            raise ValueError(
                "output='probability' needs a model: pass model= or estimator=. For "
                "probabilities or scores in y, set output='value'."
            )
        return audited


def rows_of(
    task: Task, metric: str | Sequence[str] | Callable, output: str = "decision"
) -> Counted | Summed:
    """Return the rows under audit with their outcomes; none of them if the budget forbids.

    Parameters
    ----------
    task : Task
    metric : str, callable, or sequence of them
        Names of `RATES`, "all", or callables that take labels and decisions.
    output : {"decision", "probability", "value"}, default="decision"
        Otherwise than for decisions `metric` has no part: means are compared.

    Returns
    -------
    Counted or Summed

    Raises
    ------
    ValueError
        If a name is unknown, if a rate needs labels or decisions that are not available, or if a
        callable does not return one finite number or NaN per row.
    """
    if output != "decision":
        return _numeric_rows(task, output)
    kinds = [metric] if isinstance(metric, str) or callable(metric) else list(metric)
    functions = [kind for kind in kinds if callable(kind)]
    names = [kind for kind in kinds if not callable(kind)]
    has_model, has_labels = task.queries is not None, task.y is not None
    if names or not functions:
        names = check_metrics(names[0] if names == ["all"] else names, has_model, has_labels)
    if not task.can_decide():
        return Counted(task.X.iloc[:0], np.empty(0, dtype=np.int64), names)
    decided = task.decisions() > 0.5
    with_labels = any(m not in WITHOUT_LABELS for m in names)
    label = task.favorable_labels() if with_labels else decided
    cell = 2 * label + decided
    if not functions and task.weight is None and task.people.groups is None:
        return Counted(task.X, cell, names, task.people.frequency)
    labels = task.favorable_labels() if has_labels else None
    values = [rate_values(cell, m) for m in names]
    values += [_numbers(f, labels, decided if has_model else None, len(cell)) for f in functions]
    names = [*names, *(f.__name__ for f in functions)]
    return summed(task, np.array(values), names)


def summed(task, values, names):
    """Return the rows of a task with numbers, `values` of shape (n_measures, n_rows)."""
    return Summed.ordered(
        task.X,
        values,
        names,
        weight=task.weight,
        cluster=task.people.groups,
        frequency=task.people.frequency,
    )


def _numeric_rows(task, output):
    """Return rows with the numbers in y, or with probabilities of the model."""
    if not task.can_decide():
        return Summed(task.X.iloc[:0], np.empty((1, 0)), [output])
    values = numbers_of(task.y) if output == "value" else task.decisions()
    return summed(task, np.array([values]), [output])


def _numbers(function, labels, decided, n):
    values = np.asarray(function(labels, decided), dtype=float)
    if values.shape != (n,) or np.isinf(values).any():
        raise ValueError(
            f"metric={function.__name__} must return one number per row, {n} of them, NaN where "
            f"there is none; got the shape {values.shape}"
            + (" with infinite values." if np.isinf(values).any() else ".")
        )
    return values
