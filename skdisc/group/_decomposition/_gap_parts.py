"""The parts of a gap: Kitagawa, Oaxaca and Blinder, and Gelbach, with the errors of each part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from skdisc._space._design_matrix import DesignMatrix
from skdisc.group._decomposition._regressions import Coefficients, least_squares
from skdisc.group._pairwise._estimates import Estimate, estimate_table

INTERCEPT = "(intercept)"
COEFFICIENTS = ("pooled", "neumark", "reference", "group", "cotton", "reimers")


@dataclass
class GapParts:
    """A gap and its parts.

    `total`: "gap", "explained", "unexplained", and further ones. `factors`: by part and factor.
    """

    total: dict
    factors: dict = field(default_factory=dict)

    def tables(self, significance: float) -> dict:
        """Return the tables "parts" and "factors", with the share of the gap."""
        tables = {"parts": estimate_table(self.total, significance)}
        if self.factors:
            factor_tables = [
                estimate_table({p: e}, significance) for (p, _), e in self.factors.items()
            ]
            tables["factors"] = pd.concat(factor_tables, ignore_index=True)
            tables["factors"].insert(1, "factor", [name for _, name in self.factors])
        gap = self.total["gap"].value
        for table in tables.values():
            table["share"] = table["estimate"] / gap if abs(gap) > 1e-12 else np.nan
        return tables


@dataclass(frozen=True)
class GapDesign:
    """A design with intercept, and which rows are of the group.

    Parameters
    ----------
    D : ndarray of float, shape (n_rows, n_terms)
        The first column is 1.
    factor : ndarray of int, shape (n_terms,)
        Number of the factor of each term; the intercept has 0.
    names : list of str
        Names of the factors.
    normalize : ndarray of float, shape (n_terms, n_terms)
        Maps coefficients to coefficients that add up to 0 over the categories of each factor.
    """

    D: np.ndarray
    factor: np.ndarray
    names: list
    normalize: np.ndarray
    inside: np.ndarray

    @classmethod
    def of(cls, design: DesignMatrix, inside: np.ndarray) -> "GapDesign":
        """Return the design with an intercept; constant terms are left out."""
        varies = np.ptp(design.values, axis=0) > 0 if len(inside) else design.nominal
        values, nominal = design.values[:, varies], design.nominal[varies]
        D = np.column_stack([np.ones(len(inside)), values])
        factor = np.append(0, design.factor[varies] + 1)
        T = np.eye(D.shape[1])
        for j in np.unique(factor[1:][nominal]):
            terms = 1 + np.flatnonzero((factor[1:] == j) & nominal)
            T[np.ix_(terms, terms)] -= 1 / len(terms)
            T[0, terms] += 1 / len(terms)
        return cls(D, factor, [INTERCEPT, *map(str, design.names)], T, inside)

    @property
    def n_terms(self) -> int:
        """Number of coefficients."""
        return self.D.shape[1]

    @property
    def df(self) -> float:
        """Degrees of freedom of two regressions."""
        return float(max(len(self.inside) - 2 * self.n_terms, 1))

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean rows of the group and of the reference."""
        return self.D[self.inside].mean(axis=0), self.D[~self.inside].mean(axis=0)

    def spread(self, group_values: np.ndarray, reference_values: np.ndarray) -> np.ndarray:
        """Return the influences on mean(one) of the group minus mean(other) of the reference."""
        a = self.inside
        out = np.empty(len(a))
        out[a] = (group_values[a] - group_values[a].mean()) / a.sum()
        out[~a] = -(reference_values[~a] - reference_values[~a].mean()) / (~a).sum()
        return out

    def by_factor(self, *, intercept: bool) -> list:
        """Return the name and the mask of the terms of each factor."""
        first = 0 if intercept else 1
        return [(n, self.factor == j) for j, n in enumerate(self.names) if j >= first]

    def fits(self, y: np.ndarray, fit: Callable, kind: str) -> tuple:
        """Return the coefficients of the group, of the reference, and those without a disparity.

        `fit`: `least_squares` or `logistic`. `kind`: one of `COEFFICIENTS`.
        """
        a = self.inside
        group, reference = fit(self.D, y, a), fit(self.D, y, ~a)
        # Without a term for the group ("neumark"), the slopes take up a part of the unexplained
        # gap.
        if kind == "pooled":
            pooled = fit(np.column_stack([self.D, a]), y)
            fair = pooled.mapped(np.eye(self.n_terms, self.n_terms + 1))
        elif kind == "neumark":
            fair = fit(self.D, y)
        else:
            shares = {"reference": 0.0, "group": 1.0, "cotton": a.mean(), "reimers": 0.5}
            fair = group.mixed(reference, shares[kind])
        return tuple(c.mapped(self.normalize) for c in (group, reference, fair))


def gap_of(d: GapDesign, y: np.ndarray) -> Estimate:
    """Return the gap of the means."""
    value = y[d.inside].mean() - y[~d.inside].mean()
    return Estimate.of_influence(value, d.spread(y, y), len(y) - 2)


def linear_parts(d: GapDesign, y: np.ndarray, kind: str) -> GapParts:
    r"""Decompose a gap of means in two and in three parts.

    With coefficients :math:`\beta_A, \beta_B` and the fair ones :math:`\beta^*`, explained is
    :math:`(\bar x_A - \bar x_B) \beta^*` and unexplained :math:`\bar x_A (\beta_A - \beta^*) +
    \bar x_B (\beta^* - \beta_B)`; endowments :math:`(\bar x_A - \bar x_B) \beta_B`, coefficients
    :math:`\bar x_B (\beta_A - \beta_B)` and interaction :math:`(\bar x_A - \bar x_B)(\beta_A -
    \beta_B)`.

    `kind`: one of `COEFFICIENTS`.
    """
    A, B, fair = d.fits(y, least_squares, kind)
    group_means, reference_means = d.means()
    parts = {
        "explained": (fair, fair, [(fair, group_means - reference_means)]),
        "unexplained": (
            _less(A, fair),
            _less(B, fair),
            [(A, group_means), (B, -reference_means), (fair, reference_means - group_means)],
        ),
        "endowments": (B, B, [(B, group_means - reference_means)]),
        "coefficients": (None, _less(B, A), [(A, reference_means), (B, -reference_means)]),
        "interaction": (
            _less(A, B),
            _less(A, B),
            [(A, group_means - reference_means), (B, reference_means - group_means)],
        ),
    }
    total, factors = {"gap": gap_of(d, y)}, {}
    for part, formula in parts.items():
        total[part] = _part(d, formula, np.ones(d.n_terms, bool))
        level = part in ("unexplained", "coefficients")
        for name, terms in d.by_factor(intercept=level):
            factors[part, name] = _part(d, formula, terms)
    return GapParts(total, factors)


def _less(first: Coefficients, second: Coefficients) -> np.ndarray:
    return first.values - second.values


def _part(d, formula, terms):
    """Return one part, restricted to some terms.

    It is mean_A(x b) - mean_B(x c); its error comes from the means and from the coefficients.
    """
    b, c, slopes = formula
    b, c = (np.zeros(d.n_terms) if v is None else getattr(v, "values", v) for v in (b, c))
    value = sum(coef.values[terms] @ direction[terms] for coef, direction in slopes)
    influence = d.spread(d.D[:, terms] @ b[terms], d.D[:, terms] @ c[terms])
    for coef, direction in slopes:
        influence = influence + coef.along(np.where(terms, direction, 0.0))
    return Estimate.of_influence(value, influence, d.df)


def gelbach_parts(d: GapDesign, y: np.ndarray, controls: Sequence[str]) -> GapParts:
    r"""Decompose the change of a group's coefficient as all factors enter at once.

    Without factors the coefficient of the group is :math:`\tilde\beta`, with them
    :math:`\hat\beta`; the part of a factor is what the group predicts of it times its own
    coefficient, whatever the order of the factors.

    `controls`: names of factors that are in both regressions.
    """
    is_control = np.isin(d.factor, [0, *(d.names.index(c) for c in map(str, controls))])
    base = np.column_stack([d.D[:, is_control], d.inside])
    full = least_squares(np.column_stack([d.D, d.inside]), y)
    unit = np.eye(base.shape[1])[-1]

    def effect(target):
        coefficients = least_squares(base, target)
        return coefficients.values[-1], coefficients.along(unit)

    gap = Estimate.of_influence(*effect(y), d.df)
    last = np.eye(d.n_terms + 1)[-1]
    unexplained = Estimate.of_influence(full.values[-1], full.along(last), d.df)
    slopes = np.array(
        [effect(d.D[:, t])[0] if not is_control[t] else 0.0 for t in range(d.n_terms)]
    )

    def part(terms):
        value, influence = effect(d.D[:, terms] @ full.values[:-1][terms])
        direction = np.append(np.where(terms, slopes, 0.0), 0.0)
        return Estimate.of_influence(value, influence + full.along(direction), d.df)

    factors = {
        ("explained", name): part(terms)
        for name, terms in d.by_factor(intercept=False)
        if terms.any() and not is_control[terms].any()
    }
    return GapParts(
        {"gap": gap, "explained": part(~is_control), "unexplained": unexplained}, factors
    )
