"""RankingDisparity: the exposure of protected groups in rankings."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils._param_validation import StrOptions

from skdisc._blackbox._blackbox import AuditedModel
from skdisc._task._card import Card
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._types import Estimator, Labels
from skdisc._utils._validation import check_protected
from skdisc._verdicts._relevant import NUMBER, relevant_gap
from skdisc.group._pairwise._comparison_report import PairComparison
from skdisc.group._pairwise._estimates import estimate_table
from skdisc.group._pairwise._pairwise_detector import PairwiseDetector
from skdisc.group._ranking_disparity._equal_merit import merit_table
from skdisc.group._ranking_disparity._exposure_gap import MANY_LISTS
from skdisc.group._ranking_disparity._pairwise_accuracy import pairwise_accuracy
from skdisc.group._ranking_disparity._prefix_tables import prefix_tables
from skdisc.group._ranking_disparity._ranked_list import EXPOSURES
from skdisc.group._ranking_disparity._ranking_people import RankingPeople

_OUTPUTS = ("auto", "probability", "value", "decision")


class RankingDisparity(PairwiseDetector):
    r"""Compare the exposure of protected groups in one ranking, or in many.

    A place near the top is seen by more people. The exposure of a place is what it is worth, such
    as :math:`1 / \log_2(1 + \text{place})`; the exposure of a group is the mean over its members,
    in units of the mean of the list. The effect is the gap within lists between a group and
    everyone else: -.2 says that, had both as many people in a list, a member would be worth a fifth
    of an average place less. The null hypothesis is that mean exposures are equal.

    Exact tests of prefixes are reported, too: does the number of members among the first k fit a
    random order, for any k?

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: its mean exposure (`outcome`), the gap (`effect`), ``ratio``, the
        exposure over that of the reference, and ``p_prefix``, the p-value of the exact tests,
        corrected over prefixes and lists, not over groups. Table ``lists``: the most surprising
        prefix of each list; with one list, ``prefixes``: all of them. Where a model ranks people
        whose labels are given, table ``accuracy`` has the pairwise accuracies of both sides and
        their gap (``accuracy_gap``): how often people with a favorable label are placed above
        others of their list without one (Beutel and others 2019). Table ``merit`` has the gap of
        the exposures of people with a favorable label alone (``merit_gap``), by the same test, and
        ``treatment_ratio``, exposure over the share of favorable labels, group over reference
        (Singh and Joachims 2018). The verdict uses neither.
    pos_label_ : list
        The favorable labels; none where y are scores.
    {inherited}

    Raises
    ------
    ValueError
        If `protected` is not given, or `query` is protected or has missing values.

    See Also
    --------
    GroupDisparity : Compares those who were selected.

    Notes
    -----
    Lists are weighted by n m / (n + m), with n and m people of both sides. With 20 lists or more,
    lists are the sampling units: the error comes from the spread of their gaps, and the test is
    Student's t. With fewer, people are: errors come from a jackknife that ranks the others again
    without each person, and, unless both sides have over 2,000 people, memberships are permuted
    within lists and gaps divided by their errors. That is exact if all orders are equally likely,
    and right for many people if only mean exposures are equal.

    The number of members among the first k of a random order is hypergeometric, and from k to k + 1
    a Markov chain. The probability that any of them is as far out as the worst is summed over this
    chain, without simulation. Prefixes that would split people who tie are not tested.

    References
    ----------
    A. Singh, T. Joachims: Fairness of exposure in rankings. KDD 2018.
    https://doi.org/10.1145/3219819.3220088

    A. Beutel and others: Fairness in recommendation ranking through pairwise comparisons. KDD 2019.
    https://doi.org/10.1145/3292500.3330745

    M. Zehlike, F. Bonchi, C. Castillo, S. Hajian, M. Megahed, R. Baeza-Yates: FA*IR: a fair top-k
    ranking algorithm. CIKM 2017. https://doi.org/10.1145/3132847.3132938

    E. Chung, J. Romano: Exact and asymptotically robust permutation tests. Annals of Statistics 41,
    2013. https://doi.org/10.1214/13-AOS1090

    Examples
    --------
    The first fifteen of a hundred applicants are men.

    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> sex = np.append(np.repeat("m", 15), rng.permutation(np.repeat(["f", "m"], [40, 45])))
    >>> X = pd.DataFrame({"sex": sex})
    >>> result = RankingDisparity(protected="sex", random_state=0).fit(X, -np.arange(100)).result_
    >>> result.verdict
    'disparity found'
    >>> result.to_frame()[["subject", "effect", "ratio", "p_prefix"]].round(3).to_dict("records")
    [{'subject': "sex = 'f'", 'effect': -0.218, 'ratio': 0.8, 'p_prefix': 0.004}]
    """

    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. None: y are scores, the larger the better (for places, pass their negatives); y that
        are no numbers, or `pos_label`, put favorable labels first.""",
    )
    query: Any = setting(
        None,
        [str, Integral, None],
        "The column that says which list a row is in. None: all rows are one list.",
        kind="column name or position, or None",
    )
    exposure: str | Callable = setting(
        "log",
        [StrOptions(set(EXPOSURES)), callable],
        """What a place is worth: 1 / log2(1 + place), 1 / place, the share of the others that
        are placed below (not in units of the mean), or a function of an array of places from 1
        on. People who tie share the mean of their places.""",
    )
    depth: int | None = setting(
        1000,
        [AT_LEAST_ONE, None],
        """The last place at which a tested prefix may end; None: tests all, which takes time in
        proportion to the square of the length.""",
    )
    output: str = setting(
        "auto",
        [StrOptions(set(_OUTPUTS))],
        """What a model is asked for. "auto": probabilities of a classifier that has them,
        predictions of a regressor, else decisions. "value": a decision function, else
        predictions.""",
    )
    reference: Any = setting(
        "rest",
        text="""The group that others are compared with: everyone else, the largest, a value of
        the protected column, or one for each column.""",
        kind='{"rest", "largest"}, value, or dict of values',
    )
    pos_label: Labels | None = setting(
        None,
        text="The favorable outcome of a classifier, or of y.",
    )

    null = "marginal"
    _compares_numbers = _compares_rates = False  # their order
    card = Card(
        finds="group",
        where="model or data",
        access="labels or predict",
        statistic="gap of mean exposures within lists; exact tests of prefixes",
        output="exposure gap and ratio of each group, and the most surprising prefixes",
        published="exposure of job seekers and news; tests of rankings by FA*IR",
        reference="Singh and Joachims 2018; Zehlike and others 2017",
        summary="gaps in exposure within rankings, and prefixes with too few of a group",
        needs="scores, or a model",
        claims="In the same lists, the places of a group are worth less, or more, on average than "
        "those of the others.",
        does_not_say="That its members were as qualified; that every prefix is unbalanced.",
        family="groups of `relevant_size` among all who are ranked",
        bounded="gap in exposure, by default 5 % of the mean exposure",
        decides="gap; prefixes, merit and accuracy are printed",
    )
    _needs = ("scores",)
    _measure = "exposure gap"
    _noun = "gap in exposure"
    _test = "studentized permutation"

    def _resolve_model(self, people, model):
        y = people.y
        if model is None and self.estimator is None and self._has_scores(y):
            return AuditedModel(None, "labels", None, [])
        return super()._resolve_model(people, model)

    def _has_scores(self, y):
        """Return whether y are scores, not labels."""
        numeric = y is not None and pd.api.types.is_numeric_dtype(np.asarray(y).dtype)
        return numeric and self.pos_label is None

    def _output_of(self, box):
        if self.output != "auto":
            return self.output
        if box.has_probabilities:
            return "probability"
        return (
            "value"
            if isinstance(box.model, BaseEstimator) and is_regressor(box.model)
            else "decision"
        )

    def _outcome(self, task):
        """Return the scores that people are ranked by."""
        if task.queries is None and self._audited.labels is None:
            if task.y is None:
                raise ValueError("The scores in y were audited: audit other rows with their y.")
            return np.asarray(task.y, dtype=float)
        return np.asarray(task.decisions(), dtype=float)

    def _people_of(self, pair, task, y, labels):
        lists, relevant = self._lists(task.X), self._relevant(task)
        return RankingPeople.of(pair, task.X, y, lists, self.exposure, relevant)

    def _gap_that_matters(self, outcome, weight=None, mean=None):
        """Return the `RelevantGap` of exposures, whose mean is 1 (or, linear, a half)."""
        # Linear exposure is a share, from 0 to 1; others are in units of the mean of their list.
        mean = 0.5 if self.exposure == "linear" else 1.0
        all_equal = np.ptp(outcome) == 0
        return relevant_gap(self.relevant_gap, kind=NUMBER, mean=mean, all_equal=all_equal)

    def _relevant(self, task):
        """Return who has a favorable label, where a model ranks people with labels of two kinds."""
        if task.queries is None or task.y is None:
            return None
        if self.pos_label is None and len(np.unique(task.y)) > 2:
            return None
        return task.favorable_labels() > 0

    def _lists(self, X):
        """Return which list each row is in, if there are several."""
        if self.query is None:
            return None
        name = check_protected(self.query, list(X), "query")[0]
        if name in self.protected_:
            raise ValueError(f"query={self.query!r} is a protected column; it must name lists.")
        if X[name].isna().any():
            n = int(X[name].isna().sum())
            raise ValueError(f"query={self.query!r}: {n} rows are in no list. Drop them first.")
        return X[name]

    def _columns(self, names):
        return []

    def _compare(self, task, people, rng):
        """Compare the exposure of a group and of everyone else; return why if it is impossible."""
        gap = people.gap
        if gap is None:
            return "no list has people of both sides"
        permuted = gap.permuted(rng)
        lists, prefixes = prefix_tables(people, self.depth)
        clearest = lists.iloc[int(lists["p_adjusted"].to_numpy().argmin())]
        columns = {
            "ratio": gap.ratio,
            "p_prefix": float(clearest["p_adjusted"]),
            "prefix": int(clearest["prefix"]),
            "in_prefix": int(clearest["in_prefix"]),
        }
        tables = {"lists": lists} if prefixes is None else {"lists": lists, "prefixes": prefixes}
        if people.relevant is not None:
            merit = merit_table(people.sides, people.relevant, self.significance, rng)
            if merit is not None:
                columns["merit_gap"] = float(merit["gap"].iloc[0])
                tables["merit"] = merit
            accuracy = pairwise_accuracy(people.sides, people.relevant)
            if accuracy is not None:
                columns["accuracy_gap"] = accuracy["gap"].value
                tables["accuracy"] = estimate_table(accuracy, self.significance)
        compared = PairComparison(gap.estimate(), columns, tables, _notes(people, gap))
        if permuted is not None:  # a permutation test, unless there are many lists or people
            compared.interval, compared.p_value = permuted.interval, permuted.p_value
        else:
            compared.test = "t between lists" if len(gap.sides) >= MANY_LISTS else "jackknife"
        return compared


def _notes(people, gap):
    """Return what the error counts, and what it leaves out."""
    n_left_out = len(people.sides) - len(gap.sides)
    notes = (
        [f"{n_left_out:,} lists without people of both sides are left out."] if n_left_out else []
    )
    if 1 < len(gap.sides) < MANY_LISTS:
        notes.append(
            f"With {len(gap.sides)} lists, intervals are about these lists and other people; from "
            f"{MANY_LISTS} lists on they are about other lists, too."
        )
    return notes
