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
    assert say.own(asked).endswith("the difference is largest for A (100%, 50%).")
    assert "75% are right answers to its own question, and 50% name" in say.own(asked)
    same = run({"detector": "B", **GOOD, "own_precision": 0.5})
    assert say.own(same).endswith("and 50% name a planted group.")
    kosei = run({"detector": "KOSEI", **GOOD, "own_precision": 1.0})
    assert "(precision for their own questions: 1.00)" in say.families(kosei)


def test_contextual_claims_are_answers_where_the_group_differs_in_its_context():
    told = {**GOOD, "own_precision": 0.5, "true_claims": 1.0}
    shadows = run({"detector": "DivExplorer", "null": "contextual", **told})
    assert "100% are right answers to its own question, and 50% name" in say.own(shadows)
    assert "(precision for their own questions: 1.00)" in say.families(shadows)
    causes = run({"detector": "DisparityPursuit", "null": "conditional", **told})
    assert "50% are right answers to its own question" in say.own(causes)


def test_cells_that_all_failed_say_nothing():
    failed = run({"detector": "SG", "error": "ValueError: no"})
    sentences = (say.headline, say.own, say.cheapest, say.families, say.sources, say.discussion)
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
