"""What a search says: the claim in a sentence, and what has to be read with it."""

import numpy as np
from scipy.special import ndtri
from sklearn.frozen import FrozenEstimator

from skdisc.model_selection._alternatives._question import CLIPPED
from skdisc.model_selection._alternatives._split import is_small

SHOWN, NONE_SHOWN = "a less discriminatory alternative is shown", "no alternative is shown"
EXPLORATORY = "exploratory"
_SCORES = {
    "accuracy": "accuracy",
    "roc_auc": "area under the ROC curve",
    "neg_brier_score": "Brier score",
    "neg_log_loss": f"log loss (of probabilities clipped at {CLIPPED:g})",
}


def verdict_of(is_shown, is_exploratory):
    """Return the verdict in words."""
    return EXPLORATORY if is_exploratory else SHOWN if is_shown else NONE_SHOWN


def metric_in_words(search):
    """Return what is compared between groups."""
    kind = "gap" if search.scale == "difference" else "relative gap"
    return f"{kind} in {search.metric.replace('_', ' ')}"


def claim_sentence(search, found, name, columns):
    """Return the claim, or what was not shown, in a sentence or two."""
    claim, n = found["claim"], len(found["people"])
    step, score, gap = claim.shown, _SCORES[search.scoring], metric_in_words(search)
    by = " and ".join(map(str, columns))
    tested = step or (claim.steps[-1] if claim.steps else None)
    if step is not None:
        more = "" if not search.min_gain else f" by more than {search.min_gain:g}"
        if search.claim == "recipe":
            times, n_tried = found["times_chosen"], len(found["times_chosen"]) - 1
            who = (
                f"models made in this way (the safest of {n_tried} candidates, which is {name!r} "
                f"in {times[found['chosen'] + 1]} of five parts) are, on average of five,"
            )
            where = f"{n:,} people, each judged by models that have not seen them"
        else:
            who, where = f"{name!r} is", f"{n:,} people whom neither model had seen"
        text = (
            f"On {where}, {who} not worse in {score} by more than {search.margin:g}, and the "
            f"largest {gap} by {by} is smaller{more} (p = {step.p_value:.2g})."
        )
        if _is_frozen(search):
            text += (
                " This holds if the present model has not seen these people, as whoever passed it "
                "frozen states."
            )
        return text
    if tested is None:
        return "No candidate could be fitted, so that nothing was tested."
    few = is_small(n, search.margin)
    text = "Too few people for this margin: " if few else ""
    text += f"{'it' if few else 'It'} is not shown that {name!r} "
    failed = failures(search, tested)
    text += " and that ".join(
        {
            "score": f"is not worse in {score} by more than {search.margin:g}",
            "gap": f"has a smaller largest {gap} by {by}",
        }[f]
        for f in failed
    )
    return text + f" (p = {tested.p_value:.2g}, {n:,} people)."


def failures(search, step):
    """Return which of the two conditions a test has not shown: "score", "gap"."""
    critical = -ndtri(search.significance)
    which = {"score": step.score_z, "gap": step.gain_z}
    return [f for f, z in which.items() if not z > critical] or ["gap"]


def warnings_of(search, found, costs, candidates):
    """Yield what has to be read before the claim is used, the weightiest first."""
    if found["n_searches"] > 1:
        n = found["n_searches"] - 1
        before = "another search" if n == 1 else f"{n} other searches"
        yield (
            f"Exploratory: there was {before} on these people before. Whoever tries several and "
            "keeps the best one claims something false far more often than the level says."
        )
    if costs is not None:
        yield from _of_costs(search, costs)
    chosen = None if found["chosen"] is None else candidates[found["chosen"] + 1]
    if chosen is not None and chosen.get("reads_protected"):
        yield (
            f"{chosen['name']!r} needs the protected columns when it predicts"
            f"{', as the present model does' if candidates[0]['reads_protected'] else ''}, which "
            "may itself be disparate treatment."
        )
    for name, groups in found["question"].groups.items():
        if groups.left_out:
            yield (
                f"Left out of the gap by {name}, with less than {search.min_support:g} of the "
                f"people: {_some(groups.left_out)}."
            )
    failed = [c["name"] for c in candidates if c["error"]]
    if failed:
        yield f"{len(failed)} candidate(s) failed: {_some(failed)}. The table has their errors."


def _of_costs(search, costs):
    for name in costs.is_leveling_down:
        change = costs.leveling_down[name]
        yield (
            f"Leveling down: the gap by {name} closes because group {change['better_group']!r} "
            f"loses ({change['better_off']:+z.3f}) more than group {change['worse_group']!r} gains "
            f"({change['worse_off']:+z.3f})."
        )
    for row in costs.widened.itertuples():
        if row.claimed:
            continue
        beyond = "beyond chance" if row.p_larger < search.significance else "may be chance"
        yield (
            f"The gap by {row.column} grows from {row.before:.3f} to {row.after:.3f} ({beyond}): "
            "what one gains another may pay."
        )


def notes_of(search, found, run):
    """Return further sentences: what was foreseen, bounds, and what was searched."""
    claim, choice, n = found["claim"], found["choice"], len(found["people"])
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
    if claim.shown is None and claim.steps:
        k = 0 if search.claim == "recipe" else choice.ladder[0]
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
