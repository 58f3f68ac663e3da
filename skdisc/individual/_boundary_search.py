"""BoundarySearch: test the inputs closest to the decision boundary."""

from dataclasses import replace
from numbers import Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc.individual._search._base import SearchDetector
from skdisc.individual._search._input_generator import KINDS, boundary_pool, make_generator
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._steps import Steps

_AT_ONCE = 100_000
_FLAT = "The model returns decisions without margins: inputs were tested in random order."


class BoundarySearch(SearchDetector):
    r"""Find natural individual cases among the inputs closest to the decision boundary.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Inputs are drawn from a generator of realistic inputs, with protected values as frequent
    as in X; the model is queried about the margin :math:`m(x, c)` (log odds) of each, and the
    inputs with the smallest :math:`|m(x, c)|` are tested, the smallest first: there, a small
    change, such as another protected value, suffices to change the decision.

    {parameters}

    Notes
    -----
    This simple rule finds a larger share of cases than LIMI at the same naturalness. Besides the
    rows of the tests, it queries one row per input drawn; ``result_.n_queries`` counts both.

    References
    ----------
    For the generator and the use of the boundary: Y. Xiao, A. Liu, T. Li, X. Liu: Latent imitator:
    generating natural individual discriminatory instances for black-box fairness testing. ISSTA
    2023. doi:10.1145/3597926.3598099

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(0, 100, 500), "woman": rng.integers(0, 2, 500)})
    >>> model = LogisticRegression().fit(X, X["income"] > 40 + 10 * X["woman"])
    >>> search = BoundarySearch(protected="woman", n_pool=1000, random_state=0)
    >>> search.fit(X, model=model).result_.n_found
    7
    """

    generator: Any = setting(
        "copula",
        [StrOptions(set(KINDS)), HasMethods(["decode"]), HasMethods(["sample"])],
        """Generator of inputs: a Gaussian copula with the marginals of X, principal components
        of X, uniform draws, or an object with ``latent_dim`` and ``decode(Z)``, which turns
        standard normal scores into rows with the columns of X. A
        synthesizer with ``sample(n)``, such as one of SDV, is replaced by a copula learned from
        10,000 of its rows.""",
        kind='{"copula", "pca", "uniform"} or object',
    )
    n_pool: int = setting(
        100_000,
        [AT_LEAST_ONE],
        "Number of inputs drawn; as many rows are queried in addition to the tests.",
    )
    # The closer inputs are to the boundary, the more of them are cases: on the networks of the ADF
    # paper .79 of the nearest tenth of a pool, and .88 of the nearest fiftieth (census, age).
    share: float = setting(
        0.1,
        [Interval(Real, 0, 1, closed="right")],
        "Share of the inputs drawn that is tested.",
    )

    card = replace(
        SearchDetector.card,
        access="probabilities",
        published="none; on LIMI's networks 1.6 to 3.3 times its share of cases",
        reference="after Xiao et al., ISSTA 2023",
        summary="natural individual cases, among the inputs closest to the decision boundary",
        needs="probabilities",
    )

    def _strategy(self, task, prober, from_rows):
        margins = Margins(task, Steps(task.space))
        generator = make_generator(self.generator, task)
        pool = boundary_pool(task, prober, margins, generator, self.n_pool, self.share)
        return _Nearest(task.space, pool, margins.is_flat, generator.notes)


class _Nearest(Strategy):
    """The strategy: the inputs closest to the boundary, once."""

    def __init__(self, space, rows, is_flat, notes):
        self.space, self.rows = space, rows
        self.n_random = len(rows) if is_flat else 0  # all equally close: in random order
        self.notes = list(notes)
        if is_flat:
            self.notes.append(_FLAT)

    def ask(self):
        # Nearest first, so that a limit leaves out the inputs that are least likely to be cases.
        rows, self.rows = self.rows[:_AT_ONCE], self.rows[_AT_ONCE:]
        return propose(self.space, rows) if len(rows) else None
