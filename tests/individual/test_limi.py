"""LIMI: its boundary, and what is found beside it."""

from searches import Loan, applicants

from skdisc.individual import LIMI


def test_limi_finds_a_larger_share_than_its_generator():
    X = applicants()
    search = LIMI(protected="sex", n_samples=2000, n_baseline=200, max_tests=400, random_state=0)
    result = search.fit(X, model=Loan()).result_
    row = result.estimates.iloc[-1]
    assert row["name"] == "share of inputs drawn from the generator"
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
    first = search.set_params(n_samples=1, max_tests=None).fit(X, model=Loan()).result_
    probed = (result.n_found - first.n_found) / (result.n_tested - first.n_tested)
    assert probed > 1.5 * row["estimate"]


def test_limi_without_a_boundary_says_so():
    X = applicants()
    result = LIMI(protected="sex", n_samples=200, random_state=0).fit(
        X, model=lambda A: (A["a"] >= 0).astype(int)
    ).result_  # fmt: skip
    assert result.n_found == 0
    assert any("no boundary could be fitted" in note for note in result.notes)
