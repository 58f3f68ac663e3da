"""What a search says: the claim in a sentence, and what has to be read with it."""

from textwrap import shorten

import numpy as np
from scipy.special import ndtri
from sklearn.frozen import FrozenEstimator

from skdisc.model_selection._alternatives._question import CLIPPED
from skdisc.model_selection._alternatives._split import N_FOLDS, is_small, margins_in_reach

SHOWN, NONE_SHOWN = "a less discriminatory alternative is shown", "no alternative is shown"
EXPLORATORY = "exploratory"
_LONG = 150  # characters of an error
_SCORES = {
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
    n_claim, who = n, f"All {n:,} people are judged, each by models that have not seen them."
    if search.claim == "model":
        n_claim = max(round(n * search.claim_size), 1)
        who = f"About {n_claim:,} of the {n:,} people are kept for the test."
    least, usual = margins_in_reach(n_claim, -ndtri(search.significance))
    return (
        f"{who} They can show no margin below {least:.2g}, whatever they say, and are usually too "
        f"few for one below {usual:.2g}."
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
    who, where, score = _who(search, findings, name), _where(search, n), _SCORES[search.scoring]
    gap = f"{_GAP[search.claim]} {metric_in_words(search)} by {' and '.join(map(str, columns))}"
    if findings.n_searches > 1:
        return (
            f"Exploratory, so that nothing is claimed: of {n:,} people who were looked at before, "
            f"the {gap} goes from {_from_to(findings)} with {who}."
        )
    if claim.shown is not None:
        more = "" if not search.min_gain else f" by more than {search.min_gain:g}"
        be = "are" if search.claim == "recipe" else "is"
        text = (
            f"On {where}, {who} {be} not worse in {score} by more than {search.margin:g}, and the "
            f"{gap} is smaller{more}, from {_from_to(findings)} (p = {tested.p_value:.2g})."
        )
        if _is_frozen(search):
            text += (
                " This holds if the present model has not seen these people, as whoever passed it "
                "frozen states."
            )
        return text
    few = is_small(n, search.margin)
    text = "Too few people for this margin: " if few else ""
    text += f"{'it' if few else 'It'} is not shown that {who} "
    is_are, has_have = ("are", "have") if search.claim == "recipe" else ("is", "has")
    text += " and ".join(
        {
            "score": f"{is_are} not worse in {score} by more than {search.margin:g}",
            "gap": f"{has_have} a smaller {gap} ({_from_to(findings)})",
        }[f]
        for f in failures(search, tested)
    )
    return text + f" (p = {tested.p_value:.2g}, {n:,} people)."


_GAP = {"model": "largest", "recipe": "mean over the five of the largest"}


def _who(search, findings, name):
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
        several.append(" to ".join("undefined" if np.isnan(g) else f"{g:.3f}" for g in gaps))
    return " and ".join(several)


def failures(search, step):
    """Return which of the two conditions a test has not shown: "score", "gap"."""
    critical = -ndtri(search.significance)
    which = {"score": step.score_z, "gap": step.gain_z}
    return [f for f, z in which.items() if not z > critical] or ["gap"]


def warnings_of(search, findings, costs, candidates):
    """Yield what has to be read before the claim is used, the weightiest first."""
    if findings.n_searches > 1:
        n = findings.n_searches - 1
        before = "was another search" if n == 1 else f"were {n} other searches"
        yield (
            f"Exploratory: there {before} on these people before. Whoever tries several and "
            "keeps the best one claims something false far more often than the level says."
        )
    if costs is not None:
        yield from _of_costs(search, costs)
    chosen = None if findings.chosen is None else candidates[findings.chosen + 1]
    if chosen is not None and chosen.get("reads_protected"):
        yield (
            f"{chosen['name']!r} needs the protected columns when it predicts"
            f"{', as the present model does' if candidates[0]['reads_protected'] else ''}, which "
            "may itself be disparate treatment."
        )
    for name, groups in findings.question.groups.items():
        if groups.left_out:
            yield (
                f"Left out of the gap by {name}, with less than {search.min_support:g} of the "
                f"people: {_some(groups.left_out)}."
            )
        n_missing = 0 if groups.is_missing is None else int(groups.is_missing.sum())
        if n_missing:
            yield (
                f"{n_missing:,} of {len(findings.people):,} people of the claim have no value of "
                f"{name}: they count in the score, and not in the gap."
            )
    failed = [f"{c['name']} ({shorten(c['error'], _LONG)})" for c in candidates if c["error"]]
    if failed:
        yield f"{_counted(len(failed), 'candidate')} failed: {_some(failed)}."


def _counted(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def _of_costs(search, costs):
    for name in costs.is_leveling_down:
        change = costs.leveling_down[name]
        worse, better = change["worse_off"], change["better_off"]
        verb = "gains" if worse > 0 else "loses" if worse < 0 else "gains or loses"
        yield (
            f"Leveling down: the gap by {name} closes because group {change['better_group']!r} "
            f"loses more ({better:+z.3f}) than group {change['worse_group']!r} {verb} "
            f"({worse:+z.3f})."
        )
    for row in costs.widened.itertuples():
        if row.claimed:
            continue
        beyond = "beyond chance" if row.p_larger < search.significance else "may be chance"
        yield (
            f"The gap by {row.column} grows from {row.before:.3f} to {row.after:.3f} ({beyond}): "
            "what one gains another may pay."
        )


def notes_of(search, findings, run):
    """Return further sentences: what was foreseen, bounds, and what was searched."""
    claim, choice, n = findings.claim, findings.choice, len(findings.people)
    notes = []
    if choice.ladder:
        notes.append(
            f"Before these people were looked at, the probability of a claim was foreseen as "
            f"{search.foreseen_:.2f}."
        )
        needed = choice.people_for_margin(choice.ladder[0], search.significance)
        if not np.isnan(needed):
            notes.append(f"The margin alone takes about {needed:,.0f} people.")
    level = 1 - search.significance
    if claim.shown is None and claim.steps and findings.n_searches == 1:
        k = 0 if search.claim == "recipe" else claim.steps[0].index
        notes.append(
            f"What was tested reduces the gap by at most {claim.high[k]:.3f} (confidence "
            f"{1 - search.significance / 2:.3g})."
        )
        if search.claim == "model":
            notes.append(
                f"No candidate that was tried, and may keep the margin, reduces the gap by more "
                f"than {claim.most:.3f} (confidence {level:.3g}). Nothing follows about others."
            )
    n_tried = len(run.everyone) - 1
    if run.is_of_seeds:
        share = 1 - search.significance ** (1 / n_tried)
        notes.append(
            f"Of further seeds, at most a share of {share:.2g} has a larger estimate than the best "
            f"of these {n_tried} (confidence {level:.3g}, if their number was fixed beforehand)."
        )
    if run.clusters is not None:
        notes.append("Clusters were not divided; the tests count people as independent.")
    if any(run.arguments):
        notes.append("What fit was passed went to the models; the tests do not weight people.")
    if search.scoring in ("neg_brier_score", "neg_log_loss"):
        notes.append(
            f"Errors about fewer than one in {n:,} people are not seen in the score, and not "
            "excluded."
        )
    return notes


def _is_frozen(search):
    return isinstance(search.estimator, FrozenEstimator)


def _some(names, most=5):
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
