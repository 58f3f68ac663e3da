"""The sentences of the article say no more than a run does."""

import re

import numpy as np
import pandas as pd
import pytest

from skdisc.benchmark import BenchmarkResult
from skdisc.benchmark._article import _contents as contents
from skdisc.benchmark._article import _sentences as say


def run(*cells):
    """Return a result with one cell per dict."""
    rows = [
        {"dataset": "base", "repeat": 0, "audited": "labels", "seed": 0, "error": "", "target": 0}
        | {"cell": str(i), "seconds": 1.0, "n_queries": 0, "n_claimed": 0, "hit": False}
        | cell
        for i, cell in enumerate(cells)
    ]
    return BenchmarkResult(pd.DataFrame(rows).reindex(columns=BenchmarkResult.COLUMNS))


NOTHING = {"f1": 0.0, "recall": 0.0, "precision": np.nan}
GOOD = {"f1": 0.5, "recall": 0.5, "precision": 0.5, "n_claimed": 4}


def test_a_run_in_which_nothing_is_found_has_no_best_method():
    nothing = run({"detector": "SG", **NOTHING}, {"detector": "KOSEI", **NOTHING})
    assert say.headline(nothing) == "None of the 2 methods finds any of the planted groups."
    assert say.cheapest(nothing) == ""
    assert say.families(nothing) == "Methods for individuals have no findings."
    assert say.discussion(nothing).startswith("KOSEI, SG do not find more than")


def test_one_method_is_compared_with_none():
    one = run({"detector": "DivExplorer", **GOOD})
    said = say.headline(one)
    assert said == "DivExplorer has a mean F1 of 0.50 (precision 0.50, recall 0.50)."
    assert say.cheapest(one) == "DivExplorer has the most true findings per second."
    two = run({"detector": "DivExplorer", **GOOD}, {"detector": "SG", **NOTHING})
    assert say.headline(two).startswith("Of 2 methods, DivExplorer has the highest mean F1 for")


def test_the_best_method_is_named_for_each_kind_of_audit():
    better = {**GOOD, "f1": 0.8}
    several = run(
        *({"detector": "A", "audited": a, **GOOD} for a in ("labels", "tree", "mlp")),
        *({"detector": "B", "audited": a, **better} for a in ("tree", "mlp")),
        *({"detector": name, "audited": "oracle", **NOTHING} for name in "AB"),
        {"detector": "B", "audited": "labels", **NOTHING},
    )
    decisions, law, models = re.split(r"(?<=\.) (?=Where)", say.headline(several))
    assert decisions.startswith("Where the decisions themselves are audited, of 2 methods, A has")
    assert law == (
        "Where the law of the outcome is audited, none of the 2 methods finds any of the planted "
        "groups."
    )
    assert models.startswith("Where models are audited, of 2 methods, B has the highest mean F1")
    table = contents.overview(several).set_index("method")
    assert table["F1 for planted groups: models"].to_dict() == {"A": 0.5, "B": 0.8}
    assert table["F1 for planted groups: law"].to_dict() == {"A": 0.0, "B": 0.0}


def test_the_method_that_gains_most_from_its_own_question_is_named():
    asked = run({"detector": "A", **GOOD, "own_precision": 1.0},
                {"detector": "B", **GOOD, "own_precision": 0.5})  # fmt: skip
    assert say.own_precision(asked).endswith("the difference is largest for A (100%, 50%).")
    assert "75% are right answers to its own question, and 50% name" in say.own_precision(asked)
    same = run({"detector": "B", **GOOD, "own_precision": 0.5})
    assert say.own_precision(same).endswith("and 50% name a planted group.")
    kosei = run({"detector": "KOSEI", **GOOD, "own_precision": 1.0})
    assert "(precision for their own questions: 1.00)" in say.families(kosei)


def test_contextual_claims_are_answers_where_the_group_differs_in_its_context():
    told = {**GOOD, "own_precision": 0.5, "true_claims": 1.0}
    shadows = run({"detector": "DivExplorer", "null": "contextual", **told})
    assert "100% are right answers to its own question, and 50% name" in say.own_precision(shadows)
    assert "(precision for their own questions: 1.00)" in say.families(shadows)
    causes = run({"detector": "DisparityPursuit", "null": "conditional", **told})
    assert "50% are right answers to its own question" in say.own_precision(causes)


def test_cells_that_all_failed_say_nothing():
    failed = run({"detector": "SG", "error": "ValueError: no"})
    sentences = (
        say.headline,
        say.own_precision,
        say.cheapest,
        say.families,
        say.sources,
        say.discussion,
    )
    assert [sentence(failed) for sentence in sentences] == [""] * 6
    assert "nan" not in say.audited(failed)
    nowhere = pd.DataFrame({"measured": [np.nan], "published": [0.2]})
    assert say.replicated(nowhere) == ""


def test_cells_of_several_runs_are_not_read_as_one(tmp_path):
    pytest.importorskip("pyarrow")
    for cell in "ab":
        run({"detector": "SG", "cell": cell, **GOOD}).table.to_parquet(tmp_path / f"{cell}.parquet")
    with pytest.raises(ValueError, match=r"holds several runs, .* of SG"):
        BenchmarkResult.read(tmp_path)


def test_models_drawn_more_often_have_no_more_weight():
    """A has .8 on three drawings of a forest and .2 on one of a tree, B .6 on each."""
    a = {**GOOD, "detector": "A"}
    several = run(
        *({**a, "audited": "forest", "repeat": i, "f1": 0.8} for i in range(3)),
        {**a, "audited": "tree", "f1": 0.2},
        *({**a, "detector": "B", "audited": "forest", "repeat": i, "f1": 0.6} for i in range(3)),
        {**a, "detector": "B", "audited": "tree", "f1": 0.6},
    )
    assert "B has the highest mean F1 for the planted groups, 0.60" in say.headline(several)
    assert say.draws(several.to_frame()) == "3 (forest), 1 (tree)"
    even = several.to_frame().query("repeat == 0")
    assert say.draws(even) == "1"


def several(n_draws, stopped=(), missing=()):
    """Return a run of three methods; cells (method, repeat) are stopped, or missing."""
    rng, cells = np.random.default_rng(0), []
    for repeat in range(n_draws):
        for detector in ("DivExplorer", "SliceLine", "DisparityPursuit"):
            for audited in ("labels", "tree", "forest"):
                scores = dict(zip(("f1", "recall", "precision"), rng.random(3), strict=True))
                own = {"own_precision": rng.random(), "true_claims": rng.random()}
                cost = {"n_queries": 100, "seconds": rng.random(), "queries_to_first": 10 * repeat}
                cell = {"detector": detector, "repeat": repeat, "audited": audited, **scores, **own}
                cell |= {"magnitude": repeat / 10, "hit": rng.random() < 0.1 + repeat / 10}
                cell |= {"wrong_sign": rng.random(), "guess_recall": 0.0}
                cell |= {"n_claimed": 10, "null": "conditional", "stopped_by": "", **cost}
                if (detector, repeat) in stopped:
                    cell |= {"stopped_by": "seconds", "f1": 1.0, "recall": 0.0}
                cells += [] if (detector, repeat) in missing else [cell]
    result = run(*cells)
    names = ["DivExplorer", "SliceLine", "DisparityPursuit"]
    draws = [(r, a) for r in range(n_draws) for a in ("labels", "tree", "forest")]
    result.planned = [("base", r, a, names) for r, a in draws]
    return result


def article_of(result):
    """Return the tables and sentences of the article of a run."""
    makers = contents.contents(result, None, 0)
    made = {key: make() for key, make in makers.items() if key[0] in ("table", "say")}
    return made


@pytest.mark.slow
def test_nothing_rests_on_cells_that_were_stopped_or_are_missing():
    whole = several(20)
    cut = several(20, stopped=[("SliceLine", 3)], missing=[("DivExplorer", 7)])
    assert repr(cut).endswith(", 3 stopped, 3 missing)")
    assert len(cut.incomplete()) == 6
    kept = BenchmarkResult(whole.table[~whole.table["repeat"].isin([3, 7])])
    ours, theirs = article_of(cut), article_of(kept)
    about_the_run = {("table", "protocol"), ("table", "failures"), ("say", "left_out")}
    assert ours.keys() == theirs.keys()
    for key in ours.keys() - about_the_run:
        if isinstance(ours[key], pd.DataFrame):
            pd.testing.assert_frame_equal(ours[key], theirs[key])
        else:
            assert ours[key] == theirs[key]
    assert theirs["say", "left_out"] == ""
    assert ours["say", "left_out"].startswith("Of 180 cells, 3 were stopped by a time limit and 3 ")
    facts = ours["table", "protocol"].set_index("fact")["value"]
    assert facts["cells stopped by a time limit"] == facts["cells that are missing"] == 3
    assert facts["cells compared"] == 18 * 9
    reasons = ours["table", "failures"].set_index("detector")["error"].to_dict()
    assert reasons == {"SliceLine": "stopped by the time limit", "DivExplorer": "missing"}


def test_a_method_that_is_often_stopped_is_named_and_not_compared():
    cut = several(6, stopped=[("DisparityPursuit", r) for r in range(6)])
    made = article_of(cut)
    assert "is lacking of DisparityPursuit, which is not compared" in made["say", "left_out"]
    rest = {key: value for key, value in made.items() if key != ("say", "left_out")}
    assert not any("DisparityPursuit" in v for v in rest.values() if isinstance(v, str))
    assert set(made["table", "overview"]["method"]) == {"DivExplorer", "SliceLine"}
    ranks, *_ = cut.comparable().ranks(audited="tree")
    assert "DisparityPursuit" not in ranks


def test_where_all_was_stopped_the_article_says_that_and_nothing_else():
    names = ("DivExplorer", "SliceLine", "DisparityPursuit")
    made = article_of(several(2, stopped=[(name, r) for name in names for r in range(2)]))
    assert set(made) == {
        ("table", name) for name in ("taxonomy", "parameters", "protocol", "failures")
    } | {("say", "left_out")}
    assert made["say", "left_out"].startswith("Of 18 cells, 18 were stopped by a time limit.")


@pytest.mark.parametrize("n_draws", [4, 5])
def test_intervals_take_five_drawings(n_draws):
    few = several(n_draws)
    table = few.summary()
    assert table["f1_low"].isna().all() == (n_draws < 5)
    assert ("80 %" in say.headline(few)) == (n_draws >= 5)
    lacking = several(n_draws, stopped=[("SliceLine", 0)], missing=[("SliceLine", 1)]).summary()
    row = lacking.set_index(["detector", "audited"]).loc["SliceLine", "tree"]
    assert (row["n_stopped"], row["n_missing"], row["f1_n"]) == (1, 1, n_draws - 2)
    assert np.isnan(row["f1_low"])


def numbers_of(text):
    """Return the numbers of a text as they stand there."""
    return re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?%?", text.replace("F1", "F"))


def test_each_number_of_the_article_is_read_from_a_table():
    """Each sentence has the numbers of its table, or of the cells, in this order and no other."""
    result = several(9)
    made = article_of(result)
    tables = {name: t for (kind, name), t in made.items() if kind == "table" and t is not None}
    cells, expected = result.to_frame(), {}
    models, overview = tables["models"].set_index("method"), tables["overview"].set_index("method")
    summary = result.summary().set_index(["detector", "audited"])

    expected["headline"] = []
    for where, audited in {"decisions": ["labels"], "models": ["tree", "forest"]}.items():
        f1 = overview[f"F1 for planted groups: {where}"]
        best = summary.loc[[(f1.idxmax(), what) for what in audited]].mean()
        of_best = cells[(cells["detector"] == f1.idxmax()) & cells["audited"].isin(audited)]
        low, high = np.quantile(of_best["f1"], [0.1, 0.9])
        shares = [f1.max(), best["precision"], best["recall"], low, high]
        texts = [f"{share:.2f}" for share in shares]
        expected["headline"] += [str(len(f1)), *texts, "80", f"{f1.median():.2f}"]

    scores = summary[["precision", "recall"]].groupby("detector").mean()
    question = cells.groupby("detector")["own_precision"].mean()
    largest = (question - scores["precision"]).idxmax()
    shares = [question.median(), scores["precision"].median()]
    shares += [question[largest], scores["precision"][largest]]
    expected["own"] = [f"{share:.0%}" for share in shares]

    recall = models.mean().sort_values(ascending=False)
    expected["sources"] = [str(len(models)), *(f"{share:.0%}" for share in recall)]
    first = tables["efficiency"]["queries to the first"].median()
    expected["costs"] = [f"{first:,.0f}"]
    gap = (models["tree"] - models["forest"]).abs()
    expected["audited"] = [f"{gap.median():.2f}", f"{gap.max():.2f}"]
    of_family = tables["families"].groupby("finds").mean(numeric_only=True)
    columns = ["planted groups: precision", "planted groups: recall", "own question: precision"]
    expected["families"] = [f"{share:.2f}" for share in of_family.loc["subgroup", columns]]

    strata = result.strata("magnitude")
    third = strata.groupby("stratum", observed=True)["recall"].mean()  # equally many of each method
    wrong = tables["honesty"]["wrong_sign"].mean()
    expected["discussion"] = [f"{third.iloc[0]:.0%}", f"{third.iloc[-1]:.0%}", f"{wrong:.1%}"]
    expected["properties"] = expected["discussion"][:2]
    expected |= {key: [] for key in ("left_out", "uncertainty", "settings", "replicated")}
    for (kind, name), text in made.items():
        if kind == "say":
            assert numbers_of(text) == expected[name], name
