"""EIDIG: search along gradients with momentum, with fewer gradients in the local phase."""

from dataclasses import replace
from numbers import Real

from sklearn.utils._param_validation import Interval

from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc.individual._search._gradient_search import GradientSearch
from skdisc.individual._search._gradient_walk import WalkRules


class EIDIG(GradientSearch):
    r"""Find individual cases along gradients with momentum, which are computed less often.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Let :math:`m` be the margin of the decision (log odds), and :math:`c, c'` the two
    combinations whose margins differ most.

    - *Global phase.* Each seed accumulates :math:`G \leftarrow \eta G + \nabla m(x, c)`, and
      :math:`G'` likewise at :math:`c'`. Up to `max_iter` times, until it is discriminatory, it
      moves one step in every column in which G and G' agree on the direction that lowers
      :math:`|m|`, or, if they agree in no column, in one column drawn at random.
    - *Local phase.* From each case, `n_local` times, one column :math:`a` goes a step up or down.
      It is drawn with weights :math:`1 / (|\partial_a m(x, c)| + |\partial_a m(x, c')|)`, which
      are computed again after `refresh_interval` cases in a row; after an input that is not a case,
      the search restarts from its first case.

    All seeds move together, and so do all local searches. No input is tested twice.

    {parameters}

    Notes
    -----
    The paper uses the probability of the predicted class, whose gradient vanishes where the model
    is confident; the gradient of the margin does not. With ``gradient="difference"`` this is the
    black-box variant MAFT, with a step of the column in place of a small number.

    References
    ----------
    L. Zhang, Y. Zhang, M. Zhang: Efficient white-box fairness testing through gradient search.
    ISSTA 2021. doi:10.1145/3460319.3464820

    Z. Wang, M. Zhang, J. Yang, B. Shao, M. Zhang: MAFT: efficient model-agnostic fairness testing
    for deep neural networks via zero-order gradient search. ICSE 2024.
    doi:10.1145/3597503.3639181

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(0, 100, 500), "woman": rng.integers(0, 2, 500)})
    >>> model = LogisticRegression().fit(X, X["income"] > 40 + 10 * X["woman"])
    >>> result = EIDIG(protected="woman", n_seeds=5, random_state=0).fit(X, model=model).result_
    >>> result.n_found
    7
    """

    # 0.5 and 5 are the paper's values (EIDIG-5); `refresh_interval=None` is its EIDIG-INF.
    momentum: float = setting(
        0.5,
        [Interval(Real, 0, 1, closed="left")],
        r"Share :math:`\eta` of the last gradient that is kept, in [0, 1).",
    )
    refresh_interval: int | None = setting(
        5,
        [AT_LEAST_ONE, None],
        """Number of cases in a row after which a local search computes its weights again; None:
        never.""",
    )

    card = replace(
        GradientSearch.card,
        access="probabilities or gradient",
        published="19 % more cases than ADF, 121 % faster",
        reference="Zhang et al., ISSTA 2021",
        summary="individual cases, along gradients with momentum",
        needs="probabilities or a gradient",
    )

    def _rules(self):
        # A restart returns to an input whose weights are known, so a failure costs no gradient.
        return WalkRules(
            self.max_iter,
            self.n_local,
            momentum=self.momentum,
            refresh=self.refresh_interval,
            next_state="restart",
        )
