"""LearnedAuditor: base class of audits by a learned witness."""

from abc import abstractmethod
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import UNSURE, Judgment
from skdisc._space._bins import Bins
from skdisc._task._large_tables import rows_of_wide
from skdisc._task._limits import limit_named
from skdisc._utils._settings import setting
from skdisc._utils._types import Columns, Estimator
from skdisc._verdicts._relevant import PROBABILITY, relevant_gap
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._estimation._outcomes import Summed
from skdisc.subgroup._lattice._lattice import least_of
from skdisc.subgroup._learned._centering import ProtectedCells
from skdisc.subgroup._learned._people import Learned, Setting
from skdisc.subgroup._learned._report import discovery_of
from skdisc.subgroup._learned._witness import WitnessDesign, in_cells, in_words, learn

_FEWEST = 40  # people, below which nothing is learned
OF_WITNESSES = {
    "family": "the groups that the witness chose on the learning part, and single protected "
    "values of `relevant_size`",
    "bounded": "gap on people whom the witness has not seen (single values: on all)",
    "decides": "gap; the ratio of rates where the question is marginal",
}
_TABLE = ["outcome", "effect", "ci_low", "ci_high", "p_value", "p_adjusted", "kept"]


class LearnedAuditor(SubgroupDetector):
    """Base of the audits in which a regression searches, and rows it has not seen test.

    A subclass has `_people`, the rows with their outcomes, and its own settings.

    Attributes
    ----------
    result_ : AuditResult
        One finding per rule. ``tables["witness"]`` has the test, ``tables["family"]`` what the data
        exclude about the groups that the witness chose, and single protected values. The column
        ``kept`` of findings is the share of the witness's squared signal on the rows it has not
        seen that a rule keeps.
    pos_label_ : list
        The labels of selection and success.
    {inherited}
    """

    witness: str | Estimator = setting(
        "auto",
        [StrOptions({"auto", "linear", "boosting"}), HasMethods(["fit", "predict"])],
        """What learns: main effects, boosted trees, whichever of them is better out of fold, or
        any regressor of scikit-learn, which gets all columns as numbers.""",
        kind='{"auto", "linear", "boosting"} or regressor',
    )
    nuisance: str | Estimator = setting(
        "boosting",
        [StrOptions({"boosting", "additive"}), HasMethods(["fit", "predict"])],
        r"""How :math:`\hat m` and :math:`\hat P` are learned: by main effects of legitimate
        columns, by the cells of crossings that surely matter, and, out of fold, by boosted
        trees, or by clones of an estimator in their place. "additive": without either. What the
        cells of crossings would still add counts against a finding, and widens intervals.""",
        kind='{"boosting", "additive"} or estimator',
    )
    learn_on: float = setting(
        0.5,
        [Interval(Real, 0, 1, closed="neither")],
        "Share of the rows that the witness learns from; it is tested on the others.",
    )
    protected: Columns | None = setting(None, text="Protected columns. Required.")
    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. None: the labels are audited.""",
    )
    min_support: float = setting(0.02, text="Smallest share of the rows in a rule.")
    max_predicates: int = setting(
        3,
        text="Most conditions of a rule.",
        kind="int",
    )
    n_bins: int | dict | Bins = setting(
        4,
        text="""Number of quantile bins of a numeric column, of a protected one for the witness,
        too.""",
    )

    _measure = "outcome"
    _is_group = False  # whether the witness is the indicator of a group
    _no_larger_items = "values of protected columns must not overlap"
    _most = 200_000
    limit_fields = SubgroupDetector.limit_fields | {
        "tests": "rules compared",
        "rows": rows_of_wide(_most),
    }
    _draws_evenly = True  # rows have no weights here
    rule_fields = ("significance", "relevant_gap", "relevant_ratio", "relevant_size")
    must_include, own_correction = "protected", "holm"
    n_score_bins = 1

    @abstractmethod
    def _people(self, task):
        """Return the people of a task; none if the budget does not allow to query them."""

    def _discover(self, task):
        """Learn a witness from some rows, put it into words, and test it on the others."""
        if not self.protected_:
            name = type(self).__name__
            raise ValueError(f"{name} needs protected=[...]: the columns it is about.")
        people = self._people(task)
        setting = self._setting(people)
        comparable, n_lost = setting.comparable(people)
        enough = len(comparable) >= _FEWEST and len(setting.cells) > 1
        if not enough or np.ptp(comparable.outcome) == 0 or not task.budget.affords(0):
            task.memory = Learned(setting, None, [])
            return self._nothing(task, comparable)
        learners, tested = comparable.split(1 - self.learn_on, task.rng)
        task.progress(f"learning from {len(learners):,} people")
        # Each half has expectations of its own, so the rows of the test share no errors with those
        # by which the witness was chosen.
        learners = setting.centered(learners, task.rng)
        tested = setting.centered(tested, task.rng)
        task.memory = learned = self._learn_witness(task, setting, learners)
        everyone = learners.joined(tested)
        return discovery_of(self, task, learned, tested, everyone, _left_out(n_lost, people))

    def _relevant(self, task, people):
        """Return the `RelevantGap` of outcomes, or of the labels whose errors are compared."""
        if np.isin(people.outcome, (0.0, 1.0)).all():
            return self._gap_that_matters(people.outcome)
        mean = people.outcome.mean() if task.y is None else task.favorable_labels().mean()
        all_equal = bool(np.ptp(people.outcome) == 0)
        return relevant_gap(
            self.relevant_gap, kind=PROBABILITY, mean=float(mean), all_equal=all_equal
        )

    def _remeasure(self, task):
        """Test the witness of fit on other rows, all of which it has not seen."""
        learned = task.memory
        people = self._people(task)
        comparable, n_lost = learned.setting.comparable(people)
        if learned.witness is None or len(comparable) < _FEWEST:
            return self._nothing(task, comparable)
        sample = learned.setting.centered(comparable, task.rng)
        return discovery_of(self, task, learned, sample, sample, _left_out(n_lost, people))

    def _output_of(self, box):
        if self.output != "auto":
            return self.output
        decides_only = hasattr(box.model, "predict") and not hasattr(box.model, "predict_proba")
        return "decision" if box.model is None or decides_only else "probability"

    def _setting(self, people):
        """Return how people are compared."""
        rows = Summed(people.X, people.outcome[None], [self._measure])
        items = self._items_of(rows)
        names = list(self.space_.names)
        unprotected = [c for c in names if c not in self.protected_]
        legitimate = None if self.versus == "everyone" else self._legitimate()
        design = WitnessDesign.of(
            people.X, self.space_, unprotected if legitimate is None else legitimate
        )
        edges = np.empty(0)
        if people.score is not None and len(people):
            quantiles = np.arange(1, self.n_score_bins) / self.n_score_bins
            edges = np.unique(np.quantile(people.score, quantiles))
            edges = edges[edges < people.score.max()]
        return Setting(ProtectedCells.of(items), legitimate, design, edges, self.nuisance)

    def _learn_witness(self, task, setting, sample):
        """Return what is learned from some people: the witness, and its rules."""
        numbers = setting.numbers(sample.people)
        witness = learn(
            self.witness, numbers, setting.cells, sample.centering, self._is_group, task.rng
        )
        words, most = [], -1.0
        for part in setting.parts:
            rules, kept = self._in_words(task, setting, witness, sample, part)
            if kept > most:
                words, most = [(rule, part) for rule in rules], kept
        return Learned(setting, witness, words)

    def _in_words(self, task, setting, witness, sample, part):
        """Return the rules that keep most of a witness in a part, and how much they keep."""
        positions = np.flatnonzero(setting.in_part(part, sample.people))
        people, centering = sample.people.at(positions), sample.centering.at(positions)
        signal = centering.center(setting.values(witness, people))
        if not signal.any():
            return [], 0.0
        rows = Summed(people.X, signal[None], ["witness"])
        items = self._words(setting.cells.items).on(people.X)
        first = None if self.versus == "everyone" else items.protected
        patterns = rows.mine(
            items,
            int(least_of(self.min_support, len(people))),
            self.max_predicates,
            first,
            lambda n: self._spend(task, n),
            distinct=True,
        )

        def center(group):
            return centering.center(in_cells(group, people.X, setting.cells).astype(float))

        return in_words(rows, items, patterns, center)

    def _words(self, items):
        """Return the items that rules may be made of: protected ones, and those adjusted for."""
        legitimate = self._legitimate()
        if self.versus == "everyone":
            return items
        is_legitimate = np.array([p.column in legitimate for p in items.predicates], dtype=bool)
        return items.only(items.protected | is_legitimate)

    def _legitimate(self):
        """Return the columns that are adjusted for."""
        return [] if self.adjust_for is None else self._adjusted_for(list(self.space_.names))

    def _nothing(self, task, people):
        """Return the Discovery where there was nothing to learn from."""
        stopped = task.budget.stopped_by
        reason = f"too few people in groups large enough to compare ({len(people):,})"
        if self.null == "calibration" and task.y is None:
            reason = "no labels y were given to compare scores with"
        elif stopped is not None:
            reason = f"{limit_named(stopped)} ended the run before anything was learned"
        elif len(people) and np.ptp(people.outcome) == 0:
            reason = f"all outcomes are equal ({people.outcome[0]:g}), so no disparity can appear"
        groups = self.result_.findings.subgroups if task.is_audit else []
        table = pd.DataFrame(np.full((len(groups), len(_TABLE)), np.nan), columns=_TABLE)
        table["support"] = np.zeros(len(groups), dtype=np.int64)
        for name in ("measure", "test", "part"):
            table[name] = np.full(len(groups), "", dtype=object)
        return Discovery(
            findings=GroupFindings.of(groups, table, task.space),
            measure=self._measure,
            n_tested=0,
            n_found=0,
            judgment=Judgment(UNSURE, reason),
        )


def _left_out(n_lost, people):
    """Return a note on people whose protected values are too rare to compare."""
    if not n_lost:
        return []
    return [
        f"{n_lost:,} of {len(people):,} rows were left out: combinations of protected values that "
        "too few people have."
    ]
