"""Crossings: what the cells of up to three columns would still add to an estimate."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from scipy import special

from skdisc._expectations._covariates import (
    Covariates,
    dense,
    names_of,
    shared_values,
    sums_over_cells,
)
from skdisc._utils._frequency import numbered_in_order, quantiles, taken
from skdisc._utils._run_clock import go_on

_PEOPLE_PER_CELL = 5  # on average; where a part of a crossing has more cells, all of it has
_BINS = 8
_DEPTH = 3
_RELEVANT = 0.15  # standard errors of the estimate, up to which a bias does not change its level
_FOR_NOTHING_TO_JOIN, _FOR_NOTHING_TO_WIDEN = 1.0, 0.05  # crossings in an audit without any
_LEAST_CROSSINGS = 22  # so that B has to exceed two of its errors to join
_ERRORS_OF_BIAS = 2
_WIDE, _BEST, _MOST_IN_THREES, _MOST_IN_PAIRS = 30, 10, 40, 100  # columns
_LEAST_KEPT = 0.1
_MOST_KEPT = 2**27  # bytes of cells that are kept for the next look
_CODES_PER_ROW = 64  # from which joint codes are sorted, not looked up


@dataclass(frozen=True)
class Unlearned:
    """What the cells of a crossing would still add to an estimate.

    Attributes
    ----------
    bias : float
        B: what joining the cells would take from the estimate, in its units.
    error : float
        Standard error of the bias.
    indices : tuple of int
        The numbers of the columns among the `CellColumn`s.
    has_joined : bool
        Whether the cells have joined the main effects, perhaps because of noise. Then the bias is
        minus the amount that joining took from the estimate, times the probability of noise.
    """

    columns: tuple
    n_cells: int
    bias: float
    error: float
    indices: tuple = field(repr=False, default=())
    has_joined: bool = False

    def __str__(self) -> str:
        return f"{names_of(self.columns)} ({self.n_cells} cells)"


@dataclass(frozen=True)
class CellColumn:
    """A column cut into cells: categories, eighths of a number, or its shared values."""

    column: int
    codes: np.ndarray

    @cached_property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.codes.max(initial=-1)) + 1


@dataclass(frozen=True)
class Joint:
    """The joint cells of some columns.

    Attributes
    ----------
    indices : tuple of int
        The numbers of the columns among the `CellColumn`s.
    codes : ndarray of int, shape (n_rows,)
        The cell of each row.
    n_cells : int
        Number of cells with rows.
    share : ndarray of float, shape (n_codes,)
        1 / (W - Q / W) of each cell, see `added_by`; 0 without pairs.
    """

    indices: tuple
    codes: np.ndarray
    n_cells: int
    share: np.ndarray

    def narrow(self) -> "Joint":
        """Return the same with codes of as few bytes as hold them."""
        return replace(self, codes=self.codes.astype(np.min_scalar_type(len(self.share))))

    def wide(self) -> "Joint":
        """Return the same with codes as positions."""
        return replace(self, codes=self.codes.astype(np.intp))


@dataclass(frozen=True)
class Sampling:
    """How rows stand for people.

    Attributes
    ----------
    weight : ndarray of float, shape (n_rows,), or None
        Weight of each person of a row; None: 1.
    people : ndarray of int64, shape (n_rows,), or None
        Number of equal people of each row; None: 1.
    cluster : ndarray of int, shape (n_rows,), or None
        Numbers from 0.
    """

    weight: np.ndarray | None = None
    people: np.ndarray | None = None
    cluster: np.ndarray | None = None

    @property
    def mass(self) -> np.ndarray | None:
        """Weights of the rows: of all of their people."""
        if self.weight is None or self.people is None:
            return self.people if self.weight is None else self.weight
        return self.weight * self.people

    def n_people(self, n_rows: int) -> int:
        """Return the number of people."""
        return n_rows if self.people is None else int(self.people.sum())

    def take(self, rows: np.ndarray) -> "Sampling":
        """Return the sampling of some rows."""
        return Sampling(*(taken(v, rows) for v in (self.weight, self.people, self.cluster)))


def added_by(
    codes: np.ndarray, e: np.ndarray, d: np.ndarray, sampling: Sampling | None = None
) -> tuple[float, float, float]:
    r"""Return what joining cells would take from :math:`\sum d r`, and its standard error.

    .. math:: B = \sum_{cells} \sum_{i \ne j} w_i w_j e_i d_j / (W - Q / W)

    over what joining leaves of d,

    .. math:: 1 - \sum_{cells} \sum_{i \ne j} w_i w_j d_i d_j / (W - Q / W) / \sum w d^2

    W is the sum of the weights of a cell, and Q the sum of their squares, so without weights
    W - Q / W is the number of its people less one. B is a product of two means without the products
    of a person with themselves; so it is 0 on average where either side has nothing left to learn.
    With clusters, the pairs are of different clusters. The error takes the parts of a cluster in
    different cells as independent.

    `codes`: the cell of each row, from 0. `e`: residual outcomes less the estimate times d. With
    the residuals r themselves B would hold gap Σ d_i d_j: a real gap would look like something to
    learn. `d`: residual memberships. Returns `bias`, `error` and `kept`: the last is what joining
    leaves of d, at least .1.
    """
    sampling, n_rows = sampling or Sampling(), np.bincount(codes)
    joint = Joint((), codes, len(n_rows), _shares_of_pairs(codes, n_rows, sampling))
    sums = _PairsOfPeople(e[:, None], d[:, None], sampling).over(joint)
    return sums.bias[0], sums.error(0), sums.kept[0]


def _shares_of_pairs(codes, n_rows, sampling):
    """Return 1 / (W - Q / W) of each cell, 0 where a cell has no pairs.

    Shapes: `codes` and `n_rows`, those of each cell, (n_rows,) and (n_cells,).
    """
    n_cells = len(n_rows)
    if sampling.cluster is not None:
        unit, codes = _parts_of_clusters(codes, sampling.cluster)
        mass = np.bincount(unit, sampling.mass, len(codes))
        total, squares = np.bincount(codes, mass, n_cells), np.bincount(codes, mass**2, n_cells)
    elif sampling.mass is None:
        return _share_by_size(len(codes)).take(n_rows)
    else:
        total = squares = np.bincount(codes, sampling.mass, n_cells)
        if sampling.weight is not None:
            squares = np.bincount(codes, sampling.mass * sampling.weight, n_cells)
    pairs = total - squares / np.where(total > 0, total, 1)
    return np.where(pairs > 1e-9 * total, 1 / np.where(pairs > 0, pairs, 1), 0.0)


@lru_cache(maxsize=2)
def _share_by_size(most):
    """Return 1 / (n - 1) for n = 0 to `most`, 0 for up to one."""
    share = np.zeros(most + 1)
    share[2:] = 1 / np.arange(1, most)
    return share


def _parts_of_clusters(codes, cluster):
    """Return the part of a cluster in a cell that each row is in, and the cell of each part."""
    part, first = np.unique(
        codes.astype(np.int64) * (cluster.max() + 1) + cluster,
        return_index=True,
        return_inverse=True,
    )[:0:-1]
    return part.reshape(-1), codes[first]


class _PairsOfPeople:
    """Sums over the pairs of people in each cell, of several estimates.

    Parameters
    ----------
    outcome : ndarray of float, shape (n_rows, n_parts) or (n_rows, 1)
        Residuals; one column where all estimates have the same.
    d : ndarray of float, shape (n_rows, n_parts)
    gap : ndarray of float, shape (n_parts,), or 0
        e is the outcome less this times d. So the outcome is summed once for all parts.
    """

    def __init__(
        self,
        outcome: np.ndarray,
        d: np.ndarray,
        sampling: Sampling,
        gap: np.ndarray | float = 0.0,
    ) -> None:
        w = 1.0 if sampling.weight is None else sampling.weight[:, None]
        f = 1.0 if sampling.people is None else sampling.people[:, None]
        self.size = np.maximum((w * d * d * f).sum(axis=0), 1e-300)
        outcome, d = outcome * w, d * w
        self.cluster, self.gap = sampling.cluster, gap
        self.n_outcomes, self.n_parts = outcome.shape[1], d.shape[1]
        self._e, self._d, self._people, self._squares = outcome - gap * d, d, f, {}
        planes = [outcome * f, d * f]
        if self.cluster is None:  # else sums over the parts of clusters in cells come first
            planes += [self._e * d * f, d * d * f]
        # in the order in which a sparse product reads them, which else makes a copy each time
        self.planes = np.ascontiguousarray(np.hstack(planes))

    def over(self, joint: "Joint") -> "_SumsOverPairs":
        """Return the sums over the cells of a crossing.

        With clusters, the pairs are of the parts of clusters in cells.
        """
        codes, units = joint.codes, self
        if self.cluster is not None:
            part, codes = _parts_of_clusters(codes, self.cluster)
            sums = sums_over_cells(part, len(codes), self.planes)
            outcome, d = np.split(sums, [self.n_outcomes], axis=1)
            units = _PairsOfPeople(outcome, d, Sampling(), self.gap)
        return _SumsOverPairs(codes, joint.share, units, self.size)

    def squares(self, part):
        """Return e² and (e d)² of a part, each times the people of the row, shape (n_rows, 2)."""
        if part not in self._squares:
            people = self._people if np.isscalar(self._people) else self._people[:, 0]
            e, d = self._e[:, part], self._d[:, part]
            self._squares[part] = np.column_stack([e**2 * people, (e * d) ** 2 * people])
        return self._squares[part]


class _SumsOverPairs:
    """B of several estimates, and its errors; see `added_by`."""

    def __init__(self, codes, share, units, size):
        self._codes, self._share, self._units = codes, share, units
        sums = sums_over_cells(codes, len(share), units.planes)
        ends = np.cumsum([units.n_outcomes, units.n_parts, units.n_parts])
        of_outcome, of_d, self._of_ed, self._of_dd = np.split(sums, ends, axis=1)
        of_e = of_outcome - units.gap * of_d
        # einsum, as threads of BLAS would wait for each other longer than so short a product takes
        in_pairs = np.einsum("i,ij->j", share, of_d**2 - self._of_dd)
        self.kept = np.maximum(1 - in_pairs / size, _LEAST_KEPT)
        self.bias = np.einsum("i,ij->j", share, of_e * of_d - self._of_ed) / self.kept

    def error(self, part):
        """Return the standard error of B of a part, where e and d are independent."""
        squares = sums_over_cells(self._codes, len(self._share), self._units.squares(part))
        of_ee, of_eedd = squares.T
        # over pairs of people; (i, j) and (j, i) go together
        of_pairs = of_ee * self._of_dd[:, part] + self._of_ed[:, part] ** 2 - 2 * of_eedd
        variance = np.einsum("i,i,i", self._share, self._share, of_pairs)
        return np.sqrt(max(variance, 0.0)) / self.kept[part]


class Crossings:
    """The crossings of up to three covariates whose cells have five people each on average.

    Numbers are cut into eighths, and, where values are shared, also by these. In a table of 30
    columns or more, only some columns are crossed by threes: see `narrow`.
    """

    def __init__(self, covariates: Covariates, sampling: Sampling) -> None:
        self.covariates, self.sampling = covariates, sampling
        self.n_people = sampling.n_people(covariates.n_rows)
        self.columns = list(_cell_columns(covariates, sampling.people))
        self._deep, self._in_pairs, self.n_crossings = None, None, 0
        self._too_fine, self._joints, self._room = set(), {}, _MOST_KEPT

    def __getstate__(self) -> dict:
        """Return what is pickled: without the cells, which can be made again."""
        return self.__dict__ | {"_joints": {}, "_room": _MOST_KEPT}

    def names(self, indices: tuple) -> tuple:
        """Return the names of the columns of a crossing."""
        return tuple(self.covariates.names[self.columns[k].column] for k in indices)

    def joint(self, indices: tuple) -> Joint:
        """Return the joint cells of some columns."""
        if not indices:
            return Joint((), np.zeros(self.covariates.n_rows, dtype=np.intp), 1, np.zeros(1))
        if indices in self._joints:
            return self._joints[indices].wide()
        return self._joined(self.joint(indices[:-1]), indices[-1])

    def walk(self, depth: int = _DEPTH, made: Joint | None = None) -> Iterator[Joint]:
        """Yield the crossings of at most `depth` columns."""
        start = made.indices[-1] + 1 if made else 0
        made = made or self.joint(())
        for k in range(start, len(self.columns)):
            go_on("looking at crossings of legitimate columns")
            indices = (*made.indices, k)
            if indices in self._too_fine or not self._is_of_interest(indices):
                continue
            is_kept = indices in self._joints
            joint = self._joints[indices].wide() if is_kept else self._joined(made, k)
            if joint is None:
                self._too_fine.add(indices)
            else:
                self._keep(joint)
                yield joint
                if len(joint.indices) < depth:
                    yield from self.walk(depth, joint)

    def _is_of_interest(self, indices):
        columns = [self.columns[k].column for k in indices]
        if len(set(columns)) < len(columns):
            return False
        if len(indices) == 2 and self._in_pairs is not None:
            return self._in_pairs.issuperset(indices)
        if len(indices) < 3 or self._deep is None:
            return True
        return any(deep_columns.issuperset(indices) for deep_columns in self._deep)

    def _keep(self, joint):
        """Keep the cells of a crossing, which is looked at again after cells have joined."""
        if joint.indices not in self._joints:
            narrow = joint.narrow()
            n_bytes = narrow.codes.nbytes + narrow.share.nbytes
            if n_bytes <= self._room:
                self._room -= n_bytes
                self._joints[joint.indices] = narrow

    def _joined(self, made, k):
        """Return a crossing with one column more; None if its cells have too few people."""
        column, most = self.columns[k], self.n_people / _PEOPLE_PER_CELL
        if max(made.n_cells, column.n_cells) > most:
            return None
        codes = made.codes * column.n_cells
        codes += column.codes
        n_codes = made.n_cells * column.n_cells
        if n_codes > len(codes):
            codes = numbered_in_order(codes, _CODES_PER_ROW)
            n_codes = int(codes.max(initial=-1)) + 1
            if n_codes > most:
                return None
        n_rows = np.bincount(codes, minlength=n_codes)
        n_cells = int(np.count_nonzero(n_rows))
        if n_cells > most:
            return None
        # Nothing is joined to a crossing of the greatest depth, so codes without rows may stay
        # there: numbering the others again would take as long as the sums over cells.
        indices = (*made.indices, k)
        if n_cells < n_codes and len(indices) < _DEPTH:
            is_used = n_rows > 0
            codes, n_rows = (np.cumsum(is_used) - 1)[codes], n_rows[is_used]
        return Joint(indices, codes, n_cells, _shares_of_pairs(codes, n_rows, self.sampling))

    def narrow(self, whole: np.ndarray, outcome: np.ndarray, parts: np.ndarray) -> None:
        """Choose the columns that are crossed by threes, in a table of 30 columns or more.

        These are the ten columns with the largest B over its error, alone before main effects, or
        in a pair; and in a table of up to 40, all with eight cells or fewer, since the parity of
        three columns shows in no pair. In a table of more than 100 columns, only the 100 that show
        most alone are paired.

        `whole`, of shape (n_rows, 1 + n_parts): outcome and memberships, centered. `outcome`, of
        shape (n_rows, n_parts): residual outcomes less the estimates times the residual
        memberships. `parts`, of shape (n_rows, n_parts): residual memberships.
        """
        n_columns = len(self.covariates)
        if n_columns < _WIDE:
            return
        shown = np.zeros(n_columns)

        def look(joint, pairs):
            sums = pairs.over(joint)
            errors = [max(sums.error(p), 1e-300) for p in range(parts.shape[1])]
            most = np.max(np.abs(sums.bias) / errors, initial=0)
            for k in joint.indices:
                shown[self.columns[k].column] = max(shown[self.columns[k].column], most)

        pairs = _PairsOfPeople(whole[:, :1], whole[:, 1:], self.sampling)
        for joint in self.walk(1):
            look(joint, pairs)
        if n_columns > _MOST_IN_PAIRS:
            self._in_pairs = self._of_columns(_largest(shown, _MOST_IN_PAIRS))
        pairs = _PairsOfPeople(outcome, parts, self.sampling)
        for joint in self.walk(2):
            if len(joint.indices) == 2:
                look(joint, pairs)
        self._deep = [self._of_columns(_largest(shown, _BEST))]
        if n_columns <= _MOST_IN_THREES:
            self._deep.append(
                {k for k, column in enumerate(self.columns) if column.n_cells <= _BINS}
            )

    def _of_columns(self, chosen):
        return {k for k, column in enumerate(self.columns) if column.column in chosen}

    def unlearned(
        self,
        outcome: np.ndarray,
        parts: np.ndarray,
        gap: np.ndarray,
        error: np.ndarray,
        skip: tuple = (),
        only: list | None = None,
    ) -> list[list[Unlearned]]:
        """Return, for each estimate, the crossings whose cells the expectations have not learned.

        A crossing is returned if its bias B (see `added_by`) is larger than .15 standard errors of
        the estimate, up to which a bias does not change the level of a test, and larger than two
        standard errors of B itself.

        Parameters
        ----------
        outcome : ndarray of float, shape (n_rows,)
            Residual outcomes: what the expectations leave of them.
        parts : ndarray of float, shape (n_rows, n_parts)
            Residual memberships in the groups that are estimated.
        gap, error : ndarray of float, shape (n_parts,)
            The estimate of each group, and its standard error.
        skip : sequence of tuple of int
            Crossings that the expectations contain.
        only : list of tuple of int, optional
            Crossings to look at; None: all.

        Returns
        -------
        list of list of Unlearned
            One list per group, in the order in which crossings are looked at.
        """
        pairs = _PairsOfPeople(outcome[:, None], parts, self.sampling, gap)
        unlearned, n_crossings, skip = [[] for _ in gap], 0, set(skip)
        for joint in self.walk() if only is None else map(self.joint, only):
            n_crossings += 1
            if joint.indices in skip:
                continue
            sums = pairs.over(joint)
            bias = sums.bias / pairs.size
            for p in np.flatnonzero(np.abs(bias) > _RELEVANT * error):
                error_of_bias = sums.error(p) / pairs.size[p]
                if abs(bias[p]) > _ERRORS_OF_BIAS * error_of_bias:
                    crossing = Unlearned(
                        columns=self.names(joint.indices),
                        n_cells=joint.n_cells,
                        bias=float(bias[p]),
                        error=float(error_of_bias),
                        indices=joint.indices,
                    )
                    unlearned[p].append(crossing)
        if only is None:  # the number that `_deviate` corrects for
            self.n_crossings = n_crossings
        return unlearned

    def _deviate(self, for_nothing):
        """Return how many standard errors B has to exceed, by Bonferroni over all crossings.

        `for_nothing` is the expected number of crossings that exceed it by chance.
        """
        return special.ndtri(1 - 0.5 * for_nothing / max(self.n_crossings, _LEAST_CROSSINGS))

    def to_join(self, unlearned: list[list[Unlearned]], error: np.ndarray) -> list[Unlearned]:
        """Return crossings that surely move one of the estimates, the surest first.

        `unlearned`: by part. `error`: standard errors of the estimates, in which it is counted how
        sure one is.
        """
        z = self._deviate(_FOR_NOTHING_TO_JOIN / max(len(unlearned), 1))
        sure = {}
        for of_part, unit in zip(unlearned, error, strict=True):
            for crossing in of_part:
                margin = (abs(crossing.bias) - z * crossing.error) / max(unit, 1e-300)
                if margin > sure.get(crossing.indices, (0.0, None))[0]:
                    sure[crossing.indices] = margin, crossing
        return [crossing for _, crossing in sorted(sure.values(), key=_surest_first)]

    def doubt(self, crossing: Unlearned, n_estimates: int) -> Unlearned:
        """Return what an estimate may lack because cells joined by chance.

        Joining takes B from an estimate. In about every audit, one of all the crossings joins
        because chance made its B large, and then the estimate is off by this B. So a share of B
        stays in doubt: the probability that any crossing without anything to learn has a B of as
        many standard errors. For a B that chance cannot explain, this share is 0.
        """
        n = max(self.n_crossings, _LEAST_CROSSINGS) * n_estimates
        chance = min(1.0, 2 * n * special.ndtr(-abs(crossing.bias) / max(crossing.error, 1e-300)))
        return replace(crossing, bias=-chance * crossing.bias, error=0.0, has_joined=True)

    def to_widen(self, unlearned: list[Unlearned]) -> list[Unlearned]:
        """Return the crossings by which the interval of an estimate is widened, the surest first.

        Those whose bias chance alone would exceed for .05 crossings in an audit.
        """
        z = self._deviate(_FOR_NOTHING_TO_WIDEN)
        sure = [u for u in unlearned if abs(u.bias) > z * u.error]
        return sorted(sure, key=lambda u: (z * u.error - abs(u.bias), u.indices))


def _surest_first(pair):
    """Return a sort key of a margin and its crossing, whatever rounding makes of equal margins."""
    margin, crossing = pair
    return -round(margin, 9), crossing.indices


def _largest(values, n):
    """Return the positions of the n largest values; of equal ones, the first."""
    return set(np.argsort(-values, kind="stable")[:n].tolist())


def widening(unlearned: list[Unlearned]) -> tuple[float, float]:
    """Return by how much the lower and the upper end of an interval move outwards.

    Where the bias B of an estimate is positive, the truth lies below it. The end on that side moves
    by the largest sum of the size of B and two of its errors over all crossings. The biases of
    crossings that joined, perhaps because of noise, add up and move one end, too.
    """
    waiting = [crossing for crossing in unlearned if not crossing.has_joined]
    joined_bias = sum(crossing.bias for crossing in unlearned if crossing.has_joined)

    def reach(sign):
        sizes = [
            abs(crossing.bias) + _ERRORS_OF_BIAS * crossing.error
            for crossing in waiting
            if sign * crossing.bias > 0
        ]
        return max(sizes, default=0.0) + max(sign * joined_bias, 0.0)

    return reach(1), reach(-1)


def _cell_columns(covariates, people):
    """Yield the columns as cells."""
    for j, (x, is_number) in enumerate(zip(covariates.values, covariates.is_number, strict=True)):
        if not is_number:
            yield CellColumn(j, dense(x))
            continue
        values = np.unique(x)
        eighths = _eighths(x, people) if len(values) > _BINS else dense(x)
        yield CellColumn(j, eighths)
        shared = shared_values(x, people)
        if len(values) > _BINS and (shared >= 0).any():
            yield CellColumn(j, dense(np.where(shared < 0, eighths, _BINS + 1 + shared)))


def _eighths(x, people):
    """Return the eighth of each number; missing ones are a ninth."""
    is_missing = np.isnan(x)
    share = np.arange(1, _BINS) / _BINS
    ends = quantiles(x[~is_missing], share, taken(people, ~is_missing))
    codes = np.searchsorted(np.unique(ends), x, "right")
    return dense(np.where(is_missing, _BINS, codes))
