"""Themis: the share of inputs whose outcome changes with protected attributes."""

from itertools import combinations

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import ESTIMATES, Discovery
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import OF_CASES, Card
from skdisc._task._limits import QUERIES, SECONDS
from skdisc._utils._settings import AT_LEAST_ONE, INNER_SHARE, SHARE, setting
from skdisc.individual._base import SPACE, IndividualDetector
from skdisc.individual._case_share import CHANCE_NOTE, CaseShare, beyond_chance, time_kept
from skdisc.individual._prevalence._themis_sample import Sample
from skdisc.individual._prober import Prober, n_inputs

_SCORES = ("causal", "causal_low", "causal_high", "group", "group_low", "group_high")
_ENDS = ("favored", "disfavored")
_FIRST_BLOCK = 1000  # inputs of the first block, at least


class Themis(IndividualDetector):
    r"""Estimate how often outcomes change with protected attributes, on uniformly drawn inputs.

    For a set :math:`A` of protected attributes, and inputs drawn uniformly from the space,

    - the *causal score* is the share of inputs whose outcome changes with the assignment of
      :math:`A`, all other attributes kept: :math:`P(\max_a f(x_a) - \min_a f(x_a) > g)`;
    - the *group score* is :math:`\max_a E f(x_a) - \min_a E f(x_a)`.

    Each draw serves all sets: the model is queried once about each input, under all combinations of
    all protected attributes. Drawing continues, in blocks that double, until each causal score is
    known to within `margin`; a block doubles again until that is possible. The intervals after
    block :math:`j` have level :math:`\alpha / (j (j + 1))`, so that they are valid in spite of
    repeated looks.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found. ``result_.tables["scores"]`` has one row per set of attributes:
        both scores with their intervals, the groups with the highest and lowest mean outcome, and
        whether the set is a smallest one above `threshold`. Findings are the cases among the inputs
        drawn.
    {inherited}

    Notes
    -----
    The original stops as soon as the half-width of the normal approximation falls below the margin,
    and therefore at once if the outcome of none of the first inputs changes. It draws new inputs
    for each set and skips supersets of a set above the threshold; here supersets need no queries of
    their own and are reported, too. The interval of the group score is valid in finite samples and
    for all groups at once. It is wider than a normal or a bootstrap interval, which would exclude 0
    where groups do not differ.

    References
    ----------
    S. Galhotra, Y. Brun, A. Meliou: Fairness testing: testing software for discrimination.
    ESEC/FSE 2017. https://doi.org/10.1145/3106237.3106277

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> result = Themis(random_state=0).fit(space, model=loan).result_
    >>> row = result.tables["scores"].iloc[0]
    >>> bool(row.causal_low < 0.10 < row.causal_high)
    True
    """

    intersections: int | None = setting(
        None,
        [AT_LEAST_ONE, None],
        "Largest number of protected columns that are combined; None: all of them.",
    )
    threshold: float = setting(
        0.2,
        [SHARE],
        """Causal score above which a set counts as discriminatory; the smallest such sets are
        marked.""",
    )
    margin: float = setting(
        0.02,
        [INNER_SHARE],
        "Half-width of the intervals of causal scores at which drawing ends.",
    )
    min_gap: float = setting(
        0.0,
        text="""Gap :math:`g` between outcomes that must be exceeded; use a value > 0 with
        probabilities.""",
    )
    space: FeatureSpace | None = SPACE

    limit_fields = {
        "tests": "distinct inputs tested",
        "queries": QUERIES,
        "found": "cases, checked between blocks",
        "seconds": SECONDS,
    }
    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="causal score and group score on uniform inputs",
        output="scores of sets of attributes, and the cases among the inputs drawn",
        published="6.4 % of its tests find a case, as measured by Aggarwal et al. (2019)",
        reference="Galhotra et al., ESEC/FSE 2017",
        summary="how often decisions change with protected attributes",
        needs="a model to query",
        **OF_CASES,
    )

    def _discover(self, task):
        prober = Prober(task, self.min_gap)
        sets = self._sets()
        sample = Sample(prober, task, sets)
        with time_kept(task):
            level = self._draw(sample)
        if task.queries.is_random:
            sample.repeat(sets)
        cases, by_value, chance = sample.ledger.found(), sample.ledger.by_value(), []
        if task.queries.is_random:  # then no single difference is known to be a case
            cases, by_value = [a[:0] for a in cases], {v: (n, 0) for v, (n, _) in by_value.items()}
            chance, task.budget.found = [CHANCE_NOTE], 0
        share = self._share(task, sample, level)
        scores = self._scores(sets, sample, level)
        estimates = [share.row]
        if task.X is not None and self._order() == len(self.protected_):
            of_all = scores[["causal", "causal_low", "causal_high", "n"]].to_dict("split")["data"]
            estimates.append(("share of uniformly drawn inputs with a case", *of_all[-1]))
        blind = self._blindness(task, max(prober.largest_gap, share.estimate))
        return Discovery(
            findings=prober.cases(*cases),
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            by_value=by_value,
            estimates=pd.DataFrame(estimates, columns=ESTIMATES),
            tables={"scores": scores},
            notes=self._probe_notes(task) + blind + chance,
            answer=share.answer(self, blind),
        )

    def _draw(self, sample):
        """Draw until all scores are known to within the margin; return the level of the last."""
        while True:
            # The levels alpha / (j (j + 1)) of all blocks j add up to alpha, so that the intervals
            # hold in spite of a look after each block.
            level = self.significance / ((sample.n_blocks + 1) * (sample.n_blocks + 2))
            sample.draw(self._block(sample, level))
            half_width, budget = self._half_width(sample, level), sample.task.budget
            sample.task.progress(
                f"{sample.n:,} inputs, widest interval +-{half_width:.3f}, {budget.elapsed:.0f} s"
            )
            if half_width < self.margin or budget.stopped_by is not None:
                return level

    def _share(self, task, sample, level):
        """Return the share of people with a case; without X, of the inputs drawn."""
        if task.X is not None:
            return self._share_of_people(task, [sample.ledger])
        if task.queries.is_random:
            return beyond_chance(
                "inputs",
                hits=sample.n_hits,
                n=sample.n,
                changes=sample.changes,
                significance=level,
                n_effective=len(sample.ledger.hit),
            )
        low, high = _stats.clopper_pearson(sample.n_hits, sample.n, level)
        if not sample.n_hits and len(sample.ledger.hit) >= n_inputs(task.space):
            low = high = 0.0  # the draws came upon every input, and none has a case
        share = sample.n_hits / sample.n if sample.n else np.nan
        why = self._why_incomplete(task.space)
        return CaseShare("inputs", share, float(low), float(high), sample.n, why)

    def _order(self):
        """Return the largest number of attributes of a set."""
        return min(self.intersections or len(self.protected_), len(self.protected_))

    def _sets(self):
        """Return all sets of protected attributes up to the largest order, small ones first."""
        positions = range(len(self.protected_))
        return [s for size in range(1, self._order() + 1) for s in combinations(positions, size)]

    def _block(self, sample, level):
        """Return the size of the next block, large enough for the margin to be reached."""
        # No interval is narrower than the one for zero cases. It must be exact: the normal interval
        # of the original has width 0 there, which ends the drawing at once.
        size = _FIRST_BLOCK * 2**sample.n_blocks
        while _stats.clopper_pearson(0, sample.n + size, level)[1] / 2 >= self.margin:
            size *= 2
        return size

    def _half_width(self, sample, level):
        """Return the half-width of the widest interval of a causal score."""
        if not sample.n:
            return np.nan
        intervals = np.array([tally.causal_score(level)[1:] for tally in sample.tallies])
        return float(np.ptp(intervals, axis=1).max()) / 2

    def _scores(self, sets, sample, level):
        """Return the table of scores, one row per set."""
        rows, above = [], []
        for attributes, *tallies in zip(sets, sample.tallies, sample.chance, strict=True):
            row = self._score(attributes, *tallies, sample, level)
            # The causal score grows with the set, so that supersets of one above are above, too.
            row["smallest_above_threshold"] = row["causal"] > self.threshold and not any(
                set(s) <= set(attributes) for s in above
            )
            if row["smallest_above_threshold"]:
                above.append(attributes)
            rows.append(row)
        return pd.DataFrame(rows)

    def _score(self, attributes, tally, chance, sample, level):
        """Return both scores of one set, with their intervals."""
        names = ", ".join(str(self.protected_[a]) for a in attributes)
        row = {"attributes": names, **dict.fromkeys(_SCORES, np.nan), **dict.fromkeys(_ENDS)}
        row["n"] = sample.n
        if sample.n:
            n_distinct = len(sample.ledger.hit)
            scores = *tally.causal_score(level, chance, n_distinct), *tally.group_score(level)
            row.update(zip(_SCORES, scores, strict=True))
            groups = sample.groups(attributes)
            ends = groups[int(tally.total.argmax())], groups[int(tally.total.argmin())]
            row.update(zip(_ENDS, ends, strict=True))
        return row
