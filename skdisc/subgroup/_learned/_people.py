"""The people of a learned audit: their columns, outcomes, scores and protected cells."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from skdisc._expectations import Covariates
from skdisc._space._codes import EVERYONE
from skdisc._utils._frequency import taken
from skdisc.subgroup._learned._centering import Centering, ProtectedCells
from skdisc.subgroup._learned._witness import Witness, WitnessDesign


@dataclass(frozen=True)
class ScoredPeople:
    """Rows under audit.

    `score`: the score that people are compared at, if there is one. Shapes: `X` (n_rows,
    n_columns).
    """

    X: pd.DataFrame
    outcome: np.ndarray
    score: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.outcome)

    def at(self, rows: np.ndarray) -> Self:
        """Return some of the people, by their positions."""
        X = self.X.iloc[rows].reset_index(drop=True)
        return ScoredPeople(X, self.outcome[rows], taken(self.score, rows))

    def joined(self, people: Self) -> Self:
        """Return these people and the other ones."""
        score = None if self.score is None else np.append(self.score, people.score)
        X = pd.concat([self.X, people.X], ignore_index=True)
        return ScoredPeople(X, np.append(self.outcome, people.outcome), score)

    def split(
        self, share: float, rng: np.random.Generator
    ) -> tuple["ScoredPeople", "ScoredPeople"]:
        """Return those to learn from and a random share to test on."""
        order = rng.permutation(len(self))
        out = round(share * len(self))
        return self.at(np.sort(order[out:])), self.at(np.sort(order[:out]))


@dataclass(frozen=True)
class Setting:
    """How people are compared: all that an audit of new rows needs besides the witness.

    Attributes
    ----------
    legitimate : list of column names, or None
        The columns that are adjusted for; None: nothing is centered.
    design : WitnessDesign
        The columns that the witness reads in addition to the protected ones.
    edges : ndarray of float
        The inner edges of the bins of the score; none without a score.
    nuisance : {"boosting", "additive"} or estimator
    """

    cells: ProtectedCells
    legitimate: list | None
    design: WitnessDesign
    edges: np.ndarray
    nuisance: Any

    @property
    def n_parts(self) -> int:
        """Number of bins of the score; 1 without a score."""
        return len(self.edges) + 1

    @property
    def parts(self) -> list[int]:
        """Everyone, and the bins of the score if there are several."""
        return [EVERYONE, *range(self.n_parts)] if self.n_parts > 1 else [EVERYONE]

    def bin_of(self, people: ScoredPeople) -> np.ndarray:
        """Return the bin of the score of each person; 0 without a score."""
        if people.score is None:
            return np.zeros(len(people), dtype=int)
        return np.searchsorted(self.edges, people.score, side="left")

    def in_part(self, part: int, people: ScoredPeople) -> np.ndarray:
        """Return whether each person is in a part."""
        if part == EVERYONE:
            return np.ones(len(people), dtype=bool)
        return self.bin_of(people) == part

    def name_of(self, part: int) -> str:
        """Return a part as text; "" for everyone."""
        if part == EVERYONE:
            return ""
        ends = [-np.inf, *self.edges, np.inf]
        low, high = (f"{end:.3g}" for end in ends[part : part + 2])
        if part == 0:
            return f"score <= {high}"
        return f"score > {low}" if part == len(self.edges) else f"{low} < score <= {high}"

    def comparable(self, people: ScoredPeople) -> tuple[ScoredPeople, int]:
        """Return the people who have an outcome and a cell, and how many have no cell.

        They are in an order that depends neither on theirs nor on names of protected values.
        """
        cell = self.cells.numbers(people.X)
        has_outcome = np.isfinite(people.outcome)
        n_lost = int((has_outcome & (cell < 0)).sum())
        unprotected = people.X.drop(columns=list(self.cells.columns))
        row = np.zeros(len(people), dtype=np.uint64)
        if unprotected.shape[1]:
            row = pd.util.hash_pandas_object(unprotected, index=False).to_numpy()
        score = np.zeros(len(people)) if people.score is None else people.score
        order = np.lexsort([cell, score, people.outcome, row])
        return people.at(order[(has_outcome & (cell >= 0))[order]]), n_lost

    def numbers(self, people: ScoredPeople) -> np.ndarray:
        """Return what the witness reads, and the score with its bins, as numbers."""
        if people.score is None:
            return self.design.on(people.X)
        bins = self.bin_of(people)[:, None] == np.arange(self.n_parts)
        return np.column_stack([self.design.on(people.X), people.score, bins])

    def centered(self, people: ScoredPeople, rng: np.random.Generator) -> "CenteredPeople":
        """Learn what is expected of people given the legitimate columns, and the score."""
        cell, n_cells = self.cells.numbers(people.X), len(self.cells)
        covariates = X = None
        if self.legitimate is not None:
            X = people.X[self.legitimate]
            covariates = Covariates.of(X, self.design.space)
            if people.score is not None:
                covariates = covariates.beside("score", people.score)
                score_bin = self.bin_of(people)
                covariates = covariates.beside("bin of the score", score_bin, is_number=False)
                X = pd.concat([X, pd.Series(people.score, X.index, name="score")], axis=1)
        return CenteredPeople(
            people,
            Centering.of(covariates, cell, n_cells, people.outcome, self.nuisance, rng, X),
        )

    def values(self, witness: Witness, people: ScoredPeople) -> np.ndarray:
        """Return the witness of each person in each cell."""
        return witness.values(self.numbers(people))


class CenteredPeople(NamedTuple):
    """People with their centering."""

    people: ScoredPeople
    centering: Centering

    def joined(self, sample: Self) -> Self:
        """Return the people of both."""
        return CenteredPeople(
            self.people.joined(sample.people), self.centering.joined(sample.centering)
        )


@dataclass(frozen=True)
class Learned:
    """What a learned audit keeps of fit.

    `witness`: None if there was nothing to learn from. `words`: rules, and the part of the people
    that each is about: EVERYONE, or a bin of the score.
    """

    setting: Setting
    witness: Witness | None
    words: list

    @property
    def groups(self) -> list[Any]:
        """The rules."""
        return [group for group, _ in self.words]
