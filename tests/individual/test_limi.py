"""LIMI: its boundary, and what is found beside it."""

import pandas as pd
import pytest
from searches import Loan, applicants

from skdisc.individual import LIMI, BoundarySearch


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


class Synthesizer:
    """Samples rows of a table, and wraps them as SDV does."""

    def __init__(self, rows, wrap=lambda rows: rows):
        self.rows, self.wrap, self.asked = rows, wrap, []

    def sample(self, n):
        self.asked.append(n)
        return self.wrap(self.rows.sample(n, replace=True, random_state=0))


@pytest.mark.parametrize("detector", [LIMI, BoundarySearch])
@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"people": rows}])
def test_inputs_are_like_those_of_a_synthesizer(detector, wrap):
    X = applicants()
    low = X["a"] <= X["a"].median()
    maker = Synthesizer(X[low], wrap)
    settings = {"protected": "sex", "max_tests": 200, "store_tested": True, "random_state": 0}
    search = detector(generator=maker, **settings).fit(X, model=Loan())
    assert maker.asked == [10_000]
    tested = search.result_.tables["tested"]
    assert len(tested) > 50
    assert tested["a"].max() <= X.loc[low, "a"].max()


def test_synthesizers_of_other_tables_are_refused():
    X = applicants()
    with pytest.raises(ValueError, match=r"without the columns \['a'\] of X"):
        LIMI(protected="sex", generator=Synthesizer(X.drop(columns="a"))).fit(X, model=Loan())
    X, strange = X.assign(town="here"), X.assign(town="elsewhere")
    with pytest.raises(ValueError, match="no row whose values are those of X"):
        LIMI(protected="sex", generator=Synthesizer(strange)).fit(X, model=Loan())


@pytest.mark.extras("sdv")
@pytest.mark.filterwarnings("ignore")  # those of SDV
def test_a_synthesizer_of_sdv():
    from skdisc.datasets import schema_from_frame
    from skdisc.datasets._synthetic._sdv import fit_sdv

    X = applicants()
    maker = fit_sdv(X, schema_from_frame(X))
    search = LIMI(protected="sex", generator=maker, n_samples=500, max_tests=300, random_state=0)
    result = search.fit(X, model=Loan()).result_
    assert result.n_tested == 300
    assert pd.notna(result.estimates["estimate"]).any()
