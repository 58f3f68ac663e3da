"""PairwiseDetector: base class of detectors that compare each group with a reference."""

from abc import abstractmethod
from typing import Any

import numpy as np

from skdisc._space._bins import Bins
from skdisc._task._shared_settings import N_BINS
from skdisc._utils._settings import setting
from skdisc._utils._types import Columns
from skdisc._utils._validation import check_protected
from skdisc.base import BaseDetector
from skdisc.group._pairwise._comparison_report import TOO_FEW, Excluded, report
from skdisc.group._pairwise._group_pairs import PairRows, group_pairs

_LEAST = 5  # people of each side


class PairwiseDetector(BaseDetector):
    """Base of detectors that compare each protected group with a reference by one effect."""

    reference: Any = setting(
        "largest",
        "no_validation",
        """The group that others are compared with: the largest, everyone else, a value of the
        protected column, or one for each column.""",
        kind='{"largest", "rest"}, value, or dict of values',
    )
    n_bins: int | dict | Bins = N_BINS
    protected: Columns | None = setting(
        None,
        text="Protected columns. Each of their values is a group. Required.",
    )

    null = "conditional"
    _measure = "effect"  # name of the effect
    _test = "influence function"
    _noun = "gap"  # in sentences
    _needs_labels = False  # whether labels enter as well as decisions
    outcomes = "selected"  # whose labels: of rows with a favorable decision, or of all
    _draws_evenly = True  # rows have no weights here
    own_correction = "holm"
    rule_fields = ("significance", "correction", "relevant_gap", "relevant_size")
    output = "decision"

    @property
    def _compares_rates(self):
        """Whether effects are differences of rates, whose ratio matters, too."""
        return self.output == "decision"

    def _width(self, names):
        return len(self._columns(names))

    def _discover(self, task):
        task.memory = self._pairs(task)
        return self._compared(task)

    def _pairs(self, task):
        """Return the groups, each with its reference."""
        return group_pairs(
            task.X,
            space=task.space,
            protected=self.protected_,
            reference=self.reference,
            n_bins=self.n_bins,
        )

    def _remeasure(self, task):
        return self._compared(task)

    def _compared(self, task):
        """Compare the pairs of fit on the rows of a task."""
        y, labels = self._outcome(task), None
        if self._needs_labels and task.queries is not None and task.y is not None:
            labels = task.favorable_labels() * (y if self.outcomes == "selected" else 1.0)
        seed = int(task.rng.integers(2**31))
        compared, excluded = [], []
        for i, pair in enumerate(task.memory, 1):
            people = self._people_of(pair, task, y, labels)
            task.progress(f"{i} of {len(task.memory)} groups, {len(people.y):,} people")
            comparison = self._compare_if(task, people, np.random.default_rng(seed))
            if isinstance(comparison, str):
                column = pair.group.column
                excluded.append(Excluded(str(pair.group), people.sizes, comparison, column))
            else:
                compared.append((pair, people, comparison))
        relevant = self._relevant_gap_of(task, y, labels)
        problems = [relevant.problem] if relevant.problem else []
        return report(self, task, compared, excluded, relevant, problems)

    def _relevant_gap_of(self, task, y, labels):
        """Return the `RelevantGap` of the outcomes that are compared, by task, y and labels."""
        return self._gap_that_matters(y, mean=self._mean_of_reference(task, y))

    def _mean_of_reference(self, task, y):
        """Return the mean outcome of the reference that all groups share, or None."""
        references = {pair.reference for pair in task.memory}
        if len(references) != 1 or None in references:
            return None
        outcomes = y[next(iter(references)).mask(task.X)]
        outcomes = outcomes[~np.isnan(outcomes)]
        return float(outcomes.mean()) if len(outcomes) else None  # new rows may hold nobody of it

    def _people_of(self, pair, task, y, labels):
        """Return the rows of a pair."""
        return PairRows.of(pair, task.X, y, self._columns(list(task.X)), labels)

    def _compare_if(self, task, people, rng):
        """Compare a pair, unless it has too few people; then return why."""
        if min(people.sizes) < _LEAST:
            return f"{TOO_FEW}: {_LEAST} are needed on each side"
        return self._compare(task, people, rng)

    @abstractmethod
    def _compare(self, task, people, rng):
        """Return the PairComparison of a PairRows, or why there is none."""

    @abstractmethod
    def _columns(self, names):
        """Return the columns that enter, apart from the protected one."""

    def _legitimate(self, names, chosen="others"):
        """Return the columns that are adjusted for; "others": all that are not protected."""
        if chosen is None:
            return []
        if isinstance(chosen, str) and chosen == "others":
            return [c for c in names if c not in self.protected_]
        chosen = check_protected(chosen, names, "adjust_for")
        for name in chosen:
            if name in self.protected_:
                raise ValueError(f"adjust_for names {name!r}, which is protected.")
        return chosen

    def _outcome(self, task):
        """Return the outcome of each row."""
        return task.outcome()
