"""The sentences of the article, each made from the results of a run."""

import numpy as np

from skdisc._registry import all_detectors

_WORDS = {"n_people": "the number of people", "magnitude": "the size of the effect"}
_WORDS |= {"aleatoric": "aleatoric uncertainty", "epistemic": "epistemic uncertainty"}
_WORDS |= {"direct": "the share of the bias that is direct, not by a proxy"}
_FAMILIES = {"individual": "searches for people", "subgroup": "methods for subgroups"}
_FAMILIES |= {"group": "methods for named groups"}


def headline(result):
    """Return the main result in a sentence."""
    means = result.to_frame().groupby("detector")[["f1", "recall", "precision"]].mean()
    if means["f1"].isna().all():
        return ""
    best, n = means["f1"].idxmax(), int(means["f1"].notna().sum())
    f1, recall, precision = means.loc[best]
    if not f1:
        return f"Nothing of what was planted is found by any of the {n} methods."
    scores = f"{f1:.2f} (precision {precision:.2f}, recall {recall:.2f})"
    if n == 1:
        return f"{best} has a mean F1 of {scores}."
    return (
        f"Of {n} methods, {best} has the highest mean F1, {scores}; the median method has "
        f"{means['f1'].median():.2f}."
    )


def discussion(result):
    """Return what holds of all methods together."""
    cells = result.to_frame()
    better = cells.groupby("detector")[["recall", "guess_recall"]].mean()
    beaten = better[better["recall"] <= better["guess_recall"].fillna(0)].index.tolist()
    said = [trend(result, "magnitude")]
    if beaten:
        said.append(f"No better than guessing as often: {', '.join(beaten)}.")
    wrong = cells["wrong_sign"].mean()
    if not np.isnan(wrong):
        said.append(
            f"Of the groups claimed where the decisions themselves were audited, {wrong:.1%} are "
            "treated no differently in truth, or the other way round."
        )
    return " ".join(filter(None, said))


def trend(result, name):
    """Return how the share of planted groups found changes with a property of theirs."""
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
    """Return what is found in decisions, and what in models, by methods that audit both."""
    wide = result.to_frame().pivot_table(index="detector", columns="audited", values="recall")
    both = wide.dropna()
    if "labels" not in wide or both.empty or len(wide.columns) < 2:
        return ""
    means = both.mean().sort_values(ascending=False)
    listed = ", ".join(f"{name} {value:.0%}" for name, value in means.items())
    return f"The {len(both)} methods that audit everything find, by what is audited: {listed}."


def cheapest(result):
    """Return which method pays least for a true finding."""
    cells = result.to_frame()
    right = (cells["precision"] * cells["n_claimed"]).fillna(0)
    sums = cells.assign(right=right).groupby("detector")[["right", "n_queries", "seconds"]].sum()
    first = cells.groupby("detector")["queries_to_first"].median()
    if not sums["right"].any():
        return ""
    per_row = (sums["right"] / sums["n_queries"].replace(0, np.nan)).dropna()
    by_rows = f"per row asked: {per_row.idxmax()}; " if per_row.any() else ""
    by_time = (sums["right"] / sums["seconds"]).idxmax()
    said = f"Most true findings {by_rows}per second: {by_time}"
    if first.isna().all():
        return f"{said}."
    rows = f"{first.median():,.0f} rows"
    return f"{said}. The first true finding takes the median of the methods {rows}."


def audited(result):
    """Return how far recall depends on the model."""
    wide = result.to_frame().pivot_table(index="detector", columns="audited", values="recall")
    wide = wide.drop(columns=["labels", "oracle"], errors="ignore").dropna()
    if wide.shape[1] < 2 or wide.empty:
        return "Only one model was audited in this run."
    gap = (wide.max(axis=1) - wide.min(axis=1)).sort_values()
    return (
        f"Between models, the recall of a method differs by {gap.median():.2f} (median), at most "
        f"by {gap.iloc[-1]:.2f} ({gap.index[-1]})."
    )


def settings(tuning):
    """Return which method depends most on its setting."""
    if tuning is None:
        return ""
    means = tuning.groupby(["detector", "setting"])["score"].mean().unstack()
    gap = (means.max(axis=1) - means.min(axis=1)).dropna().sort_values()
    if gap.empty:
        return ""
    return (
        f"Settings move the score of a method by {gap.median():.3f} (median), at most by "
        f"{gap.iloc[-1]:.3f} ({gap.index[-1]})."
    )


def replicated(replication):
    """Return how far measured success rates are from those published."""
    if replication is None:
        return ""
    gap = (replication["measured"] - replication["published"]).dropna()
    if gap.empty:
        return ""
    return (
        f"Of {len(gap)} published rates, {int((gap.abs() <= 0.05).sum())} were measured within "
        f"0.05; {int((gap > 0.05).sum())} were higher here, {int((gap < -0.05).sum())} lower."
    )


def families(result):
    """Return the mean scores of the families."""
    kinds = {name: cls.card.finds for name, cls in all_detectors().items()}
    cells = result.to_frame()
    means = cells.groupby(cells["detector"].map(kinds))[["precision", "recall"]].mean()
    said = [
        f"{_FAMILIES[kind]} have a mean precision of {p:.2f} and recall of {r:.2f}"
        if p == p
        else f"{_FAMILIES[kind]} claim nothing"
        for kind, p, r in means.itertuples()
        if kind in _FAMILIES and r == r
    ]
    return ("; ".join(said) + ".").capitalize() if said else ""
