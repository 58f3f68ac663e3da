"""The tables, figures and sentences of the article, made from results."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from skdisc._registry import all_detectors
from skdisc.benchmark._article import _sentences as _say
from skdisc.benchmark._protocols import BASE, default_detectors
from skdisc.benchmark._run import changed
from skdisc.benchmark._tables import with_intervals
from skdisc.datasets import make_discrimination
from skdisc.plotting import plot_hierarchy, plot_phases

_SCORES = ("precision", "recall", "f1")
_OWN_SCORES = tuple(f"own_{name}" for name in _SCORES)
_TITLES = {name: f"own question: {name}" for name in _SCORES}
_TITLES = {f"own_{name}": title for name, title in _TITLES.items()}
_TITLES |= {name: f"planted groups: {name}" for name in _SCORES}
_UNCERTAINTY = ("aleatoric", "epistemic", "coverage")
_PROPERTIES = ("magnitude", "n_people", "granularity", "intersectionality", "similarity")
_PROPERTIES += ("imbalance", "direct")


def contents(result, folder, random_state):
    """Return the functions that make tables, figures and sentences, a dict by kind and name.

    Without results, those that need results are left out.
    """
    makers = {
        ("table", "taxonomy"): taxonomy,
        ("table", "parameters"): partial(parameters, result),
        ("figure", "phases"): partial(_generator, plot_phases, random_state),
        ("figure", "hierarchy"): partial(
            _generator, lambda made: plot_hierarchy(made.truth), random_state
        ),
    }
    if result is None:
        return makers
    makers |= {
        ("table", "protocol"): partial(protocol, result),
        ("table", "failures"): partial(failures, result),
        ("say", "left_out"): partial(_say.left_out, result),
    }
    result = result.comparable()
    if result.table.empty:  # nothing can be said
        return makers
    tables = {
        "overview": overview,
        "summary": summary,
        "efficiency": efficiency,
        "models": models,
        "families": families,
        "honesty": honesty,
    }
    makers |= {("table", name): partial(make, result) for name, make in tables.items()}
    makers["table", "pooled"] = partial(pooled, result, _read(folder, "limits"))
    for name in ("tuning", "replication"):
        makers["table", name] = partial(_read, folder, name)
    for name in ("precision_recall", "time", "ranks"):
        makers["figure", name] = partial(result.plot, name)
    makers["figure", "precision_recall_own"] = partial(result.plot, "precision_recall", own=True)
    for name in (*_UNCERTAINTY, *_PROPERTIES):
        makers["figure", f"recall_{name}"] = partial(_heatmap, result, name)
    return makers | _sentences(result, folder)


def _sentences(result, folder):
    """Return the functions that make sentences by kind and name."""
    tuning, replication = (_read(folder, name) for name in ("tuning", "replication"))
    made = {
        "headline": _say.headline(result),
        "own": _say.own_precision(result),
        "sources": _say.sources(result),
        "uncertainty": _say.trends(result, _UNCERTAINTY),
        "properties": _say.trends(result, _PROPERTIES),
        "costs": _say.cheapest(result),
        "audited": _say.audited(result),
        "settings": _say.settings(tuning),
        "replicated": _say.replicated(replication),
        "families": _say.families(result),
        "discussion": _say.discussion(result),
    }
    return {("say", name): partial(str, sentence) for name, sentence in made.items()}


def taxonomy():
    """Return the cards of all detectors as a table."""
    names = ("finds", "where", "access", "statistic", "output", "reference")
    rows = [
        {"method": name, **{n: getattr(cls.card, n) for n in names}}
        for name, cls in all_detectors().items()
    ]
    return pd.DataFrame(rows)


def parameters(result=None):
    """Return the settings that differ from the defaults, one row per detector."""
    if result is None:
        rows = [(name, changed(detector)) for name, detector in default_detectors().items()]
    else:
        rows = result.to_frame()[["detector", "settings"]].drop_duplicates()
    return pd.DataFrame(np.asarray(rows), columns=["method", "settings"])


def _generator(draw, random_state):
    """Return a figure of one draw of the generator."""
    return _figure(draw(make_discrimination(**BASE, random_state=random_state)))


def _figure(drawn):
    """Return the figure of axes, or a figure itself."""
    return drawn if hasattr(drawn, "savefig") else drawn.figure


def _heatmap(result, by):
    """Return a heatmap by a property; None if the property is constant."""
    rows = result.targets()
    return result.plot("heatmap", by=by) if rows[by].nunique() > 1 else None


def _read(folder, name):
    """Return a CSV file of the folder; None if it does not exist."""
    path = None if folder is None else Path(folder) / f"{name}.csv"
    return pd.read_csv(path) if path is not None and path.is_file() else None


def protocol(result):
    """Return the facts about a run, one per row."""
    cells, lacking = result.to_frame(), result.incomplete()["reason"].value_counts()
    facts = {
        "methods": cells["detector"].nunique(),
        "data sets": cells["dataset"].nunique(),
        "draws of each": _say.draws(cells),
        "audited": ", ".join(dict.fromkeys(cells["audited"])),
        "cells": len(cells),
        "cells that failed": int((cells["error"] != "").sum()),
        "cells stopped by a time limit": int(lacking.get("stopped by the time limit", 0)),
        "cells that are missing": int(lacking.get("missing", 0)),
        "cells compared": len(result.comparable().to_frame()),
        "planted groups to find": len(result.targets()),
        "hours of computing time": float(cells["seconds"].sum() / 3600),
    }
    return pd.DataFrame({"fact": list(facts), "value": list(facts.values())})


def overview(result):
    """Return the mean F1 for planted groups and the precision for the own question, by audit."""
    cells = _say.with_contextual_truth(result)
    scores = {"f1": "F1 for planted groups", "own_precision": "right by its own question"}
    source = _say.sources_of(cells)
    means = {w: _say.means_of(cells[source == w], list(scores)) for w in _say.WHERE}
    table = pd.DataFrame({"null": cells.groupby("detector")["null"].first()})
    for score, title in scores.items():
        for where in (w for w in _say.WHERE if len(means[w])):
            table[f"{title}: {where}"] = means[where][score]
    return table.rename_axis("method").reset_index()


def summary(result):
    """Return precision, recall and F1 by both yardsticks, with intervals."""
    table = with_intervals(result.summary(scores=_OWN_SCORES + _SCORES), _OWN_SCORES + _SCORES)
    nulls = result.to_frame().groupby("detector")["null"].first()
    table.insert(2, "null", table["detector"].map(nulls))
    return table.rename(columns=_TITLES)


def pooled(result, limits=None):
    """Return the scores of all claims together, and recall over the detection limit if known."""
    names = _TITLES | {"n_claimed": "claims", "of_limit": "found / limit"}
    table = result.pooled(limits=limits)
    shown = ["detector", "audited", "n_claimed", *_OWN_SCORES, *_SCORES]
    return table[shown + [c for c in ("limit", "of_limit") if c in table]].rename(columns=names)


def models(result):
    """Return mean recall by method and audited model."""
    wide = result.to_frame().pivot_table(index="detector", columns="audited", values="recall")
    return wide.reset_index().rename(columns={"detector": "method"})


def efficiency(result):
    """Return the costs of true findings by detector, and the median cost of the first one."""
    cells = result.to_frame()
    cells = cells[cells["error"] == ""]
    cells = cells.assign(right=(cells["precision"] * cells["n_claimed"]).fillna(0))
    by_detector = cells.groupby("detector")
    sums = by_detector[["right", "n_queries", "seconds"]].sum()
    first = by_detector[["queries_to_first", "seconds_to_first"]].median()
    queries = sums["n_queries"]
    rows = {
        "method": sums.index,
        "true findings": sums["right"].round().astype(int).to_numpy(),
        "queries": queries.astype(int).to_numpy(),
        "seconds": sums["seconds"].to_numpy(),
        "per 1,000 queries": (1000 * sums["right"] / queries.replace(0, np.nan)).to_numpy(),
        "per second": (sums["right"] / sums["seconds"]).to_numpy(),
        "queries to the first": first["queries_to_first"].to_numpy(),
        "seconds to the first": first["seconds_to_first"].to_numpy(),
    }
    return pd.DataFrame(rows)


def families(result):
    """Return mean scores by family: individual, subgroup and group methods."""
    kinds = {name: cls.card.finds for name, cls in all_detectors().items()}
    cells = result.to_frame()
    cells["finds"] = cells["detector"].map(kinds).fillna("?")
    names = [*_OWN_SCORES, "own_guess_precision", "own_guess_recall"]
    names += [*_SCORES, "guess_precision", "guess_recall"]
    table = cells.groupby(["finds", "audited"])[names].mean().reset_index()
    return table.rename(columns=_TITLES)


def honesty(result):
    """Return true claims, wrong signs, errors of effects and coverage of intervals.

    The coverage is the mean over runs of the share of the intervals shown that hold the true
    effect, 1 for a run without findings.
    """
    names = ["true_claims", "wrong_sign", "effect_error", "interval_coverage"]
    cells = result.to_frame().dropna(subset=names, how="all")
    return cells.groupby("detector")[names].mean().reset_index()


def failures(result):
    """Return why cells of each detector failed, were stopped or are missing, and how many."""
    cells, lacking = result.to_frame(), result.incomplete()
    failed = cells[cells["error"] != ""].assign(error=lambda t: t["error"].str.slice(0, 90))
    columns = ["detector", "error"]
    failed = pd.concat([failed[columns], lacking.rename(columns={"reason": "error"})[columns]])
    return failed.groupby(["detector", "error"]).size().reset_index(name="cells")
