"""The claim about a recipe: models made in this way, on average of five, tested on all people."""

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
    present, alternative : Predictions
        Of all people, by the models of their part.
    question : Question
        About all people, with the numbers of their parts.
    models : list of (model, model)
        The present and the chosen model of each part.
    step : LadderStep
    """

    choices: list
    present: Predictions
    alternative: Predictions
    question: object
    models: list
    step: LadderStep


def recipe_trial(search, question, place, significance):
    """Choose and fit on four parts, ask about the fifth, and test the pooled predictions.

    Parameters
    ----------
    search : callable
        From rows of the design to a pair: the `Choice`, and a function that fits candidates
        (numbers; 0 is the present model) to these rows and asks them about others.
    question : Question
    place : ndarray of float, shape (n,)
        See `places`.
    significance : float
    """
    part = np.minimum((place * N_FOLDS).astype(int), N_FOLDS - 1)
    choices, models, asked, answers = [], [], [], []
    for fold in range(N_FOLDS):
        ask = np.flatnonzero(part == fold)
        learn = np.flatnonzero(part != fold)
        learn = learn[np.argsort(place[learn], kind="stable")]
        choice, fit = search(learn)
        chosen = choice.ladder[0] + 1 if choice.ladder else 0
        outcomes = fit([0, chosen], learn, ask)
        choices.append(choice)
        models.append([o.model for o in outcomes])
        answers.append([o.predictions for o in outcomes])
        asked.append(ask)
    present, alternative = (Predictions.joined([a[k] for a in answers], asked) for k in (0, 1))
    pooled = replace(question, part=part)
    pairs = {name: np.array([c.pairs[0][name] for c in choices]) for name in question.groups}
    step = judged(pooled, present, alternative, pairs, significance)
    return RecipeTrial(choices, present, alternative, pooled, models, step)


def recipe_claim(trials, significance):
    """Return the `Claim` of several partitions: by twice the mean of their p-values."""
    first = trials[0].step
    p = first.p_value
    if len(trials) > 1:
        p = min(1.0, 2 * float(np.mean([t.step.p_value for t in trials])))
    step = replace(first, p_value=p, shown=bool(p < significance))
    trial = trials[0]
    pairs = {
        name: np.array([c.pairs[0][name] for c in trial.choices]) for name in trial.question.groups
    }
    widest = trial.question.widest(trial.alternative)
    chosen = {name: pair for name, (pair, _) in widest.items()}
    low, high = trial.question.gain_bounds(
        trial.present, trial.alternative, pairs, chosen, -ndtri(significance / 2)
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
