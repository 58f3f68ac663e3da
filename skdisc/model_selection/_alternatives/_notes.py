"""What has to be read with a claim: costs, what was foreseen, bounds, and what was not tested."""

from textwrap import shorten

from scipy.special import ndtri

from skdisc._results._shared_values import MIN_CELL
from skdisc._utils._validation import listed
from skdisc.model_selection._alternatives._choice import people_needed
from skdisc.model_selection._alternatives._sentence import (
    SCORES_IN_WORDS,
    by_more_than,
    failures,
    number,
    pair_sentences,
)

_LONG = 150  # characters of an error
_NAMED = 5  # groups or candidates in a sentence
_HOPELESS = 100  # times as many people


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
    everywhere = {**findings.question.groups, **findings.watched}
    for name, groups in everywhere.items():
        n_missing = 0 if groups.is_missing is None else int(groups.is_missing.sum())
        if groups.left_out:
            n_left_out = int((groups.code < 0).sum()) - n_missing
            yield (
                f"Left out of the gap by {name}, with less than {search.min_support:g} of the "
                f"people each: {_some(groups.left_out)} ({n_left_out:,} of the people of the "
                "claim)."
            )
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
    metric = search.metric.replace("_", " ")
    for name in costs.is_leveling_down:
        change = costs.leveling_down[name]
        comparison = ", and no group gains"
        if change["gains"] > 0:
            comparison = (
                f" than any group gains ({change['gains_group']!r}, {change['gains']:+z.3f})"
            )
        yield (
            f"Leveling down: the largest gap by {name} narrows, but {change['loses_group']!r} "
            f"loses {'more ' if change['gains'] > 0 else ''}({change['loses']:+z.3f}){comparison}."
        )
    for name in costs.lowered_floors:
        floor = costs.floors[name]
        after = f"{floor['after_group']!r} has a {metric} of {floor['after']:.3f}"
        if floor["before_group"] == floor["after_group"]:
            before = f"before, it had {floor['before']:.3f}"
        else:
            before = f"before, {floor['before_group']!r} had {floor['before']:.3f}"
        yield f"Whoever is worst off by {name} is worse off than before: {after}; {before}."
    gap_change = dict(zip(costs.gaps["column"], costs.gaps["change"], strict=True))
    for name in costs.floors:
        rows = costs.decisions[costs.decisions["column"] == name]
        losing = rows[(rows["lose"] > rows["gain"]) & (rows["n"] >= MIN_CELL)]
        if losing.empty:
            continue
        several = [
            f"{r.group!r} ({r.gain:,} gain, {r.lose:,} lose, of {r.n:,})"
            for r in losing.itertuples()
        ]
        text = f"Groups by {name} with fewer favorable decisions than before: {_some(several)}"
        if gap_change[name] < 0 and not (rows["gain"] > rows["lose"]).any():
            text += "; no other group shown has more, so that its gap narrows by losses"
        yield f"{text}."
    for row in costs.widened.itertuples():
        if row.role == "protected":
            continue
        beyond = "beyond chance" if row.p_larger < search.significance else "may be chance"
        yield (
            f"The gap by {row.column} grows from {row.before:.3f} ({row.pair_before}) to "
            f"{row.after:.3f} ({row.pair_after}; {beyond}): what one gains another may pay."
        )


def notes_of(search, findings, run):
    """Return further sentences: what was foreseen, bounds, and what was searched."""
    claim, choice, n = findings.claim, findings.choice, len(findings.people)
    names = [c.name for c in run.everyone[1:]]
    chosen = findings.chosen
    reported = "" if chosen is None else names[chosen]
    notes = pair_sentences(search, findings, reported)
    level = 1 - search.significance
    if search.claim == "model" and chosen is not None:
        notes += _before_the_claim(search, findings, names)
    elif choice.ladder:
        notes.append(
            f"Before these people were looked at, the probability of a claim was foreseen as "
            f"{search.foreseen_:.2f}."
        )
    if claim.shown is None and claim.steps and findings.n_searches == 1:
        notes += _people_for_a_claim(search, findings, reported)
        notes += _bounds(search, findings, reported)
    if search.claim == "model" and findings.n_searches == 1:
        notes += _untested(findings, names)
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


def _before_the_claim(search, findings, names):
    """Yield what was foreseen about the candidate that is reported."""
    choice, k, n = findings.choice, findings.chosen, len(findings.people)
    foreseen = choice.foreseen(n, search.significance)
    text = (
        "Before the people of the claim were looked at, the probability that their test shows "
        f"{names[k]!r} was foreseen as {foreseen[k]:.2f}"
    )
    first = choice.ladder[0]
    if k != first:
        text += f", and that it shows the first step, {names[first]!r}, as {foreseen[first]:.2f}"
    yield f"{text}."


def _people_for_a_claim(search, findings, reported):
    """Yield how many people the claim takes that is not shown, by both parts of the people."""
    step, choice, n = findings.claim.steps[-1], findings.choice, len(findings.people)
    what = {"score": "the margin", "gap": "a smaller gap"}
    subject = repr(reported) if search.claim == "model" else "models made in this way"
    for failed in failures(search, step):
        z = {"score": step.score_z, "gap": step.gain_z}[failed]
        needed = people_needed(z, n, search.significance)
        if needed > _HOPELESS * n:
            yield (
                f"By the estimates of these {n:,} people, {what[failed]} of {subject} takes more "
                f"than {_HOPELESS} times as many: what is seen is at the limit itself."
            )
        elif z > 0:
            yield (
                f"By the estimates of these {n:,} people, {what[failed]} of {subject} is shown by "
                f"about {needed:,.0f} people of a claim, with probability 0.8."
            )
        elif failed == "score":
            before, after = map(findings.question.score, findings.predictions)
            yield (
                f"The loss of {SCORES_IN_WORDS[search.scoring]} of {subject} on these {n:,} "
                f"people, {before - after:z.3f}, is not within the margin of {search.margin:g}: by "
                "this estimate more people would not help."
            )
        else:
            yield (
                f"The gap of {subject} on these {n:,} people is not smaller{by_more_than(search)} "
                "than the gap that was tested: by this estimate more people would not help."
            )
        if search.claim == "recipe":
            continue
        z = {"score": choice.score_z, "gap": choice.gain_z}[failed][findings.chosen]
        needed = people_needed(z, choice.n, search.significance)
        if z > 0:
            yield (
                f"By the estimates of the {choice.n:,} people of the choice, about {needed:,.0f} "
                f"people of a claim were to be enough for {what[failed]}; candidates were chosen "
                "by these estimates, which makes them look better than they are."
            )


def _bounds(search, findings, reported):
    """Yield how much of the gap a candidate can take away at most, and how much there is."""
    claim, question = findings.claim, findings.question
    critical = -ndtri(search.significance / 2)
    one_sided = f"{1 - search.significance / 2:.3g}"
    unit = "" if search.scale == "difference" else " as a difference of logarithms"
    present = findings.predictions[0]
    of_column = {name: question.gap_bound(present, name, critical) for name in question.groups}
    of_gaps = []
    for name in question.groups:
        seen = question.gap(present, name)[1]
        of_gaps.append(f"by {name} it is {number(seen)} here, and at most {of_column[name]:.3f}")
    most = min(of_column.values())
    yield (
        f"How large the gap of the present model is bounds what can be gained: "
        f"{' and '.join(of_gaps)}{unit} (confidence {one_sided}). No model can reduce it by more."
    )
    k = 0 if search.claim == "recipe" else claim.steps[0].index
    high = claim.high[k]
    subject = repr(reported) if search.claim == "model" else "the average of what was tested"
    begin = subject[0].upper() + subject[1:]
    if high >= most:
        yield f"For {subject} no reduction is excluded, not even that of the whole gap."
    elif high <= 0:
        yield f"{begin} does not reduce the gap (confidence {one_sided})."
    else:
        yield f"{begin} reduces the gap by at most {high:.3f}{unit} (confidence {one_sided})."
    if search.claim == "model":
        level = f"{1 - search.significance:.3g}"
        if claim.most >= most:
            text = (
                "Of all candidates that were tried, and may keep the margin, no reduction is "
                "excluded, not even that of the whole gap."
            )
        else:
            text = (
                f"No candidate that was tried, and may keep the margin, reduces the gap by more "
                f"than {claim.most:.3f}{unit} (confidence {level})."
            )
        yield f"{text} Nothing follows about others."


def _untested(findings, names):
    """Yield which steps of the ladder were not tested."""
    choice, steps = findings.choice, findings.claim.steps
    tested = {s.index for s in steps}
    rest = [
        f"{names[k]!r} (step {i})"
        for i, k in enumerate(choice.ladder, 1)
        if k not in tested and findings.claim_predictions[k + 1] is not None
    ]
    if rest and steps:
        last = choice.ladder.index(steps[-1].index) + 1
        why = "which is the last that was asked for" if steps[-1].shown else "which was not shown"
        yield (
            f"Not tested: {_some(rest)}, as the order ended at step {last}, {why}. What these "
            "candidates do on the people of the claim is left out here: nobody may choose one of "
            "them by it."
        )


def _some(names):
    return listed(names, most=_NAMED)
