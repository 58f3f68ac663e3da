"""SG: symbolic generation, which negates conditions on the paths of a surrogate tree."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._task._shared_settings import MIN_GAP_OF_NUMBERS, N_CLUSTERS, OUTPUT_OF_NUMBERS
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc.individual._search._base import SEED_CHOICES, SearchDetector
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._sg._queue import Queue


class SG(SearchDetector):
    r"""Find individual cases by negating the conditions on the paths of a surrogate tree.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. A tree is fitted to the decisions about inputs drawn from the marginals of X. The path
    of an input :math:`t` through the tree is a list of conditions; the confidence of a condition is
    the share of the samples at its node that satisfy it. Inputs are tested in the order of their
    rank, the lowest first:

    - seeds have rank 5;
    - *local*: if :math:`t` is discriminatory, one of its conditions is negated and all others are
      kept: rank 1 + mean confidence;
    - *global*: one condition is negated and those above it are kept, as long as all of them have at
      least confidence 0.3: rank 10 - mean confidence.

    A condition is an interval of one column, so the column takes the nearest value that satisfies
    the negated condition; all other columns keep their values. Each change of a path is applied to
    one input after the other: among local and among global changes, those applied least often come
    first, then those of the lowest rank. No input is tested twice.

    {parameters}

    Notes
    -----
    Trees are fitted to the unprotected columns only, so no path has a condition on a protected
    column; the paper skips such conditions. Nominal columns are split by their codes. Each node is
    split at the best threshold of one column drawn at random: paths then have conditions on more
    columns, and the search finds more cases than with the best of all columns.

    The paper fits a tree to 5,000 samples for each input and never solves a set of conditions
    twice; with a tree for each input such sets hardly ever repeat. Inputs that share a tree share
    them.

    References
    ----------
    A. Aggarwal, P. Lohia, S. Nagar, K. Dey, D. Saha: Black box fairness testing of machine learning
    models. ESEC/FSE 2019. doi:10.1145/3338906.3338937

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> SG(n_seeds=90, random_state=0).fit(space, model=loan).result_.n_found > 0
    True
    """

    n_seeds: int = setting(
        1000,
        [AT_LEAST_ONE],
        "Number of inputs that the queue starts with.",
    )
    seeds: str | pd.DataFrame = setting(
        "clusters",
        SEED_CHOICES,
        """Origin of the seeds: rows of X from each of `n_clusters` k-means clusters in turn,
        rows of X, uniform draws, half of each of the latter two, or the rows passed.""",
    )
    n_clusters: int = N_CLUSTERS
    # With categorical columns, as in the paper's experiments, the samples of each tree are drawn
    # from the marginals of X whatever the input is, so that one tree can serve all inputs: 1,000
    # tests then take .1 s instead of 16 to 23 s.
    surrogate: str | Callable = setting(
        "shared",
        [StrOptions({"shared", "instance"}), callable],
        """One tree for all inputs, or one per input (slow). A callable takes samples as codes,
        of shape (n_samples, n_columns), their decisions (1 favorable, 0 not; values are
        compared with their median) and the inputs that are explained, and returns a fitted
        decision tree.""",
    )
    n_samples: int = setting(
        5_000,
        [AT_LEAST_ONE],
        "Number of samples that a tree is fitted to; at most a quarter of the limit of queries.",
    )
    output: str = OUTPUT_OF_NUMBERS
    min_gap: float = MIN_GAP_OF_NUMBERS

    card = replace(
        SearchDetector.card,
        access="predict",
        published="34.8 % of tests discriminatory on average, 6.4 % for Themis",
        reference="Aggarwal et al., ESEC/FSE 2019",
        summary="individual cases, by negating conditions of a surrogate tree",
        needs="a model to query",
    )

    def _strategy(self, task, prober, from_rows):
        kind = "clusters" if from_rows else self.seeds
        seeds = draw_seeds(task, self.n_seeds, kind, self.n_clusters)
        return Queue(self, task, prober, seeds.rows)
