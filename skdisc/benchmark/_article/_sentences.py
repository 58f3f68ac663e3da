"""The sentences of the article, made from the results of a run."""

import numpy as np

from skdisc._registry import all_detectors

_WORDS = {"n_people": "the number of people", "magnitude": "the size of the effect"}
_WORDS |= {"aleatoric": "aleatoric uncertainty", "epistemic": "epistemic uncertainty"}
_WORDS |= {"direct": "the share of the bias that does not act through a proxy"}
WHERE = {
    "decisions": "Where the decisions themselves are audited",
    "law": "Where the law of the outcome is audited",
    "models": "Where models are audited",
}
_ARE = {"stopped by the time limit": "were stopped by a time limit", "missing": "are missing"}
_OF = {"labels": "the decisions", "oracle": "the law of the outcome"}
_FEWEST_DRAWS = 5
_FAMILIES = {"individual": "methods for individuals", "subgroup": "methods for subgroups"}
_FAMILIES |= {"group": "methods for predefined groups"}


def sources_of(cells):
    """Return what is audited in each cell: "decisions", "law" or "models"."""
    return cells["audited"].map({"labels": "decisions", "oracle": "law"}).fillna("models")


def draws(cells):
    """Return how often each data set was drawn, by what was audited if that differs."""
    n = cells.groupby("audited", sort=False)["repeat"].nunique()
    if n.nunique() == 1:
        return str(n.iloc[0])
    return ", ".join(f"{k} ({', '.join(n.index[n == k])})" for k in sorted(set(n), reverse=True))


def left_out(result):
    """Return which cells nothing rests on, because they were stopped or are missing."""
    lacking = result.incomplete()
    if lacking.empty:
        return ""
    counts = lacking["reason"].value_counts()
    n_cells = len(result.to_frame()) + int(counts.get("missing", 0))
    reasons = " and ".join(f"{n:,} {_ARE.get(why, why)}" for why, n in counts.items())
    sentences = [
        f"Of {n_cells:,} cells, {reasons}. No score, figure or sentence rests on them, nor on the "
        "cells of other methods for the same drawing."
    ]
    out = result.left_out()
    for what, names in out.groupby("audited", sort=False)["detector"]:
        sentences.append(
            f"Of audits of {_OF.get(what, what)}, more than a tenth is lacking of "
            f"{', '.join(names)}, which {'is' if len(names) == 1 else 'are'} not compared there."
        )
    return " ".join(sentences)


def means_of(cells, scores):
    """Return the mean scores of each detector over what was audited, each with the same weight."""
    means = cells.groupby(["detector", "audited"])[scores].mean()
    return means.groupby(level="detector").mean()


def headline(result):
    """Return the best method for each kind of audit, in sentences."""
    cells = result.to_frame()
    source = sources_of(cells)
    text_of_kind = {where: text for where in WHERE if (text := _best(cells[source == where]))}
    if len(text_of_kind) > 1:
        return " ".join(f"{WHERE[where]}, {text}" for where, text in text_of_kind.items())
    return "".join(text[0].upper() + text[1:] for text in text_of_kind.values())


def _best(cells):
    """Return which method finds the planted groups best, in a sentence but for its capital."""
    means = means_of(cells, ["f1", "recall", "precision"])
    if means["f1"].isna().all():
        return ""
    best, n = means["f1"].idxmax(), int(means["f1"].notna().sum())
    f1, recall, precision = means.loc[best]
    if not f1:
        return f"none of the {n} methods finds any of the planted groups."
    scores = f"{f1:.2f} (precision {precision:.2f}, recall {recall:.2f})"
    if n == 1:
        return f"{best} has a mean F1 of {scores}."
    of_best = cells[cells["detector"] == best]
    varies = ""
    if len(of_best[["dataset", "repeat"]].drop_duplicates()) >= _FEWEST_DRAWS:
        low, high = of_best["f1"].quantile([0.1, 0.9])
        varies = f"; from data set to data set it varies between {low:.2f} and {high:.2f} (80 %)"
    return (
        f"of {n} methods, {best} has the highest mean F1 for the planted groups, {scores}{varies}. "
        f"The median method has {means['f1'].median():.2f}."
    )


def own_precision(result):
    """Return how precise methods are about their own question and about the planted groups."""
    scores = ["own_precision", "precision"]
    means = with_contextual_truth(result).groupby("detector")[scores].mean().dropna()
    if means.empty:
        return ""
    question, planted = means.median()
    gap = means["own_precision"] - means["precision"]
    sentence = (
        f"Of the claims of the median method, {question:.0%} are right answers to its own "
        f"question, and {planted:.0%} name a planted group"
    )
    if gap.max() < 0.005:
        return f"{sentence}."
    return (
        f"{sentence}; the difference is largest for {gap.idxmax()} "
        f"({means.loc[gap.idxmax(), 'own_precision']:.0%}, "
        f"{means.loc[gap.idxmax(), 'precision']:.0%})."
    )


def with_contextual_truth(result):
    """Return the cells, with the truth in their contexts as the own precision of contextual claims.

    In the scores it is that of planted groups, which a true difference in a context need not be.
    """
    cells = result.to_frame()
    is_contextual = cells["null"] == "contextual"
    own_precision = cells["own_precision"].mask(is_contextual, cells["true_claims"])
    return cells.assign(own_precision=own_precision)


def discussion(result):
    """Return the results on all methods together."""
    cells = result.to_frame()
    better = cells.groupby("detector")[["recall", "guess_recall"]].mean()
    beaten = better[better["recall"] <= better["guess_recall"].fillna(0)].index.tolist()
    sentences = [trend(result, "magnitude")]
    if beaten:
        verb = "does" if len(beaten) == 1 else "do"
        sentences.append(
            f"{', '.join(beaten)} {verb} not find more than equally many random findings."
        )
    wrong = cells["wrong_sign"].mean()
    if not np.isnan(wrong):
        sentences.append(
            f"Of the groups claimed in audits of the decisions, {wrong:.1%} have no effect or the "
            "opposite effect under the true law."
        )
    return " ".join(filter(None, sentences))


def trend(result, name):
    """Return a sentence on how the share of planted groups found depends on a property of them."""
    rows = result.targets().dropna(subset=name)
    if rows[name].nunique() < 2:
        return ""
    low, high = np.quantile(rows[name].unique(), [1 / 3, 2 / 3])
    ends = [rows[name] <= low, rows[name] >= high]
    if rows[name].nunique() <= 3:
        ends = [rows[name] == rows[name].min(), rows[name] == rows[name].max()]
    low, high = (rows.loc[end, "hit"].mean() for end in ends)
    word = _WORDS.get(name, name)
    if abs(high - low) < 0.02:
        return (
            f"The share of planted groups found hardly depends on {word} ({low:.0%}, {high:.0%})."
        )
    way = "rises" if high > low else "falls"
    return f"The share of planted groups found {way} with {word}, from {low:.0%} to {high:.0%}."


def trends(result, names):
    """Return `trend` for several properties."""
    return " ".join(filter(None, (trend(result, name) for name in names)))


def sources(result):
    """Return a sentence on the mean recall in decisions and in models.

    Over the methods that audit both, so that the means are of the same methods.
    """
    wide = result.to_frame().pivot_table(index="detector", columns="audited", values="recall")
    complete = wide.dropna()
    if "labels" not in wide or complete.empty or len(wide.columns) < 2:
        return ""
    means = complete.mean().sort_values(ascending=False)
    listed = ", ".join(f"{name} {value:.0%}" for name, value in means.items())
    return (
        f"The {len(complete)} methods that audit decisions and models have mean recall: {listed}."
    )


def cheapest(result):
    """Return sentences on the methods with the lowest cost of a true finding."""
    cells = result.to_frame()
    right = (cells["precision"] * cells["n_claimed"]).fillna(0)
    sums = cells.assign(right=right).groupby("detector")[["right", "n_queries", "seconds"]].sum()
    first = cells.groupby("detector")["queries_to_first"].median()
    if not sums["right"].any():
        return ""
    per_row = (sums["right"] / sums["n_queries"].replace(0, np.nan)).dropna()
    by_rows = f"{per_row.idxmax()} has the most true findings per query, " if per_row.any() else ""
    by_time = (sums["right"] / sums["seconds"]).idxmax()
    joined = f"{by_rows}and {by_time} per second" if by_rows else ""
    sentence = joined or f"{by_time} has the most true findings per second"
    if first.isna().all():
        return f"{sentence}."
    queries = f"{first.median():,.0f} queries"
    return f"{sentence}. The first true finding takes {queries} (median of the methods)."


def audited(result):
    """Return how strongly recall depends on the audited model."""
    wide = result.to_frame().pivot_table(index="detector", columns="audited", values="recall")
    wide = wide.drop(columns=["labels", "oracle"], errors="ignore").dropna()
    if wide.shape[1] < 2 or wide.empty:
        return "Only one model was audited in this run."
    gap = (wide.max(axis=1) - wide.min(axis=1)).sort_values()
    return (
        f"The recall of a method differs between models by {gap.median():.2f} (median), and by at "
        f"most {gap.iloc[-1]:.2f} ({gap.index[-1]})."
    )


def settings(tuning):
    """Return how strongly methods depend on their settings."""
    if tuning is None:
        return ""
    means = tuning.groupby(["detector", "setting"])["score"].mean().unstack()
    gap = (means.max(axis=1) - means.min(axis=1)).dropna().sort_values()
    if gap.empty:
        return ""
    return (
        f"The score of a method differs between settings by {gap.median():.3f} (median), and by at "
        f"most {gap.iloc[-1]:.3f} ({gap.index[-1]})."
    )


def replicated(replication):
    """Return how far measured success rates are from the published ones."""
    if replication is None:
        return ""
    gap = (replication["measured"] - replication["published"]).dropna()
    if gap.empty:
        return ""
    return (
        f"Of {len(gap)} published rates, {int((gap.abs() <= 0.05).sum())} are within 0.05 of the "
        f"rates measured here, {int((gap > 0.05).sum())} are lower and "
        f"{int((gap < -0.05).sum())} are higher."
    )


def families(result):
    """Return the mean scores by family of methods."""
    kinds = {name: cls.card.finds for name, cls in all_detectors().items()}
    cells = with_contextual_truth(result)
    names = ["precision", "recall", "own_precision"]
    means = cells.groupby(cells["detector"].map(kinds))[names].mean()
    sentences = [
        f"{_FAMILIES[kind]} have {_rates(*rates)}"
        for kind, *rates in means.itertuples()
        if kind in _FAMILIES and rates[1] == rates[1]
    ]
    return ("; ".join(sentences) + ".").capitalize() if sentences else ""


def _rates(precision, recall, own_precision):
    """Return mean scores in words."""
    if precision != precision:
        return "no findings"
    words = f"a mean precision of {precision:.2f} and a mean recall of {recall:.2f}"
    aside = (
        ""
        if own_precision != own_precision
        else f" (precision for their own questions: {own_precision:.2f})"
    )
    return f"{words} for the planted groups{aside}"
