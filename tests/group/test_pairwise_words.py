"""What comparisons of groups with a reference say in words."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from skdisc.group import EffectDecomposition, ProxyDisparity
from skdisc.group._pairwise._comparison_report import _notes
from skdisc.report import to_text


def people(n=900):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m", "d"], n), "x": rng.normal(size=n)})
    return X, (rng.random(n) < 0.3 + 0.4 * (X["sex"] == "m")).astype(int)


def test_groups_compared_with_the_others_have_no_reference():
    X, y = people()
    text = to_text(ProxyDisparity(protected="sex").fit(X, y).result_)
    assert "differ from everyone else" in text
    assert "the reference" not in text


def test_beside_findings_the_reason_is_about_the_others():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": np.repeat(["a", "b", "c"], [300, 200, 1500])})
    y = (rng.random(2000) < np.repeat([0.9, 0.02, 0.5], [300, 200, 1500])).astype(int)
    result = ProxyDisparity(protected="town").fit(X, y).result_
    assert [str(f.subject) for f in result][:2] == ["town = 'b'", "town = 'a'"]
    assert (result.to_frame()["p_adjusted"].head(2) < 1e-16).all()
    assert (result.verdict, result.n_found) == ("disparity found", 2)
    assert result.reason.startswith("a gap is found in 2 of the 3 groups")


def test_a_table_of_effects_is_about_worlds_only_where_there_are_some():
    result = EffectDecomposition(protected="sex", nuisance="linear").fit(*people(300)).result_
    assert "effects" in result.tables
    assert "counterfactual world" not in to_text(result)


def test_a_note_that_is_not_about_all_comparisons_names_its_group():
    pairs = [SimpleNamespace(subgroup=f"sex = {v!r}") for v in "fd"]
    notes = [["No confounder.", "Learned by trees."], ["No confounder.", "Learned by lines."]]
    compared = [(p, None, SimpleNamespace(notes=n)) for p, n in zip(pairs, notes, strict=True)]
    assert list(dict.fromkeys(_notes(compared))) == [
        "No confounder.",
        "sex = 'f': Learned by trees.",
        "sex = 'd': Learned by lines.",
    ]
