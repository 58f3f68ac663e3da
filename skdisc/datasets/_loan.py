"""Loan data: the bank's rule does not use gender, but salaries and savings depend on it."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from skdisc._utils._types import Seed
from skdisc.datasets._scenario import bunch_of, numbers_from, scenario, tables


@scenario()
def make_loan(
    n_samples: int = 5000,
    *,
    p_female: float = 0.45,
    return_X_y: bool = False,
    as_frame: bool = True,
    random_state: Seed = None,
) -> Bunch | tuple[Any, Any]:
    r"""Make loan applications in which women earn less and own less.

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

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (1 approved, 0 refused), ``frame`` (both; None for arrays),
        ``feature_names``, ``target_names``, ``protected``, ``DESCR``; ``counterfactual``, a Bunch
        with ``data`` and ``target`` of the same people in the world in which all are men; and
        ``noise``, their U1 and U2.
    (data, target) : tuple
        If `return_X_y`.

    Notes
    -----
    The published file has 34.3 % women and lacks seven rows with a negative salary or balance; here
    all rows are kept.

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
    rng = numbers_from(random_state)
    female = (rng.uniform(size=n_samples) < p_female).astype(int)
    u1, u2 = 10_000 * rng.poisson(10, n_samples), 2_500 * rng.standard_normal(n_samples)
    less_pay, less_saved = 1_500 * rng.poisson(10, n_samples), 300 * rng.chisquare(4, n_samples)

    def decide(female):
        salary = u1 - less_pay * female
        balance = 0.3 * salary + u2 - less_saved * female
        approved = (salary + 5 * balance > 225_000).astype(int)
        columns = {"gender": female, "annual_salary": salary, "account_balance": balance}
        return columns, *tables(columns, ("male", "female"), approved, "approved", as_frame)

    columns, data, target = decide(female)
    if return_X_y:
        return data, target
    _, *all_men = decide(np.zeros_like(female))
    noise = np.column_stack([u1, u2])
    return bunch_of(
        data,
        target,
        columns,
        ["refused", "approved"],
        make_loan.__doc__,
        counterfactual=Bunch(data=all_men[0], target=all_men[1]),
        noise=pd.DataFrame(noise, columns=["u1", "u2"]) if as_frame else noise,
    )
