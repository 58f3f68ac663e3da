"""Least squares on main effects and on cells of crossings, by projections in turn."""

from functools import cached_property
from itertools import compress

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import SplineTransformer

from skdisc._expectations._covariates import (
    Covariates,
    dense,
    shared_values,
    sums_over_cells,
)
from skdisc._utils._frequency import quantiles, taken
from skdisc._utils._run_clock import go_on

PEOPLE_PER_SHARED_VALUE = 5  # indicators of shared values are a fifth of the people at most
_LARGE = 300  # values from which an indicator is a mean of its people, and no column of a matrix
_MOST_COLUMNS = 2000  # of the matrix, whose Gram matrix is dense
_RANK = 1e-7  # of the squared length of a column; what others leave less of counts as explained
TOLERANCE = 1e-7  # of the length of values, by which residuals may still move
ROUGH = 1e-4  # of residuals that only say where to look
_TOLERANCE_OF_RANK = 1e-3
_MOST_SWEEPS, _MOST_STEPS = 500, 2000
_PROBES = 2
_FEW_PLANES = 3  # columns up to which one by one is faster than all together
_FREE = 0.05  # share of a contribution that is its own at least; with less, others make it up
_SHARE_OF_MAKING = 0.04  # of the variance of a contribution, that a column adds which makes it up
_NOTHING, _ROUNDING = 1e-9, 1e-6
_FULL, _ROWS = 0.4, 2**12  # share of numbers from which a matrix is dense; rows of it at a time
_KNOTS = np.linspace(0, 1, 5)
_SMALLEST_POWER, _CLOSEST_KNOTS = -500, 1e-290  # of numbers, and distance of knots that are two
LEAST = 0.05  # share of a row's variance that its own residual keeps at least


class LeastSquares:
    """Least squares on the main effects of covariates, and on the cells of crossings.

    Main effects are a spline for each number, an indicator for each category, and one for each
    value of a number that at least ten people share: codes, months, heaped salaries. They are not
    shrunk. Residuals off cells are differences from their means; off main effects, they need one
    factor of a Gram matrix. Residuals off both are found by sweeping over all of them in turn until
    nothing changes: normal equations of all cells would fill in, as crossings overlap everywhere,
    and cost the cube of their number.

    Parameters
    ----------
    weight : ndarray of float, shape (n_rows,), optional
        Weights of the rows, numbers of people included; None: 1.
    people : ndarray of int64, shape (n_rows,), optional
        Number of people of each row; None: 1.

    Attributes
    ----------
    rank : int
        Rank of the main effects, without `blocks`.
    blocks : list of ndarray of int, shape (n_rows,)
        The cell of each row in each crossing that was added.
    """

    def __init__(
        self,
        covariates: Covariates,
        weight: np.ndarray | None = None,
        people: np.ndarray | None = None,
    ) -> None:
        self.covariates = covariates
        n = covariates.n_rows
        self._root = None if weight is None else np.sqrt(weight)
        self._mass = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
        self.splines, self.indicators, self.left_out = _main_effects(covariates, people)
        small, large = _divided(self.indicators)
        numbers = zip(self.splines, covariates.values, strict=True)
        made = [np.ones((n, 1)), *(s.columns(x) for s, x in numbers if s is not None)]
        owners = [None] + [j for j, spline in enumerate(self.splines) if spline is not None]
        made += [_one_hot(codes) for _, codes in small]
        owners += [j for j, _ in small]
        self._owner = np.repeat(owners, [part.shape[1] for part in made])
        columns = sparse.hstack([sparse.csc_matrix(part) for part in made], format="csc")
        if self._root is not None:
            columns = sparse.diags(self._root) @ columns
        size = np.asarray(columns.multiply(columns).sum(axis=0)).ravel()
        columns = (columns @ sparse.diags(1 / np.sqrt(np.maximum(size, 1e-300)))).tocsc()
        gram = _inner_products(columns)
        factor, order, self.rank, _ = linalg.lapack.dpstrf(gram, tol=_RANK)
        self._independent = order[: self.rank] - 1  # these explain the others, so the rank is exact
        self._factor = np.triu(factor[: self.rank, : self.rank])
        self._main = columns[:, self._independent].tocsc()
        self._dependent = order[self.rank :] - 1  # which the independent ones explain
        self._explained = columns[:, self._dependent].tocsc()
        self._n_people = n if people is None else int(people.sum())
        self.blocks, self._one_over_mass, self.names, self._probes = [], [], [], None
        for j, codes in large:
            self.add((j,), codes + 1)  # those who share no value are one more cell
        self._n_large = len(large)

    def add(self, columns: tuple[int, ...], cells: np.ndarray) -> None:
        """Add the cells of a crossing of columns."""
        size = np.bincount(cells, self._mass)
        self.names.append(tuple(columns))
        self.blocks.append(cells)
        self._one_over_mass.append(1 / np.where(size > 0, size, 1))

    def residual(self, values: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        """Return what weighted least squares leaves of each column of values, (n_rows, n).

        Those of rows without weight are 0.
        """
        if self._root is None:
            return self._off(np.asarray(values, dtype=float), tolerance)
        residuals = self._off(values * self._root[:, None], tolerance)
        return residuals / np.where(self._root > 0, self._root, 1)[:, None]

    def whole_rank(self) -> float:
        """Return the rank of main effects and cells together.

        That of the main effects is exact. What cells add is estimated from two fixed vectors of
        random signs: the squared length of what a projection leaves of them has its trace as mean.
        """
        if not self.blocks:
            return self.rank
        if self._probes is None:
            signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(self._mass), _PROBES))
            alone = self._off_main_effects(signs)
            self._probes = alone, (alone**2).sum(), 0
        residuals, size, n_blocks = self._probes
        if n_blocks < len(self.blocks):
            residuals = self._off(residuals, _TOLERANCE_OF_RANK)
            self._probes = residuals, size, len(self.blocks)
        return self.rank + (size - (residuals**2).sum()) / _PROBES

    def _off_main_effects(self, values):
        if values.shape[1] > _FEW_PLANES:
            inner = linalg.cho_solve((self._factor, False), self._main.T @ values)
            return values - self._main @ inner
        # Few columns take half the time one by one, each of them contiguous.
        residuals, rows_of_main = np.array(values, dtype=float, order="F"), self._main.T
        for plane in residuals.T:
            plane -= self._main @ linalg.cho_solve((self._factor, False), rows_of_main @ plane)
        return residuals

    def _off(self, values, tolerance):
        """Return residuals of values that are scaled by root weights, by conjugate gradients."""
        residuals = self._off_main_effects(values)
        if not self.blocks:
            return residuals
        size = (values**2).sum(axis=0)
        step = move = residuals - self._swept(residuals)
        length = (move**2).sum(axis=0)
        for _ in range(_MOST_SWEEPS):
            go_on("fitting the cells of crossings")
            if (length <= tolerance**2 * size).all():
                break
            fallen = step - self._swept(step)
            rate = length / np.maximum((step * fallen).sum(axis=0), 1e-300)
            residuals, move, before = residuals - rate * step, move - rate * fallen, length
            length = (move**2).sum(axis=0)
            step = move + length / np.maximum(before, 1e-300) * step
        return residuals

    def _swept(self, values):
        """Return values after a sweep over all blocks, forth and back, so that it is symmetric."""
        if values.shape[1] > _FEW_PLANES:
            return self._off_main_effects(self._swept_together(values))
        blocks = list(zip(self.blocks, self._one_over_mass, strict=True))
        values = values.copy(order="F")
        part = np.empty(len(values))
        for cells, share in blocks + blocks[-2::-1]:
            for plane in values.T:
                sums = np.bincount(cells, plane if self._root is None else plane * self._root)
                np.take(sums * share, cells, out=part)
                plane -= part if self._root is None else part * self._root
        return self._off_main_effects(values)

    def _swept_together(self, values):
        """Return many columns of values after the blocks of a sweep."""
        blocks = list(zip(self.blocks, self._one_over_mass, strict=True))
        values, root = values.copy(order="C"), self._root
        part = np.empty_like(values)
        for cells, share in blocks + blocks[-2::-1]:
            scaled = values if root is None else values * root[:, None]
            sums = sums_over_cells(cells, len(share), scaled)
            np.take(sums * share[:, None], cells, axis=0, out=part)
            values -= part if root is None else part * root[:, None]
        return values

    def leverage(self, people: np.ndarray | None = None, rank: float | None = None) -> np.ndarray:
        """Return the leverage of one person of each row, shape (n_rows,).

        In a cell it is one over the people of the cell. Where crossings overlap, the sum of all is
        too large; then it is scaled to the rank.
        """
        main, inverse = self.main()
        parts = range(0, main.shape[0], 20_000)
        sums_of_squares = [((main[i : i + 20_000] @ inverse) ** 2).sum(axis=1) for i in parts]
        leverage = np.concatenate([np.zeros(0), *sums_of_squares])
        for cells, inverse_mass in zip(self.blocks, self._one_over_mass, strict=True):
            leverage = leverage + self._mass * inverse_mass[cells]
        if rank is not None and self.blocks:
            leverage = leverage * min(rank / max(leverage.sum(), 1e-300), 1)
        return leverage if people is None else leverage / people

    def main(self) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Return the matrix of main effects, scaled by root weights, and what makes it a basis."""
        return self._main.tocsr(), linalg.solve_triangular(self._factor, np.eye(self.rank))

    def parts(self, values: np.ndarray) -> dict:
        """Return what columns contribute to the fit of values by main effects.

        Columns of which one is nearly a function of the others contribute together: what each does
        is not determined.

        Returns a dict of tuple of int to ndarray of float: by columns, up to constants.
        """
        scaled = values if self._root is None else values * self._root
        root = 1.0 if self._root is None else np.where(self._root > 0, self._root, 1)
        slopes, of_blocks = self._slopes(scaled)
        owner, contribution_of = self._owner[self._independent], {}
        for j in dict.fromkeys(o for o in owner if o is not None):
            is_of_column = owner == j
            contribution_of[j] = (self._main[:, is_of_column] @ slopes[is_of_column]) / root
        for (j,), cells, slope in zip(
            self.names[: self._n_large], self.blocks[: self._n_large], of_blocks, strict=True
        ):
            contribution_of[j] = contribution_of.get(j, 0.0) + slope[cells]
        together = {}
        for several in self._tangled(contribution_of, slopes):
            parts = [contribution_of[j] for j in several if j in contribution_of]
            if parts:
                together[several] = np.sum(parts, axis=0)
        return together

    def _tangled(self, parts, slopes):
        """Return tuples of columns; columns that cannot be separated share a tuple.

        `parts`: what each contributes. `slopes`: slopes of the main effects kept.
        """
        columns = list(dict.fromkeys([*parts, *(o for o in self._owner if o is not None)]))
        home = {j: {j} for j in columns}
        for j, makers in self._made_of(parts, slopes):
            joined = set.union(home[j], *(home[k] for k in makers))
            home |= dict.fromkeys(joined, joined)
        return list(dict.fromkeys(tuple(sorted(home[j])) for j in columns))

    @cached_property
    def _every(self):
        """Inner products of all main effects, kept ones first, and with a constant."""
        every = sparse.hstack([self._main, self._explained], format="csc")
        root = np.sqrt(self._mass)
        return _inner_products(every), every.T @ (root / np.sqrt(root @ root))

    def _made_of(self, parts, slopes):
        """Yield each column that others nearly make up, with the columns that make it up."""
        root = np.sqrt(self._mass)
        owner, explained = self._owner[self._independent], self._owner[self._dependent]
        of_explained = linalg.cho_solve(
            (self._factor, False), self._every[0][: self.rank, self.rank :]
        )
        for k in set(explained) - {None, *owner, *parts}:  # such as the region of towns
            slopes_of_column = of_explained[:, explained == k]
            sizes = self._sizes(owner, slopes_of_column)
            yield k, [j for j, size in sizes if size > _ROUNDING]
        inverse = linalg.cho_solve((self._factor, False), np.eye(self.rank))
        n_free = max(self._n_people - self.rank, 1)
        blocks = zip(self.names, self.blocks, self._one_over_mass, strict=True)
        large = list(blocks)[: self._n_large]
        for j, part in parts.items():
            away = (part - np.average(part, weights=self._mass)) * root
            variance = away @ away
            if variance <= _NOTHING * (root @ root):
                continue
            for (k,), cells, share in large:
                remainder = away - root * (np.bincount(cells, away * root) * share)[cells]
                n_left = self._n_people - len(share)
                if (
                    k != j
                    and n_left > 0
                    and self._is_small(remainder @ remainder / n_left, variance)
                ):
                    yield j, [k]
            positions = np.flatnonzero(owner == j)
            if not len(positions) or any(k == j for (k,), *_ in large):
                continue
            free = slopes[positions] @ np.linalg.solve(
                inverse[np.ix_(positions, positions)], slopes[positions]
            )
            makes = np.abs(of_explained[positions]).max(axis=0, initial=0) > _ROUNDING
            makes &= explained != j
            if makes.any() or self._is_small(free / n_free, variance):
                yield j, self._making(positions, slopes[positions], variance)

    def _making(self, positions, slopes, variance):
        """Return the columns that make up a contribution, [] if there are none."""
        owner, gram = self._owner[np.append(self._independent, self._dependent)], self._every[0]
        other_positions = np.flatnonzero(owner != owner[positions[0]])
        along = gram[np.ix_(other_positions, positions)] @ slopes
        of_others = gram[np.ix_(other_positions, other_positions)]
        length = slopes @ gram[np.ix_(positions, positions)] @ slopes
        remainder = length - _length_explained(of_others, along)
        if not self._is_small(remainder / max(self._n_people - self.rank, 1), variance):
            return []
        # Of all solutions the smallest; a pivoted QR finds it in a third of the time of an SVD.
        made = linalg.lstsq(of_others, along, cond=_RANK, lapack_driver="gelsy")[0]
        slopes = np.zeros((len(owner), 1))
        slopes[other_positions, 0] = made
        return [j for j, size in self._sizes(owner, slopes) if size > _SHARE_OF_MAKING * variance]

    def _sizes(self, owner, slopes):
        """Return columns with the largest squared length of what slopes make of each, centered."""
        sizes, (gram, constant) = [], self._every
        for j in sorted({o for o in owner if o is not None}):
            positions = np.flatnonzero(owner == j)
            lengths = (
                (gram[np.ix_(positions, positions)] @ slopes[positions]) * slopes[positions]
            ).sum(axis=0)
            sizes.append((j, (lengths - (constant[positions] @ slopes[positions]) ** 2).max()))
        return sizes

    def _is_small(self, variance_left, variance):
        """Return whether a variance is a small part of the squares of a contribution."""
        return variance_left < _FREE * variance / self._n_people

    def _slopes(self, scaled):
        """Return coefficients of the main effects kept, and of the values of large columns."""
        if not self._n_large:
            return linalg.cho_solve((self._factor, False), self._main.T @ scaled), []
        root = np.sqrt(self._mass)
        large = list(zip(self.blocks, self._one_over_mass, strict=True))[: self._n_large]
        # Columns of length 1, as those of the main effects: of others, steps come to no end.
        scales = [np.sqrt(one_over_mass) for _, one_over_mass in large]
        blocks = [
            sparse.diags(root * scale[cells]) @ _one_hot(cells)
            for (cells, _), scale in zip(large, scales, strict=True)
        ]
        design = sparse.hstack([self._main, *blocks], format="csr")
        slopes = sparse.linalg.lsqr(design, scaled, atol=1e-9, btol=1e-9, iter_lim=_MOST_STEPS)[0]
        slopes, *of_blocks = np.split(slopes, self.rank + np.cumsum([0, *map(len, scales)])[:-1])
        return slopes, [s * scale for s, scale in zip(of_blocks, scales, strict=True)]


class Spline:
    """The spline of one number; people without the number are at its median."""

    def __init__(self, x: np.ndarray, people: np.ndarray | None) -> None:
        numbers = x[~np.isnan(x)]
        # The distances of knots divide: of numbers near the smallest float they are multiplied by a
        # power of two, which changes no spline.
        power = np.frexp(np.abs(numbers).max())[1]
        self._power = -power if power < _SMALLEST_POWER else 0
        numbers = np.ldexp(numbers, self._power)
        ends = quantiles(numbers, _KNOTS, taken(people, ~np.isnan(x)))
        self.middle, knots = ends[2], np.unique(ends)  # heaped numbers have fewer knots
        self.knots = knots[np.diff(knots, prepend=-np.inf) > _CLOSEST_KNOTS]
        self._basis = None
        if len(self.knots) > 2:
            self._basis = SplineTransformer(
                knots=self.knots[:, None], extrapolation="constant", include_bias=False
            ).fit(self.knots[:, None])

    def columns(self, x: np.ndarray) -> np.ndarray:
        """Return the basis functions at some numbers, shape (n, n_functions)."""
        numbers = np.where(np.isnan(x), self.middle, np.ldexp(x, self._power))[:, None]
        return numbers - self.middle if self._basis is None else self._basis.transform(numbers)


def _length_explained(gram, along):
    """Return the squared length that columns explain of a vector, by their products with it."""
    factor, order, rank, _ = linalg.lapack.dpstrf(gram, tol=_RANK)
    independent = along[order[:rank] - 1]
    projected = linalg.solve_triangular(factor[:rank, :rank], independent, trans="T")
    return projected @ projected


def _inner_products(columns):
    """Return the inner products of the columns of a sparse matrix, dense where splines fill it."""
    n, n_columns = columns.shape
    if n_columns < _LARGE or columns.nnz < _FULL * n * n_columns:
        return (columns.T @ columns).toarray()
    gram, by_row = np.zeros((n_columns, n_columns)), columns.tocsr()
    for first in range(0, n, _ROWS):
        rows = by_row[first : first + _ROWS].toarray()
        gram += rows.T @ rows
    return gram


def _main_effects(covariates, people):
    """Return splines, ``(column, codes)`` of indicators, and numbers without all of theirs.

    Values that people share have indicators while they are at most a fifth of the people, in the
    order of their number: otherwise they would cost more than they can tell.
    """
    n = covariates.n_rows if people is None else int(people.sum())
    splines, indicators, shared = [], [], []
    for j, (x, is_number) in enumerate(zip(covariates.values, covariates.is_number, strict=True)):
        has_numbers = is_number and np.nanmin(x, initial=np.inf) < np.nanmax(x, initial=-np.inf)
        splines.append(Spline(x, people) if has_numbers else None)
        if is_number:
            shared.append((j, shared_values(x, people)))
        else:
            indicators.append((j, dense(x)))
    shared.sort(key=lambda pair: pair[1].max(initial=-1))
    n_values = np.cumsum([codes.max(initial=-1) + 1 for _, codes in shared])
    fits = n_values <= n / PEOPLE_PER_SHARED_VALUE
    indicators += compress(shared, fits)
    return splines, indicators, [j for (j, _), is_in in zip(shared, fits, strict=True) if not is_in]


def _divided(indicators):
    """Return the indicators that are columns of a matrix, and those that are means."""
    small, large, n_columns = [], [], 0
    for indicator in sorted(indicators, key=lambda pair: pair[1].max(initial=-1)):
        n_columns += indicator[1].max(initial=-1) + 1
        is_small = indicator[1].max(initial=-1) < _LARGE and n_columns <= _MOST_COLUMNS
        (small if is_small else large).append(indicator)
    return small, large


def _one_hot(codes):
    """Return a sparse matrix with an indicator of each code; none for -1."""
    rows = np.flatnonzero(codes >= 0)
    shape = len(codes), int(codes.max(initial=-1)) + 1
    return sparse.csr_matrix((np.ones(len(rows)), (rows, codes[rows])), shape)
