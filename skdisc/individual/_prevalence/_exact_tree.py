"""ExactTree: the exact set of discriminatory inputs, from the structure of the model."""

import numpy as np
import pandas as pd

from skdisc._blackbox._gradient import last_step
from skdisc._results._findings import ESTIMATES, Discovery
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import OF_CASES, Card
from skdisc._task._limits import QUERIES
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc.individual._base import SPACE, IndividualDetector
from skdisc.individual._case_share import CaseShare, time_kept
from skdisc.individual._prevalence._exact_tree_inputs import Parts, Slab, Trial
from skdisc.individual._prevalence._exact_tree_regions import tree_regions
from skdisc.individual._prevalence._model_structure import (
    has_margin_parts,
    margins_of,
    read_inputs,
    trees_of,
)
from skdisc.individual._prober import Prober, n_inputs
from skdisc.individual._search._loop import run

_SHARE = "share of all inputs"
_SMALL = 10_000
_MOST_PARTS = 200_000  # of the space: the inputs of a forest with more are tested
_READING = 0.5  # share of the time for computing the parts; the rest is for tests


class ExactTree(IndividualDetector):
    r"""Compute the exact share of inputs that a tree or a linear model decides unequally.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff decisions differ
    among the protected combinations :math:`c`. For trees the space is cut into disjoint parts such
    that all inputs of a part reach the same leaves for each :math:`c`; each part has one decision
    per :math:`c`, so the sizes of the parts give the exact share. For an additive margin,
    :math:`m(x, c) = b + \sum_j m_j(x_j) + \sum_p m_p(c_p)` (linear models, Gaussian naive Bayes),
    the discriminatory inputs are the slab

    .. math:: -\max_c m_p(c) < b + \sum_j m_j(x_j) \le -\min_c m_p(c),

    whose share is a convolution. Preprocessing may work column by column (encoders, scalers). For
    any other model inputs are tested, all of them if the budget allows it.

    Then the model is queried about uniform draws, as a check of the computation, and about the
    inputs that are listed as cases: the middle of each part, the largest first, or draws from the
    slab.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found. Findings are `Case` objects: the unfavorable variant of an
        input against its favorable variant. ``result_.tables["parts"]`` has
        the size of each part.
    {inherited}

    Notes
    -----
    ``result_.estimates`` has the share of all inputs; its interval reflects rounding (none for
    trees), not sampling. ``result_.tables["parts"]`` has the size of each part (number of inputs,
    share of all inputs), the largest first.

    With ``output="probability"`` inputs are always tested. For protected columns varied over
    quantiles only, the share refers to the combinations tried.

    References
    ----------
    Z. Zhao, T. Toda, T. Kitamura: Approximation-guided fairness testing through discriminatory
    space analysis. ASE 2024. doi:10.1145/3691620.3695481. They use pairs of leaves of a surrogate
    tree; here leaves of the model itself are used.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"income": [*range(100)] * 2, "woman": [0] * 100 + [1] * 100})
    >>> y = X["income"] > 40 + 10 * X["woman"]
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> result = ExactTree(protected="woman").fit(X, model=tree).result_
    >>> float(result.estimates["estimate"][0])
    0.1
    """

    n_checks: int = setting(
        100,
        [AT_LEAST_ONE],
        "Number of uniformly drawn inputs that are tested as well.",
    )
    space: FeatureSpace | None = SPACE

    limit_fields = {
        "tests": "distinct inputs tested",
        "queries": QUERIES,
        "found": "cases",
        "seconds": "checked between batches: if the computation takes more than half of them, "
        "inputs are tested",
    }
    own_limits = {"tests": 10_000}
    card = Card(
        finds="individual",
        where="model",
        access="structure of a tree, a small forest or a linear model",
        statistic="exact share of all inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only, one per region",
        published="none: the oracle for the other searches",
        reference="Zhao et al., ASE 2024 (leaf pairs of a surrogate)",
        summary="the exact share of inputs with a case, and one case per region",
        needs="a tree, small forest or linear model",
        **OF_CASES,
    )
    _needs_repeatable = True

    def _discover(self, task):
        prober = Prober(task, self.min_gap)
        with time_kept(task):
            strategy = self._read_model(task, prober)
            ledger = run(strategy, prober, task.budget, task.progress)
        total = n_inputs(task.space)
        share = strategy.share
        # With every input tested, the share is a count and needs no reading of the model.
        if task.budget.tests == total:
            share = (task.budget.found / total,) * 2
        doubts = strategy.notes_on(ledger, total)
        exact = None
        if share is not None:
            why = self._why_incomplete(task.space)
            low, high = share
            exact = CaseShare("inputs", (low + high) / 2, low, high, min(total, 2**53), why)
        judged = exact
        if task.X is not None or exact is None or doubts:
            judged = self._share_of_people(task, [ledger])
        rows = [] if exact is None else [(_SHARE, *exact.row[1:])]
        rows = rows if judged is exact else [judged.row, *rows]
        blind = self._blindness(task, max(prober.largest_gap, judged.estimate))
        return Discovery(
            findings=prober.cases(*ledger.found()),
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            by_value=ledger.by_value(),
            estimates=pd.DataFrame(rows, columns=ESTIMATES),
            tables=strategy.tables(),
            notes=self._probe_notes(task) + blind + doubts,
            answer=judged.answer(self, blind),
        )

    def _read_model(self, task, prober):
        """Return the strategy: of parts, of a slab, or, for other models, of all inputs."""
        space, trial = task.space, Trial(task.space, task.rng)
        draws = space.sample(self.n_checks, task.rng)
        before, last = last_step(self.model_.model)
        trees = trees_of(last)
        # A small space is tested as a whole, which is as exact and costs little.
        if self.output != "decision" or n_inputs(space) <= _SMALL // prober.n_combos:
            return trial
        if not trees and not has_margin_parts(last):
            return trial
        inputs = read_inputs(before, task.queries, space)
        if inputs is None:
            return trial
        if not trees:
            return Slab(space, *margins_of(last, inputs), draws, task.rng)
        favorable = np.isin(last.classes_, self.pos_label_)
        regions = tree_regions(
            trees,
            favorable,
            inputs,
            prober.combos,
            space,
            max_regions=_MOST_PARTS,
            in_time=lambda: not task.budget.has_spent(_READING),
        )
        return trial if regions is None else Parts(space, regions, draws)
