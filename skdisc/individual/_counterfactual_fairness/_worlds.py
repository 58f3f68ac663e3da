"""Counterfactual worlds: the rows and outcomes of all people in each of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._queries import Queries
from skdisc._space._codes import MISSING
from skdisc._utils._validation import check_known_labels, differ, is_favorable, plain
from skdisc.causal import StructuralCausalModel
from skdisc.causal._counterfactual_rows import (
    counterfactual_rows,
    is_frame,
    take_rows,
)
from skdisc.causal._interventions import check_do, take_do
from skdisc.causal._residual_check import residual_notes

_MOST = 1000  # interventions on each person, unless they are given


def sources_of(detector):
    """Return the sources of counterfactual rows by name, as they were passed."""
    worlds = detector.worlds
    if worlds is None:
        worlds = {}
    elif not isinstance(worlds, Mapping):
        worlds = {f"world {i}": world for i, world in enumerate(worlds, 1)}
    if detector.counterfactuals is not None or not worlds:
        worlds = {"main": detector.counterfactuals, **worlds}
    return worlds


def all_decided(detector):
    """Return True if each source comes with decisions about its rows: no model is needed."""
    return all(isinstance(s, tuple) and len(s) == 2 for s in sources_of(detector).values())


def read_interventions(detector, task):
    """Return the interventions, a dict by their text."""
    if detector.do is not None:
        check_do(detector.do, task.X)
        return {_text(detector.do): detector.do}
    space = task.space
    if any(is_frame(s) for s in detector.sources_.values()):
        return {"as in the rows given": None}
    columns = [space.columns[j] for j in space.p_index]
    if len(columns) == 1 and len(columns[0].probes) == 2 and not columns[0].missing:
        a, b = (plain(columns[0].decode(np.array([c]))[0]) for c in columns[0].probes)
        do = {columns[0].name: {a: b, b: a}}
        return {_text(do): do}
    has_causal_model = any(isinstance(s, StructuralCausalModel) for s in detector.sources_.values())
    interventions = {}
    for codes in space.combos():
        if len(interventions) == _MOST:
            raise ValueError(
                f"The protected columns {[c.name for c in columns]} have more than {_MOST:,} "
                "combinations of values, each an intervention on every person. Name fewer columns "
                "in protected=, bin numbers before fit, or pass do=."
            )
        if not (has_causal_model and MISSING in codes):
            pairs = zip(columns, codes, strict=True)
            do = {c.name: plain(c.decode(np.array([code]))[0]) for c, code in pairs}
            interventions[_text(do)] = do
    return interventions


def _text(do):
    """Return an intervention as text."""
    parts = []
    for name, to in do.items():
        if isinstance(to, Mapping):
            flip = all(to.get(v) == k for k, v in to.items())
            pairs = ", ".join(f"{k!r} -> {v!r}" for k, v in to.items())
            parts.append(f"{name} flipped" if flip else f"{name}: {pairs}")
        else:
            parts.append(f"{name} := {'a column' if pd.api.types.is_list_like(to) else repr(to)}")
    return " and ".join(parts)


@dataclass(frozen=True)
class WorldAnswer:
    """The counterfactuals of one world under one intervention.

    Parameters
    ----------
    world, do : str
        Name of the world, text of the intervention.
    rows : DataFrame of shape (n_rows, n_features)
    is_changed : ndarray of bool, shape (n_rows,)
        Whether the intervention changes the row.
    clipped : dict
        By column: how many values were clipped to the bounds.
    """

    world: str
    do: str
    rows: pd.DataFrame
    outcome: np.ndarray
    is_changed: np.ndarray
    clipped: dict


class WorldComparison:
    """The people of a task and their counterfactuals in every world, in canonical order.

    Parameters
    ----------
    order : ndarray of int
        The canonical order of the rows of the task.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_features)
    order : ndarray of int, shape (n_rows,)
        The positions of the rows in X as passed.
    factual_outcome, outcome : ndarray of float, shape (n_rows,)
        The factual outcome, and the outcome in the first world under the intervention with the
        largest difference.
    rows : DataFrame of shape (n_rows, n_features)
        The counterfactuals behind `outcome`.
    """

    def __init__(self, detector, task, order):
        self.detector, self.task = detector, task
        self.interventions = read_interventions(detector, task)
        n_answers = len(self.interventions) * len(detector.sources_)
        self.n = task.budget.allow(len(task.X), 1 + n_answers)
        self.order = order[order < self.n]
        self.X = task.X.iloc[self.order].reset_index(drop=True)
        self.y = None if task.y is None else task.y[self.order]
        self.refit = detector.evaluate == "refit"
        self.factual_outcome = self._factual_outcomes() if self.n else np.empty(0)
        self.main, *_ = detector.sources_
        self.answers = []
        for name, source in detector.sources_.items():
            aligned_source = take_rows(source, task.people.stay, self.order)
            self.answers += self.answers_of(name, aligned_source, self.X) if self.n else []
            task.progress(f"{name}: {task.budget.queries:,} rows queried")
        self._choose()

    def _factual_outcomes(self):
        if self.refit:
            return self._refitted(self.X)
        rows = self.task.X if self.n == len(self.task.X) else self.task.X.iloc[: self.n]
        return self.task.queries.given(rows)[self.order]

    @property
    def n_changed(self):
        """The number of people whose row any intervention of the first world changes."""
        changed = [a.is_changed for a in self.mine]
        return int(np.any(changed, axis=0).sum()) if changed else 0

    @property
    def mine(self):
        """The answers of the first world."""
        return [a for a in self.answers if a.world == self.main]

    def answers_of(self, world, source, X, positions=None, queries=None):
        """Return one `WorldAnswer` per intervention, for X or for a bootstrap sample of its rows.

        The outcomes of a sample are those of `queries`, by default of the model under audit.
        """
        queries = queries or self.task.queries
        answers, row_numbers = [], self.order if positions is None else self.order[positions]
        for text, do in self.interventions.items():
            do = take_do(do, row_numbers)
            rows, decided = counterfactual_rows(source, X, do, block=self.detector.block)
            outcome = self._outcome(rows, decided) if positions is None else queries.ask(rows)
            columns = list(X.columns) if do is None else list(do)
            changed = np.any([differ(rows[c], X[c]) for c in columns], axis=0)
            clipped = rows.attrs.get("clipped", {})
            answers.append(WorldAnswer(world, text, rows, outcome, changed, clipped))
        return answers

    def _outcome(self, rows, decided):
        if decided is None:
            return self._refitted(rows) if self.refit else self.task.queries.decide(rows)
        if self.detector.output != "decision":
            raise ValueError("Counterfactual decisions were given: output must be 'decision'.")
        check_known_labels(decided, self.task.labels, self.task.favorable)
        return is_favorable(decided, self.task.favorable).astype(float)

    def _refitted(self, rows):
        """Return the predictions of a copy of the model trained on these rows with y as labels."""
        model = self.detector.model_.model
        if self.y is None or not hasattr(model, "get_params"):
            raise ValueError("evaluate='refit' needs y, and an estimator that can be cloned.")
        columns = self.model_columns()
        features = rows[columns] if self.task.space.is_frame else rows[columns].to_numpy()
        return self.queries_of(clone(model).fit(features, self.y)).ask(rows[columns])

    def queries_of(self, model):
        """Return the `Queries` of another model within the budget of the task."""
        task, d, box = self.task, self.detector, self.detector._audited.box
        return Queries(
            BlackBox(model, n_jobs=None if box is None else box.n_jobs),
            favorable=task.favorable,
            space=task.space,
            budget=task.budget,
            output=d.output,
            labels=task.labels,
        )

    def model_columns(self):
        """Return the names of the columns that the model was fitted on."""
        names = getattr(self.detector.model_.model, "feature_names_in_", None)
        return list(self.task.X.columns if names is None else names)

    def _choose(self):
        """Choose per person the intervention of the first world with the largest difference."""
        answers = self.mine
        self.chosen = np.zeros(self.n, dtype=int)
        if not answers:
            self.outcome, self.rows = np.empty(0), self.X
            return
        if len(answers) > 1:  # among equals, the intervention that changes fewer columns
            gaps = np.abs(np.column_stack([self.factual_outcome - a.outcome for a in answers]))
            names = self.detector.protected_
            # Rounded, so that the last digits do not decide before the number of changed columns.
            steps = [sum(differ(a.rows[c], self.X[c]).astype(int) for c in names) for a in answers]
            self.chosen = (gaps.round(12) - 1e-13 * np.column_stack(steps)).argmax(axis=1)
            rows = pd.concat([a.rows for a in answers], ignore_index=True)
            positions = self.chosen * self.n + np.arange(self.n)
            self.outcome = np.concatenate([a.outcome for a in answers])[positions]
            self.rows = rows.iloc[positions].reset_index(drop=True)
            return
        self.outcome, self.rows = answers[0].outcome, answers[0].rows

    def notes(self):
        """Return notes on the kind of the worlds, a list of str."""
        notes, sources = [], self.detector.sources_
        if any(source is None for source in sources.values()):
            notes.append(
                "No causal model was given: only protected columns were changed, so effects that "
                "they have through other columns are not included."
            )
        if self.refit:
            notes.append(
                "A copy of the model was trained in each world on the factual labels: the "
                "differences are between two models, neither of which is the model under audit."
            )
        main = sources[self.main]
        if isinstance(main, StructuralCausalModel) and not self.task.is_audit and self.n:
            notes += residual_notes(main, self.X)
        for a in self.answers:
            notes += [
                f"In {a.world}, {a.do}, {n} values of {node} were clipped to the bounds given."
                for node, n in a.clipped.items()
                if n
            ]
        return notes
