"""What a search for alternatives found."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc.model_selection._alternatives._choice import Choice
from skdisc.model_selection._alternatives._claim import Claim
from skdisc.model_selection._alternatives._question import Question
from skdisc.model_selection._alternatives._tested import tested_gaps


@dataclass(frozen=True)
class SearchFindings:
    """What a search found about one model, or about a recipe.

    Attributes
    ----------
    outcomes : list of TriedCandidate
        Of the present model and of each candidate; those of a recipe have only errors.
    question : Question
        About the people of the claim.
    people : ndarray of int
        Rows of the people of the claim.
    n_design : int
        People of the design part; for a recipe, all.
    chosen : int or None
        The candidate that the claim and its costs are about; None if nothing was tested.
    models : list of (model, model, ndarray of bool or None) or None
        The present and the chosen model, and whom of the claim they judge (None: all).
    predictions : (Predictions, Predictions) or None
        Of these two models, for the people of the claim.
    best : fitted model or None
        The model to be used.
    best_index : int or None
        The candidate that `best` is if there is a claim; -1 for the present model.
    search_hash, claim_part_hash : str
        Fingerprints of all that was tried, and of the people of the claim.
    n_searches : int
        Searches on these people, with this one.
    pairs : dict of column to array-like of shape (2,) or (n_parts, 2)
        The two groups to which the gap of the present model is held, without these people.
    watched : dict of column to Groups
        Other protected columns, of the people of the claim.
    target : str
        Name of the labels, or "".
    claim_predictions : list of (Predictions or None) or None
        Of each model, for the people of the claim; None for a recipe.
    times_chosen : ndarray of int or None
        Parts in which each model was chosen; None for a single model.
    """

    choice: Choice
    outcomes: list
    claim: Claim
    question: Question
    people: np.ndarray
    n_design: int
    chosen: int | None
    models: list | None
    predictions: tuple | None
    best: object
    best_index: int | None
    search_hash: str
    claim_part_hash: str
    n_searches: int
    pairs: dict
    watched: dict
    target: str
    claim_predictions: list | None = None
    times_chosen: np.ndarray | None = None

    @cached_property
    def tested_gaps(self) -> list[dict]:
        """Which gap was tested, and the largest ones, by column; empty if nothing was tested."""
        if self.predictions is None:
            return []
        return tested_gaps(self.question, *self.predictions, self.pairs)
