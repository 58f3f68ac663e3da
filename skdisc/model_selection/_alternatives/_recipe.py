"""The claim about a recipe: models made in this way, on average of five, tested on all people.

The gap of a recipe is the mean of the largest gaps of the five models, not the largest gap of all
people together: there, gaps of opposite signs in different parts would cancel. The present model
has one pair of groups in each part, which the four others fix; the alternative is held to every
assignment of pairs to parts.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from skdisc.model_selection._alternatives._choice import Choice
from skdisc.model_selection._alternatives._claim import Claim, LadderStep, judged
from skdisc.model_selection._alternatives._question import Predictions
from skdisc.model_selection._alternatives._split import N_FOLDS


@dataclass
class RecipeTrial:
    """What one partition into five parts gives.

    Attributes
    ----------
    choices : list of Choice
        Of each part, by the people of the four others.
    chosen : list of int
        The candidate of each part; -1: the present model, where no candidate could be fitted.
    present, alternative : Predictions
        Of all people, by the models of their part.
    question : Question
        About all people, with the numbers of their parts.
    models : list of (model, model)
        The present and the chosen model of each part.
    pairs : dict of column to ndarray of int, shape (5, 2)
        The two groups to which the present model is held in each part.
    """

    choices: list
    chosen: list
    present: Predictions
    alternative: Predictions
    question: object
    models: list
    step: LadderStep
    pairs: dict


def parts_of(place):
    """Return the rows of each of five parts; see `places`."""
    part = np.minimum((place * N_FOLDS).astype(int), N_FOLDS - 1)
    return [np.flatnonzero(part == fold) for fold in range(N_FOLDS)]


def recipe_trial(search, question, place, significance):
    """Choose and fit on four parts, ask about the fifth, and test the pooled predictions.

    `search`: from rows of the design to a pair: the `Choice`, and a function that fits candidates
    (numbers; 0 is the present model) to these rows and asks them about others; the outcome of one
    that fails has no predictions. `place`: see `places`.
    """
    choices, numbers, models, rows_of_folds, answers = [], [], [], [], []
    part = np.empty(len(place), dtype=int)
    for fold, ask in enumerate(parts_of(place)):
        part[ask] = fold
        learn = np.setdiff1d(np.arange(len(place)), ask)
        learn = learn[np.argsort(place[learn], kind="stable")]
        choice, fit = search(learn)
        for k in [*choice.safest_first, -1]:
            outcomes = fit([0, k + 1], learn, ask)
            if outcomes[1].predictions is not None:
                break
        choices.append(choice)
        numbers.append(k)
        models.append([o.model for o in outcomes])
        answers.append([o.predictions for o in outcomes])
        rows_of_folds.append(ask)
    present, alternative = (
        Predictions.joined([a[k] for a in answers], rows_of_folds) for k in (0, 1)
    )
    mean = replace(question, part=part, by_part=True)
    pairs = _pairs(question, choices, [-1] * N_FOLDS)
    step = judged(mean, present, alternative, pairs, significance)
    return RecipeTrial(choices, numbers, present, alternative, mean, models, step, pairs)


def _pairs(question, choices, numbers):
    """Return the two groups in each part, by column, of a model of each choice."""
    return {
        name: np.array([c.pairs[k + 1][name] for c, k in zip(choices, numbers, strict=True)])
        for name in question.groups
    }


def recipe_claim(trials, significance):
    """Return the `Claim` of several partitions: by twice the mean of their p-values."""
    trial = trials[0]
    p = trial.step.p_value
    if len(trials) > 1:
        p = min(1.0, 2 * float(np.mean([t.step.p_value for t in trials])))
    step = replace(trial.step, p_value=p, shown=bool(p < significance))
    low, high = trial.question.gain_bounds(
        trial.present,
        trial.alternative,
        trial.pairs,
        _pairs(trial.question, trial.choices, trial.chosen),
        -ndtri(significance / 2),
    )
    return Claim([step], np.array([low]), np.array([high]))


def mean_choice(choices):
    """Return the means over the parts of what the choices say of each candidate."""
    names = ("score", "gap", "score_z", "gain_z")
    means = {n: np.mean([getattr(c, n) for c in choices], axis=0) for n in names}
    z = np.minimum(means["score_z"], means["gain_z"])
    ladder = [int(np.nanargmax(z))] if not np.isnan(z).all() else []
    n = int(np.mean([c.n for c in choices]))
    return Choice(choices[0].pairs, **means, ladder=ladder, n=n)
