"""Hiring data: experience decides, hair length does not, and both correlate with gender."""

from typing import Any

from scipy.special import expit
from sklearn.utils import Bunch

from skdisc._utils._types import Seed
from skdisc.datasets._scenario import bunch_of, numbers_from, scenario, tables


@scenario()
def make_hiring(
    n_samples: int = 2000,
    *,
    p_female: float = 0.5,
    return_X_y: bool = False,
    as_frame: bool = True,
    random_state: Seed = None,
) -> Bunch | tuple[Any, Any]:
    r"""Make job applicants; men have more experience, and women have longer hair.

    With :math:`A = 1` for women,

    .. math::

        A &\sim \text{Ber}(p) \\
        W &\sim \text{Poi}(31 - 6 A) - N(20, 0.2^2) \quad \text{(work experience, years)} \\
        L &\sim 35 \cdot \text{Beta}(2, 7 - 5 A) \quad \text{(hair length)} \\
        Y &\sim \text{Ber}(1 / (1 + \exp(25.5 - 2.5 W))) \quad \text{(hired)}

    A model that must be fair without using gender can use hair length instead, at the expense of
    women with short hair. The data are made to show this effect.

    Parameters
    ----------
    n_samples : int, default=2000
    p_female : float, default=0.5
        Expected share of women.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (1 hired, 0 refused), ``frame`` (both; None for arrays),
        ``feature_names``, ``target_names``, ``protected``, ``DESCR``; the ``probability`` of being
        hired; and ``decision``, that of the linear model of the FlipTest paper, which hires equal
        shares: 1 if 1.2956 W + 1.0862 L > 0.8668, with W and L standardized over all rows.
    (data, target) : tuple
        If `return_X_y`.

    References
    ----------
    Z. C. Lipton, A. Chouldechova, J. McAuley: Does mitigating ML's impact disparity require
    treatment disparity? NeurIPS (2018), section 4.1. E. Black, S. Yeom, M. Fredrikson: FlipTest.
    FAT* (2020). doi:10.1145/3351095.3372845

    Examples
    --------
    >>> hiring = make_hiring(random_state=0)
    >>> hiring.frame.groupby("gender")["hired"].mean().round(2).to_dict()
    {'female': 0.16, 'male': 0.56}
    """
    rng = numbers_from(random_state)
    female = (rng.uniform(size=n_samples) < p_female).astype(int)
    work = rng.poisson(31 - 6 * female) - rng.normal(20, 0.2, n_samples)
    hair = 35 * rng.beta(2, 7 - 5 * female)
    probability = expit(2.5 * work - 25.5)
    hired = (rng.uniform(size=n_samples) < probability).astype(int)
    columns = {"gender": female, "work_experience": work, "hair_length": hair}
    data, target = tables(columns, ("male", "female"), hired, "hired", as_frame)
    if return_X_y:
        return data, target
    return bunch_of(
        data,
        target,
        columns,
        ["refused", "hired"],
        make_hiring.__doc__,
        probability=probability,
        decision=(1.2956 * _standard(work) + 1.0862 * _standard(hair) > 0.8668).astype(int),
    )


def _standard(x):
    return (x - x.mean()) / (x.std() or 1.0)
