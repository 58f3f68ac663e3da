"""The engine: residuals of outcomes and memberships with nothing left to learn."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from skdisc._expectations._code_columns import code_columns, note_on_codes
from skdisc._expectations._covariates import Covariates, canonical_order, names_of
from skdisc._expectations._crossings import Crossings, Sampling, Unlearned, widening
from skdisc._expectations._least_squares import LEAST, ROUGH, TOLERANCE, LeastSquares
from skdisc._expectations._out_of_fold import (
    ClonesOf,
    Trees,
    draw_folds,
    n_splits_of,
    out_of_fold,
)

PEOPLE_PER_JOINED_CELL = 10  # cells that join are a tenth of the people at most
_MOST_JOINED = 5
_LEAST_DOUBT = 0.01  # standard errors of an estimate; less changes no interval
_MOST_PARTS = 20  # that are learned in several sets of folds
_SEED = 0  # of the coin


@dataclass(frozen=True)
class Expectations:
    """Predictions of an outcome and of memberships from covariates, and their residuals.

    Attributes
    ----------
    outcome : ndarray of float, shape (n_rows,)
        Residuals y - e(x).
    parts : ndarray of float, shape (n_rows, n_parts)
        Residuals 1_P - π(x) of the memberships.
    expected : ndarray of float, shape (n_rows,)
        e(x).
    shares : ndarray of float, shape (n_rows, n_parts)
        π(x), not clipped.
    gap : ndarray of float, shape (n_parts,)
        Estimates at equal covariates, Σ d r / Σ d², which weigh people by overlap.
    error : ndarray of float, shape (n_parts,)
        Their standard errors, times √(n / (n - rank)).
    rank : float
        Parameters that least squares spent.
    joined : list of Unlearned
        The crossings whose cells joined the main effects.
    unlearned : list of list of Unlearned or None
        What is left to learn of each estimate; None where it was not looked for.
    main : ndarray of float, shape (n_rows,)
        The outcome less main effects and joined cells, before trees learned.
    design : LeastSquares
        In the canonical order of rows: see `order`.
    order : ndarray of int, shape (n_rows,)
        The canonical order.
    crossings : Crossings
        In the canonical order of rows.
    taken_for_law : float
        By what share learners increase the variance of the residuals of a coin, of which there is
        nothing to learn; 0 where that was not looked at.
    """

    outcome: np.ndarray
    parts: np.ndarray
    expected: np.ndarray
    shares: np.ndarray
    gap: np.ndarray
    error: np.ndarray
    rank: float
    joined: list
    unlearned: list
    main: np.ndarray = field(repr=False)
    design: LeastSquares = field(repr=False)
    order: np.ndarray = field(repr=False)
    crossings: Crossings = field(repr=False)
    notes: list = field(default_factory=list)
    taken_for_law: float = 0.0

    def widening(self, part: int = 0) -> tuple[float, float]:
        """Return by how much the ends of an interval of a gap move down and up."""
        return widening(self.unlearned[part] or [])

    def interval(self, part: int = 0, z: float = 1.96) -> tuple[float, float]:
        """Return the interval of a gap, z errors wide, widened by what is left to learn."""
        down, up = self.widening(part)
        reach = z * self.error[part]
        return self.gap[part] - reach - down, self.gap[part] + reach + up

    def leverage(self) -> np.ndarray:
        """Return the leverage of one person of each row, shape (n_rows,)."""
        leverage = self.design.leverage(self.crossings.sampling.people, self.rank)
        return _put_back(leverage, self.order)

    def inflation(self) -> np.ndarray:
        """Return by how much the variance of each residual exceeds what its square shows (HC2)."""
        return 1 / np.maximum(1 - self.leverage(), LEAST)

    def residual(self, values: np.ndarray) -> np.ndarray:
        """Return what main effects and cells leave of columns of values, roughly, (n_rows, n)."""
        ordered = np.asarray(values, dtype=float)[self.order]
        return _put_back(self.design.residual(ordered, ROUGH), self.order)

    def main_effects(self) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Return main effects, (n_rows, rank), and what makes an orthonormal basis of them.

        They are scaled by root weights; blocks of very many values are not among them.
        """
        design, inverse = self.design.main()
        return design[_put_back(np.arange(len(self.order)), self.order)], inverse

    def contributions(self, values: np.ndarray) -> dict:
        """Return what columns contribute to the fit of values by main effects.

        Columns of which one is nearly a function of the others are together.

        Returns a dict of tuple of column names to ndarray of float: up to constants.
        """
        names = self.design.covariates.names
        parts = self.design.parts(np.asarray(values, dtype=float)[self.order])
        return {
            tuple(sorted((names[j] for j in columns), key=str)): _put_back(part, self.order)
            for columns, part in parts.items()
        }

    def left_to_learn(
        self, outcome: np.ndarray, part: np.ndarray, rows: np.ndarray | None = None
    ) -> list[Unlearned]:
        """Return what is left to learn of the estimate Σ d r / Σ d² of other residuals.

        These may be the residuals of a fit of causes, of matching, or of a context.

        `rows`: the rows that the estimate is of; None: all. Returns a list of Unlearned: each
        surely moves the estimate, the surest first; empty if nothing does.
        """
        r, d, rank = outcome[self.order], part[self.order][:, None], self.rank
        crossings = self.crossings
        if rows is not None:
            rank *= rows.mean()
            selected = rows[self.order]
            crossings = Crossings(
                crossings.covariates.take(selected), crossings.sampling.take(selected)
            )
            r, d = r[selected], d[selected]
        gap, error = estimate(r, d, rank, crossings.sampling)
        if rows is not None:
            crossings.narrow(np.column_stack([r, d]), r[:, None] - gap * d, d)
        return crossings.to_widen(crossings.unlearned(r, d, gap, error)[0])


def learn(
    covariates: Covariates,
    outcome: np.ndarray,
    parts: np.ndarray,
    rng: np.random.Generator,
    *,
    weight: np.ndarray | None = None,
    people: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
    learner: Any = "boosting",
    X: pd.DataFrame | None = None,
    folds: np.ndarray | None = None,
    n_splits: int | None = None,
    checked: Sequence[int] | None = None,
    tosses: bool = False,
) -> Expectations:
    """Predict an outcome, and memberships in parts of the people, from covariates.

    Main effects come first, by least squares without shrinkage; then the cells of crossings that
    surely move an estimate, before trees learn, so that no seed decides about them; then trees,
    out of fold, and least squares of their residuals. What crossings would still add to an estimate
    widens its interval.

    Parameters
    ----------
    parts : ndarray, shape (n_rows,) or (n_rows, n_parts)
        Memberships, or shares of a person's membership.
    rng : numpy Generator
        Draws folds.
    weight : ndarray of float, shape (n_rows,), optional
        Weight of each person of a row; its unit does not count.
    people : ndarray of int64, shape (n_rows,), optional
        Number of equal people of each row. Deal them into folds first (`deal_rows`).
    cluster : ndarray of int, shape (n_rows,), optional
        Numbers from 0. Clusters stay whole in folds.
    learner : {"boosting", "additive"} or estimator, default="boosting"
        Boosted trees; nothing besides main effects and cells; or an estimator in the place of
        trees.
    X : DataFrame of shape (n_rows, n_columns), optional
        The columns as an estimator gets them.
    folds : ndarray of int, shape (n_splits, n_rows), optional
        None: drawn here.
    n_splits : int, optional
        Sets of folds; None: three below 20,000 people, else one, as with an estimator.
    checked : sequence of int, optional
        The parts for which crossings are looked at; None: all. Cells join for these. Trees do not
        learn the intersections of these parts: the product of their shares is what main effects
        are added to, as if the parts were independent among people with the same covariates.
    tosses : bool, default=False
        Whether learners get a coin, too: see `Expectations.taken_for_law`.
    """
    y = np.asarray(outcome, dtype=float)
    parts = np.asarray(parts, dtype=float)
    parts = parts[:, None] if parts.ndim == 1 else parts
    targets = np.column_stack([y, parts])
    rows, columns = canonical_order(covariates, targets, weight, people, cluster)
    covariates, targets = covariates.take(rows, columns), targets[rows]
    sampling = Sampling(weight, people, cluster).take(rows)
    if cluster is not None:  # numbered by their rows
        sampling = replace(sampling, cluster=pd.factorize(sampling.cluster)[0])
    if weight is not None:
        # How much trees are shrunk depends on the sum of weights: it is kept as for equal rows one
        # by one.
        mean = np.average(sampling.weight, weights=sampling.people)
        sampling = replace(sampling, weight=sampling.weight / max(mean, 1e-300))
    design = LeastSquares(covariates, sampling.mass, sampling.people)
    crossings = Crossings(covariates, sampling)
    state = _State(targets, design, crossings, _distinct(targets[:, 1:], checked))
    flagged = state.join(targets)
    notes = [note_on_codes(column) for column in code_columns(covariates, targets, sampling)]
    notes += [f"The cells of {crossing} were adjusted for, too." for crossing in state.joined]
    main = state.values[:, 0]
    learn_one = _learner(
        learner, covariates, sampling, targets, None if X is None else X.iloc[rows]
    )
    if learn_one is not None and folds is None:
        n_people = sampling.n_people(covariates.n_rows)
        n_splits = n_splits or (n_splits_of(n_people) if isinstance(learner, str) else 1)
        folds = draw_folds(
            covariates.n_rows, n_splits, rng, people=sampling.people, cluster=sampling.cluster
        )
    elif folds is not None:
        folds = folds[:, rows]
    taken_for_law = 0.0
    if learn_one is not None and folds is not None:
        if tosses:
            taken_for_law = _taken_for_law(learn_one, folds, design, sampling)
        crossed = _crossed(targets, checked)
        state.learn(targets - _predicted(learn_one, targets, folds, crossed))
    elif state.joined:
        state.learn(state.values)
        main = state.values[:, 0]
    if state.joined or learn_one is not None:
        flagged = state.look()
    values = _put_back(state.values, rows)
    gap, error = state.estimate()
    return Expectations(
        outcome=values[:, 0],
        parts=values[:, 1:],
        expected=y - values[:, 0],
        shares=parts - values[:, 1:],
        gap=gap,
        error=error,
        rank=design.whole_rank(),
        joined=state.joined,
        unlearned=state.left(flagged),
        main=_put_back(main, rows),
        design=design,
        order=rows,
        crossings=crossings,
        notes=notes,
        taken_for_law=taken_for_law,
    )


def _taken_for_law(learn_one, folds, design, sampling):
    """Return by what share learners increase the variance of the residuals of a coin.

    What they take for a law of a coin they add to the residuals of every outcome, as noise that
    people of one fold who are alike have in common.
    """
    coin = np.random.default_rng(_SEED).integers(2, size=(folds.shape[1], 1)).astype(float)
    residuals = design.residual(coin - out_of_fold(learn_one, coin, folds), ROUGH)[:, 0]
    n = sampling.n_people(len(coin))
    tossed = np.average((coin[:, 0] - coin.mean()) ** 2, weights=sampling.mass)
    left = tossed * (1 - design.whole_rank() / n)
    variance = np.average(residuals**2, weights=sampling.mass)
    return max(0.0, float(variance / left) - 1) if left > 0 else 0.0


def _put_back(values, order):
    """Return values of ordered rows in the order that the rows had before."""
    restored = np.empty(values.shape, values.dtype)
    restored[order] = values
    return restored


class _State:
    """Residuals while they are learned, shape (n_rows, 1 + n_parts), and the cells that joined."""

    def __init__(self, targets, design, crossings, checked):
        self.design, self.crossings, self.joined, self.checked = design, crossings, [], checked
        self.doubts = [[] for _ in checked]
        self.learn(targets)

    def learn(self, values, tolerance=TOLERANCE):
        """Set the residuals to what least squares leaves of values.

        What is left of all others is what is left of a group with another sign.
        """
        group_of = {1 + q: 1 + p for p, complements in self.checked.items() for q in complements}
        independent = [j for j in range(values.shape[1]) if j not in group_of]
        self.values = np.empty(values.shape)
        self.values[:, independent] = self.design.residual(values[:, independent], tolerance)
        for complement, group in group_of.items():
            self.values[:, complement] = -self.values[:, group]

    def estimate(self):
        """Return the estimates of all parts, and their errors."""
        r, d = self.values[:, 0], self.values[:, 1:]
        return estimate(r, d, self.design.whole_rank(), self.crossings.sampling)

    def look(self, only=None):
        """Return the crossings that would add to the estimates, by part checked."""
        parts = list(self.checked)
        gap, error = self.estimate()
        return self.crossings.unlearned(
            self.values[:, 0],
            self.values[:, 1:][:, parts],
            gap[parts],
            error[parts],
            skip=[crossing.indices for crossing in self.joined],
            only=only,
        )

    def left(self, flagged):
        """Return what is left to learn of each part; of a group's complement with another sign."""
        unlearned = [None] * (self.values.shape[1] - 1)
        for part, of_part, doubts in zip(self.checked, flagged, self.doubts, strict=True):
            unlearned[part] = self.crossings.to_widen(of_part) + doubts
            for complement in self.checked[part]:
                unlearned[complement] = [replace(u, bias=-u.bias) for u in unlearned[part]]
        return unlearned

    def join(self, targets):
        """Let cells of the surest crossings join; return what the crossings looked at still add.

        After the first look at all crossings, only those that counted in the look before are
        looked at: each joining leaves fewer.
        """
        mass = self.crossings.sampling.mass
        whole = targets - np.average(targets, axis=0, weights=mass) if len(targets) else targets
        parts = list(self.checked)
        r, d = self.values[:, :1], self.values[:, 1:][:, parts]
        whole = whole[:, [0, *(1 + p for p in parts)]]
        self.crossings.narrow(whole, r - d * self.estimate()[0][parts], d)
        flagged = self.look()
        while len(self.joined) < _MOST_JOINED:
            room = self.crossings.n_people / PEOPLE_PER_JOINED_CELL
            room -= sum(crossing.n_cells for crossing in self.joined)
            sure = self.crossings.to_join(flagged, self.estimate()[1][parts])
            fitting = [crossing for crossing in sure if crossing.n_cells <= room]
            if not fitting:
                break
            # One at a time, as each that joins changes what the others would still add.
            self._doubt(fitting[0].indices, flagged)
            self.joined.append(fitting[0])
            columns = [self.crossings.columns[k].column for k in fitting[0].indices]
            self.design.add(tuple(columns), self.crossings.joint(fitting[0].indices).codes)
            self.learn(self.values, ROUGH)
            counted = sorted({crossing.indices for of_part in flagged for crossing in of_part})
            flagged = self.look(only=counted)
        return flagged

    def _doubt(self, indices, flagged):
        """Keep what estimates may lack because the cells of a crossing join."""
        unit = self.estimate()[1][list(self.checked)]
        for doubts, of_part, error in zip(self.doubts, flagged, unit, strict=True):
            joining = [crossing for crossing in of_part if crossing.indices == indices]
            lacking = [self.crossings.doubt(crossing, len(flagged)) for crossing in joining]
            doubts += [doubt for doubt in lacking if abs(doubt.bias) > _LEAST_DOUBT * error]


def estimate(
    outcome: np.ndarray, parts: np.ndarray, rank: float, sampling: Sampling
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ d r / Σ d² of each part, and its standard error times √(n / (n - rank))."""
    mass = sampling.mass
    weighted = parts if mass is None else parts * mass[:, None]
    size = np.maximum((weighted * parts).sum(axis=0), 1e-300)
    gap = weighted.T @ outcome / size
    residuals = outcome[:, None] - parts * gap
    n = sampling.n_people(len(outcome))
    if sampling.cluster is not None:
        planes = (weighted * residuals).T
        variance = np.array([(np.bincount(sampling.cluster, p) ** 2).sum() for p in planes])
    else:
        parts_per_person = parts if sampling.weight is None else parts * sampling.weight[:, None]
        square = (parts_per_person * residuals) ** 2
        times = 1 if sampling.people is None else sampling.people[:, None]
        variance = (square * times).sum(axis=0)
    return gap, np.sqrt(variance * n / max(n - rank, 1)) / size


def _distinct(parts, checked):
    """Return parts to check, each with those that are all others: B of these is the same."""
    complements_of, part_of_members = {}, {}
    for p in range(parts.shape[1]) if checked is None else checked:
        complement = part_of_members.get((1 - parts[:, p]).tobytes())
        if complement is None:
            complements_of[p] = []
            part_of_members[parts[:, p].tobytes()] = p
        else:
            complements_of[complement].append(p)
    return complements_of


def _learner(learner, covariates, sampling, targets, X):
    """Return what learns one target out of fold; None: main effects and cells are all."""
    if not len(covariates) or (isinstance(learner, str) and learner == "additive"):
        return None
    if isinstance(learner, str):
        return Trees(covariates, sampling.weight, sampling.people)
    return ClonesOf(learner, X, targets)


def _crossed(targets, checked):
    """Return columns of targets that are intersections of checked parts, with what they cross.

    Returns a dict of int to list of (int, bool): column of a part, and whether all others are
    meant.
    """
    if checked is None:
        return {}
    sides = {}  # the people of each side, once if both are equal
    for p in checked:
        inside = targets[:, 1 + p] == 1
        for side, is_rest in ((inside, False), (~inside, True)):
            sides.setdefault(side.tobytes(), (side, (1 + p, is_rest)))
    sides, crossed = list(sides.values()), {}
    for j in sorted(set(range(1, targets.shape[1])) - {1 + p for p in checked}):
        inside = targets[:, j] == 1
        around = [(side, key) for side, key in sides if side[inside].all()]
        # of sides within each other, such as ages up to 30 and up to 40, the smallest
        around = [
            (side, key)
            for side, key in around
            if not any(side[inner].all() and inner.sum() < side.sum() for inner, _ in around)
        ]
        if around and np.array_equal(np.all([side for side, _ in around], axis=0), inside):
            crossed[j] = [key for _, key in around]
    return crossed


def _predicted(learn_one, targets, folds, crossed):
    """Return out-of-fold predictions; parts that others add up to are not learned, but added up.

    So of a group and all others, or of five races, one is not learned. More than twenty parts are
    learned in one set of folds, whatever the number of sets. Intersections of several columns are
    predicted from those.
    """
    parts = [j for j in range(1, targets.shape[1]) if j not in crossed]
    with_one = np.column_stack([np.ones(len(targets)), targets[:, parts]])
    gram, basis, made = with_one.T @ with_one, [0], {}
    for j in range(1, with_one.shape[1]):
        slopes = np.linalg.lstsq(gram[np.ix_(basis, basis)], gram[basis, j], rcond=None)[0]
        remainder = gram[j, j] - gram[basis, j] @ slopes
        if remainder > 1e-9 * max(gram[j, j], 1e-300):
            basis.append(j)
        else:
            made[j] = slopes, list(basis)
    predictions, learned = np.ones(targets.shape), [parts[j - 1] for j in basis[1:]]
    predictions[:, :1] = out_of_fold(learn_one, targets[:, :1], folds)
    of_parts = folds if len(learned) <= _MOST_PARTS else folds[:1]
    predictions[:, learned] = out_of_fold(learn_one, targets[:, learned], of_parts)
    with_one[:, 1:] = predictions[:, parts]
    for j, (slopes, basis_columns) in made.items():
        predictions[:, parts[j - 1]] = with_one[:, basis_columns] @ slopes
    for j, sides in crossed.items():
        shares = [1 - predictions[:, p] if is_rest else predictions[:, p] for p, is_rest in sides]
        predictions[:, j] = np.prod(np.clip(shares, 0, 1), axis=0)
    return predictions


def said_about(unlearned: list[Unlearned]) -> str:
    """Return what is left to learn of an estimate, in words; "" if nothing is."""
    if not unlearned:
        return ""
    below, above = widening(unlearned)
    sizes = {"down": below, "up": above}
    ends = [f"{side} by {size:.2g}" for side, size in sizes.items() if size]
    waiting, reasons = [crossing for crossing in unlearned if not crossing.has_joined], []
    if waiting:
        worst = max(waiting, key=lambda crossing: abs(crossing.bias) + 2 * crossing.error)
        reasons.append(
            f"The cells of {names_of(worst.columns)} would still add {worst.bias:.2g} (standard "
            f"error {worst.error:.2g}) to what is not accounted for"
        )
    joined = [crossing for crossing in unlearned if crossing.has_joined]
    if joined:
        names = ", and of ".join(names_of(crossing.columns) for crossing in joined)
        joined_bias = -sum(crossing.bias for crossing in joined)
        reasons.append(
            f"The cells of {names} were adjusted for, perhaps for nothing, and may have taken "
            f"{joined_bias:.2g} too much from what is not accounted for"
        )
    return f"{'. '.join(reasons)}; the interval is widened {' and '.join(ends)}."
