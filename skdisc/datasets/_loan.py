"""The loan scenario: a bank's rule that never looks at gender, and an economy that does."""

from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, validate_params

_FEATURES = ["gender", "annual_salary", "account_balance"]


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "p_female": [Interval(Real, 0, 1, closed="both")],
        "return_X_y": ["boolean"],
        "as_frame": ["boolean"],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_loan(n_samples=5000, *, p_female=0.45, return_X_y=False, as_frame=True, random_state=None):
    r"""Make loan applications in which women are paid less and own less.

    With :math:`A = 1` for women,

    .. math::

        A &\sim \text{Ber}(p), \quad U_1 \sim 10000 \cdot \text{Poi}(10), \quad
        U_2 \sim 2500 \cdot N(0, 1) \\
        X_1 &= -1500 \cdot \text{Poi}(10) \cdot A + U_1 \quad \text{(annual salary, dollars)} \\
        X_2 &= -300 \cdot \chi^2(4) \cdot A + 0.3 X_1 + U_2 \quad \text{(account balance)} \\
        Y &= 1\{X_1 + 5 X_2 > 225000\} \quad \text{(approved)}

    Parameters
    ----------
    n_samples : int, default=5000
    p_female : float, default=0.45
        Expected share of women.
    return_X_y : bool, default=False
        Return only the data and the target.
    as_frame : bool, default=True
        Return pandas objects; else arrays, with gender 1 for women and 0 for men.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (1 approved, 0 refused), ``frame`` (both; None for arrays),
        ``feature_names``, ``target_names``, ``protected``, ``DESCR``; and what the law gives
        besides: ``counterfactual``, a Bunch with the ``data`` and ``target`` of the same people
        had they all been men, and ``noise``, their U1 and U2.
    (data, target) : tuple
        If `return_X_y`.

    Notes
    -----
    The file that the authors published has 34.3 % women, and lacks the seven rows with a negative
    salary or balance; here every row is kept.

    References
    ----------
    J. M. Alvarez, S. Ruggieri: Counterfactual situation testing: from single to multidimensional
    discrimination. JAIR 82 (2025), section 4.1.

    Examples
    --------
    >>> loans = make_loan(random_state=0)
    >>> loans.frame.groupby("gender")["approved"].mean().round(2).to_dict()
    {'female': 0.4, 'male': 0.6}
    """
    rng = check_random_state(random_state)
    female = (rng.random_sample(n_samples) < p_female).astype(int)
    u1, u2 = 10_000 * rng.poisson(10, n_samples), 2_500 * rng.standard_normal(n_samples)
    less_pay, less_saved = 1_500 * rng.poisson(10, n_samples), 300 * rng.chisquare(4, n_samples)
    data, target = _decide(female, less_pay, less_saved, u1, u2, as_frame)
    if return_X_y:
        return data, target
    had_been_men = _decide(np.zeros_like(female), less_pay, less_saved, u1, u2, as_frame)
    noise = np.column_stack([u1, u2])
    return Bunch(
        data=data,
        target=target,
        frame=data.assign(approved=target) if as_frame else None,
        feature_names=list(_FEATURES),
        target_names=["refused", "approved"],
        protected=["gender"],
        counterfactual=Bunch(data=had_been_men[0], target=had_been_men[1]),
        noise=pd.DataFrame(noise, columns=["u1", "u2"]) if as_frame else noise,
        DESCR=make_loan.__doc__,
    )


def _decide(female, less_pay, less_saved, u1, u2, as_frame):
    """Return the data and the target that the structural equations give."""
    salary = u1 - less_pay * female
    balance = 0.3 * salary + u2 - less_saved * female
    approved = (salary + 5 * balance > 225_000).astype(int)
    if not as_frame:
        return np.column_stack([female, salary, balance]).astype(float), approved
    gender = np.where(female == 1, "female", "male")
    data = pd.DataFrame(dict(zip(_FEATURES, (gender, salary, balance), strict=True)))
    return data, pd.Series(approved, name="approved")
