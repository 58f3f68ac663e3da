"""What a search says: the claim in a sentence, and what has to be read with it."""

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.frozen import FrozenEstimator

from skdisc.model_selection._alternatives._costs import pair_in_words
from skdisc.model_selection._alternatives._question import CLIPPED
from skdisc.model_selection._alternatives._split import N_FOLDS, is_small, margins_in_reach

SHOWN, NONE_SHOWN = "a less discriminatory alternative is shown", "no alternative is shown"
EXPLORATORY = "exploratory"
SCORES_IN_WORDS = {
    "accuracy": "accuracy",
    "roc_auc": "area under the ROC curve",
    "neg_brier_score": "Brier score",
    "neg_log_loss": f"log loss (of probabilities clipped at {CLIPPED:g})",
}


def verdict_of(is_shown, is_exploratory):
    """Return the verdict in words."""
    return EXPLORATORY if is_exploratory else SHOWN if is_shown else NONE_SHOWN


def reach_sentence(n, search):
    """Return what margin a search can show about n people, before anything is fitted."""
    n_claim, sentence = n, f"All {n:,} people are judged, each by models that have not seen them."
    if search.claim == "model":
        n_claim = max(round(n * search.claim_size), 1)
        sentence = f"About {n_claim:,} of the {n:,} people are kept for the test."
    least, usual = margins_in_reach(n_claim, -ndtri(search.significance))
    return (
        f"{sentence} They can show no margin below {least:.2g}, whatever they say, and are usually "
        f"too few for one below {usual:.2g}."
    )


def metric_in_words(search):
    """Return what is compared between groups."""
    kind = "gap" if search.scale == "difference" else "relative gap"
    return f"{kind} in {search.metric.replace('_', ' ')}"


def claim_sentence(search, findings, name, columns):
    """Return the claim, or what was not shown, in a sentence or two."""
    claim, n = findings.claim, len(findings.people)
    tested = claim.shown or (claim.steps[-1] if claim.steps else None)
    if tested is None or findings.chosen is None:
        return "No candidate could be fitted and asked, so that nothing was tested."
    subject, where = _subject(search, findings, name), _where(search, n)
    score = SCORES_IN_WORDS[search.scoring]
    gap = f"{_GAP[search.claim]} {metric_in_words(search)} by {' and '.join(map(str, columns))}"
    if findings.n_searches > 1:
        return (
            f"Exploratory, so that nothing is claimed: of {n:,} people who were looked at before, "
            f"the {gap} goes from {_from_to(findings)} with {subject}."
        )
    scores, more = _scores_from_to(findings), by_more_than(search)
    p_of_score, p_of_gap = _p_of_each(tested)
    if claim.shown is not None:
        be = "are" if search.claim == "recipe" else "is"
        text = (
            f"On {where}, {subject} {be} not worse in {score} by more than {search.margin:g} "
            f"({scores}{p_of_score}), and the {gap} is smaller{more}, from "
            f"{_from_to(findings)} ({p_of_gap})."
        )
    else:
        few = is_small(n, search.margin)
        text = f"Too few people for this margin: on {where}, " if few else f"On {where}, "
        text += f"it is not shown that {subject} "
        is_are, has_have = ("are", "have") if search.claim == "recipe" else ("is", "has")
        text += " and ".join(
            {
                "score": f"{is_are} not worse in {score} by more than {search.margin:g} "
                f"({scores}{p_of_score})",
                "gap": f"{has_have} a smaller {gap}{more} ({_compared(findings)}; {p_of_gap})",
            }[f]
            for f in failures(search, tested)
        )
        text += "."
    if search.claim == "recipe" and search.n_partitions > 1:
        text += f" Of {search.n_partitions} partitions together, p = {p_in_words(tested.p_value)}."
    if is_frozen(search):
        text += (
            " This holds if the present model has not seen these people, as whoever passed it "
            "frozen states."
        )
    return text


def by_more_than(search):
    """Return by how much more than nothing a gap has to be smaller, or ""."""
    return f" by more than {search.min_gain:g}" if search.min_gain else ""


def p_in_words(p):
    """Return a p-value with two digits, and none so small that nobody reads it."""
    return "below 0.0001" if p < 0.0001 else f"{p:.2g}"


def _p_of_each(step):
    """Return the p-values of the score and of the gap, as they stand in parentheses."""
    several = [float(ndtr(-z)) for z in (step.score_z, step.gain_z)]
    of_score, of_gap = (
        f"p {p_in_words(p)}" if p < 0.0001 else f"p = {p_in_words(p)}" for p in several
    )
    return f"; {of_score}", of_gap


def _scores_from_to(findings):
    """Return the scores of both models."""
    question = findings.question
    return " to ".join(f"{question.score(p):z.3f}" for p in findings.predictions)


def _compared(findings):
    """Return the gaps that are compared where a smaller one is not shown."""
    texts = []
    for row in findings.tested_gaps:
        if row["is_largest"]:
            texts.append(" to ".join(number(row[n]) for n in ("largest_before", "largest_after")))
        else:
            texts.append(
                f"{number(row['largest_after'])}, tested against {number(row['before'])}, the "
                "present gap in the pair that was fixed beforehand"
            )
    return " and ".join(texts)


def number(value):
    """Return a gap with three digits."""
    return "undefined" if np.isnan(value) else f"{value:z.3f}"


def pair_sentences(search, findings, name):
    """Return which gap was tested in each column, and how it differs from the largest."""
    if findings.predictions is None:
        return []
    sentences, with_it = (
        [],
        f"with {name!r}" if search.claim == "model" else "with the models that were tested",
    )
    metric, is_model = search.metric.replace("_", " "), search.claim == "model"
    for row in findings.tested_gaps:
        high, low = (row[n] and repr(row[n]) for n in ("higher", "lower"))
        if not is_model:
            high, low = "the first", "the second"
        what = f"The {metric} of {high} less that of {low}"
        if search.scale == "ratio":
            what = f"One less the ratio of the {metric} of {low} to that of {high}"
        which = f"{high} and {low}, the two groups furthest apart among the people of the choice"
        if not is_model:
            which = f"two groups that the other parts fix for each part ({row['pair']})"
        text = (
            f"Tested by {row['column']}: the gap of the present model between {which}. {what} is "
            f"{number(row['before'])} here{'' if is_model else ' on average'}, and "
            f"{number(row['after'])} {with_it}. The {'' if is_model else 'mean of the '}largest "
            f"{'gap' if is_model else 'gaps'} {with_it}, which has to be smaller "
            f"than {number(row['before'])}{by_more_than(search)}, is "
            f"{number(row['largest_after'])} ({row['pair_of_largest_after']})."
        )
        if not row["is_largest"]:
            text += (
                f" On these people the present model has a larger gap, "
                f"{row['pair_of_largest_before']}: {number(row['largest_before'])}. It was not "
                "tested, because a pair that is picked on the people of the test looks larger than "
                "it is."
            )
        sentences.append(text)
    column, pair = findings.question.hardest(*findings.predictions, findings.pairs)
    if pair is not None:
        words = pair_in_words(findings.question.groups[column], pair)
        sentences.append(
            f"It has to be smaller in every pair of groups {with_it}; the z of the test is the "
            f"smallest of them, here that of {words} by {column}."
        )
    return sentences


_GAP = {"model": "largest", "recipe": "mean over the five of the largest"}


def _subject(search, findings, name):
    """Return what was tested: a model, or models of one kind."""
    if search.claim == "model":
        return repr(name)
    times, n_tried = findings.times_chosen, len(findings.times_chosen) - 1
    several = f"the safest of {n_tried} candidates" if n_tried > 1 else "the one candidate"
    n = times[findings.chosen + 1]
    which = f"which is {name!r} in {'each' if n == N_FOLDS else n} of {N_FOLDS} parts"
    return f"models made in this way ({several}, {which})"


def _where(search, n):
    """Return about whom the claim is."""
    if search.claim == "model":
        return f"{n:,} people whom neither model had seen"
    return f"{n:,} people, each judged by models that have not seen them, and on average of five"


def _from_to(findings):
    """Return the gaps of both models, by column."""
    question = findings.question
    several = []
    for name in question.groups:
        gaps = (question.gap(p, name)[1] for p in findings.predictions)
        several.append(" to ".join(map(number, gaps)))
    return " and ".join(several)


def failures(search, step):
    """Return which of the two conditions a test has not shown: "score", "gap"."""
    critical = -ndtri(search.significance)
    which = {"score": step.score_z, "gap": step.gain_z}
    return [f for f, z in which.items() if not z > critical] or ["gap"]


def is_frozen(search):
    """Return whether the present model is used as it is."""
    return isinstance(search.estimator, FrozenEstimator)
