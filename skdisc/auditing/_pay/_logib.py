"""Logib's model of pay: the gap that remains at equal training, experience, service and position.

Logib is the tool of the Swiss Federal Office for Gender Equality. Its model is a regression of the
logarithm of standardized pay on years of training, potential years of experience and their square,
years of service, level of requirements, professional position, and sex.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg, special

from skdisc.auditing._pay._gaps import PaidPeople
from skdisc.auditing._pay._templates import EU, LOGIB, LOGIB_COLUMNS, YEARS

TELLS_SEX = "the other columns tell who is a woman"
TOO_FEW = "too few people"
_RANK = 1e-10  # singular values, relative to the largest, that count as zero


@dataclass(frozen=True)
class LogibGap:
    """What remains by the model, a share of men's pay that is positive where women's is lower.

    Attributes
    ----------
    gap, low, high : float
        NaN if there is no gap.
    reason : str
        Why there is none, or "".
    """

    gap: float
    low: float
    high: float
    reason: str = ""


def check_logib(audit: Any, X: pd.DataFrame, is_plain: bool) -> dict | None:
    """Return the columns of Logib's model by what they are; None if it is not asked for.

    Parameters
    ----------
    audit : Audit
    X : DataFrame
    is_plain : bool
        Whether rows have neither weights nor clusters.

    Raises
    ------
    ValueError
        If the report cannot have the model, or a column is missing or no number of years.
    """
    named = (audit.pay or {}).get(LOGIB)
    if named is None:
        return None
    if audit.template != EU:
        raise ValueError(f"Logib's model stands beside the figures of --template {EU} only.")
    if audit.disclosure == "public":
        raise ValueError(
            "Logib's model compares at equal columns, and a public report has none of these "
            "figures: leave out --compare-with (pay={'logib': ...})."
        )
    if not is_plain:
        raise ValueError(
            "Logib's model takes each row as one person: leave out weights and groups, or "
            "--compare-with (pay={'logib': ...})."
        )
    if not isinstance(named, dict):
        raise ValueError(
            f"pay={{'logib': ...}} is a dict of columns, not {named!r}. Its keys: "
            f"{', '.join(LOGIB_COLUMNS)}."
        )
    unknown_keys = [key for key in named if key not in LOGIB_COLUMNS]
    if unknown_keys:
        raise ValueError(
            f"Logib's model has no {unknown_keys[0]!r}. What it has: {', '.join(LOGIB_COLUMNS)}."
        )
    for key in LOGIB_COLUMNS:
        if key not in named and key not in X:
            raise ValueError(
                f"Logib's model needs a column of {key}: name it by --compare-with "
                f"logib:{key}=COL (pay={{'logib': {{{key!r}: ...}}}})."
            )
    columns = {key: named.get(key, key) for key in LOGIB_COLUMNS}
    for key, name in columns.items():
        if name not in X:
            raise ValueError(
                f"{key} of Logib's model: there is no column {name!r}, or it is left out "
                f"(--ignore). Columns: {', '.join(map(str, X))}."
            )
    for key in YEARS:
        values = X[columns[key]]
        wrong = values[values.notna() & ~np.isfinite(_years(values))]
        if len(wrong):
            raise ValueError(
                f"{key} of Logib's model is a number of years, but {columns[key]!r} holds "
                f"{str(wrong.iloc[0])!r}: correct these rows, or name another column."
            )
    return columns


def logib_columns(X: pd.DataFrame, columns: dict) -> pd.DataFrame:
    """Return the columns of the model under its own names: years, and categories as text."""
    values = {}
    for key, name in columns.items():
        column = X[name]
        as_text = column.astype(object).where(column.notna(), None)
        values[key] = _years(column) if key in YEARS else as_text.map(str, na_action="ignore")
    return pd.DataFrame(values, index=X.index)


def usable(pay: np.ndarray, people: PaidPeople, columns: pd.DataFrame) -> np.ndarray:
    """Return who is in the model: women and men with pay above 0, and without missing values."""
    return (people.is_woman | people.is_man) & (pay > 0) & columns.notna().all(axis=1).to_numpy()


def logib_gap(
    pay: np.ndarray, is_woman: np.ndarray, columns: pd.DataFrame, significance: float
) -> LogibGap:
    r"""Return the gap of pay by Logib's model.

    The coefficient c of sex, of variance v by least squares, is the share
    :math:`\exp(c) / \exp(v / 2) - 1` of men's pay after Kennedy (1981, "Estimation with correctly
    interpreted dummy variables in semilogarithmic equations", American Economic Review 71(4)). The
    interval is that of c by Student's t, as shares :math:`\exp(c) - 1`.

    Parameters
    ----------
    pay : ndarray of float, shape (n,)
        Above 0.
    is_woman : ndarray of bool, shape (n,)
        The others are men.
    columns : DataFrame of shape (n, 5)
        From `logib_columns`, without missing values.
    significance : float
        One minus the level of the interval.
    """
    basis = _basis(columns)
    sex = is_woman.astype(float)
    # What is left of pay and of sex at equal columns has the coefficient of the whole regression.
    sex = sex - basis @ (basis.T @ sex)
    log = np.log(pay)
    log = log - basis @ (basis.T @ log)
    square, df = sex @ sex, len(pay) - basis.shape[1] - 1
    if square < _RANK * len(pay):
        return LogibGap(np.nan, np.nan, np.nan, TELLS_SEX)
    if df < 1:
        return LogibGap(np.nan, np.nan, np.nan, TOO_FEW)
    c = (sex @ log) / square
    v = ((log - c * sex) ** 2).sum() / df / square
    margin = special.stdtrit(df, 1 - significance / 2) * np.sqrt(v)
    gap, low, high = (-np.expm1(exponent) for exponent in (c - v / 2, c + margin, c - margin))
    return LogibGap(float(gap), float(low), float(high))


def _years(values):
    """Return numbers, NaN where a value is none."""
    return pd.to_numeric(values, errors="coerce").astype(float)


def _basis(columns):
    """Return orthonormal terms that span all of the model but sex, shape (n, n_terms)."""
    terms = [np.ones((len(columns), 1))]
    for key in YEARS:
        years = columns[key].to_numpy()
        terms.append((years - years.mean())[:, None])
    terms.append(terms[1 + YEARS.index("experience")] ** 2)
    for key in LOGIB_COLUMNS:
        if key not in YEARS:
            terms.append(pd.get_dummies(columns[key], dtype=float).to_numpy())
    design = np.hstack(terms)
    design = design / np.maximum(np.linalg.norm(design, axis=0), np.finfo(float).tiny)
    left_vectors, size, _ = linalg.svd(design, full_matrices=False)
    return left_vectors[:, size > _RANK * size[0]]
