"""Pay data: categories of workers, objective criteria, and a known gap that neither explains."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from skdisc._utils._settings import NOT_NEGATIVE
from skdisc._utils._types import Seed
from skdisc.datasets._scenario import bunch_of, numbers_from, scenario, tables

CATEGORIES = ("assistant", "specialist", "manager")
_BASE = np.array([18.0, 26.0, 40.0])  # per hour


@scenario(direct=["array-like"], spread=[NOT_NEGATIVE])
def make_pay(
    n_samples: int = 3000,
    *,
    p_female: float = 0.45,
    direct: Sequence[float] = (0.0, 0.03, 0.08),
    spread: float = 0.08,
    return_X_y: bool = False,
    as_frame: bool = True,
    random_state: Seed = None,
) -> Bunch | tuple[Any, Any]:
    r"""Make employees with their hourly pay, of which women get less in some categories.

    With :math:`A = 1` for women and :math:`d` the direct gap of a category,

    .. math::

        A &\sim \text{Ber}(p), \quad E \sim \text{Bin}(4, 1/2) \quad \text{(education)}, \quad
        T \sim 40 \cdot \text{Beta}(1.5, 2.5 + A/2) \quad \text{(years of experience)} \\
        C &= \text{0, 1 or 2 as } 0.5 E + 0.04 T - 0.4 A + N(0, 0.7^2)
        \text{ exceeds 1.3 and 2.2} \quad \text{(category)} \\
        Y &= (18, 26, 40)_C \cdot 1.03^E \cdot 1.01^T \cdot (1 - d_C A) \cdot
        \exp(N(0, \sigma^2)) \quad \text{(pay)}

    So the gap has three parts: direct ones within categories, less experience, and fewer women in
    the better paid categories.

    Parameters
    ----------
    n_samples : int, default=3000
    p_female : float, default=0.45
        Expected share of women.
    direct : sequence of 3 floats, default=(0.0, 0.03, 0.08)
        Share of the pay that women lack for equal education and experience, in each category:
        assistants, specialists, managers. European pay rules ask for an explanation from 0.05.
    spread : float, default=0.08
        Standard deviation of the logarithm of pay for equal columns.
    as_frame : bool, default=True
        Return pandas objects; otherwise arrays, with gender 1 for women and 0 for men, and
        categories 0, 1 and 2.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (pay per hour), ``frame`` (both; None for arrays), ``feature_names``,
        ``target_names``, ``protected``, ``DESCR``; ``direct``, the direct gap by category; and
        ``pay_as_man``, the pay of the same people, with the same columns, without the direct gap.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    ValueError
        If a parameter is out of range, or `direct` has not three shares below 1.

    Examples
    --------
    >>> pay = make_pay(random_state=0)
    >>> pay.frame.groupby("gender")["pay"].mean().round(1).to_dict()
    {'female': 27.6, 'male': 33.2}
    """
    gaps = np.asarray(direct, dtype=float)
    if gaps.shape != (3,) or not (np.abs(gaps) < 1).all():
        raise ValueError(f"direct must be three shares between -1 and 1, got {direct!r}.")
    rng = numbers_from(random_state)
    female = (rng.uniform(size=n_samples) < p_female).astype(int)
    education = rng.binomial(4, 0.5, n_samples)
    experience = 40 * rng.beta(1.5, 2.5 + female / 2)
    level = 0.5 * education + 0.04 * experience - 0.4 * female + rng.normal(0, 0.7, n_samples)
    category = (level > 1.3).astype(int) + (level > 2.2)
    fair = _BASE[category] * 1.03**education * 1.01**experience
    fair *= np.exp(rng.normal(0, spread, n_samples))
    pay = fair * (1 - gaps[category] * female)
    named = np.array(CATEGORIES, dtype=object)[category] if as_frame else category
    columns = {"gender": female, "education": education, "experience": experience}
    columns |= {"category": named}
    data, target = tables(columns, ("male", "female"), pay, "pay", as_frame)
    if return_X_y:
        return data, target
    return bunch_of(
        data,
        target,
        columns,
        ["pay"],
        make_pay.__doc__,
        direct=dict(zip(CATEGORIES, gaps.tolist(), strict=True)),
        pay_as_man=pd.Series(fair, name="pay") if as_frame else fair,
    )
