"""The loan scenario against its equations, its exact rates and the file the authors published."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skdisc.datasets import make_loan

FEATURES = ["gender", "annual_salary", "account_balance"]


@pytest.fixture(scope="module")
def loans():
    return make_loan(n_samples=200_000, random_state=0)


def refusal_rate(p_pay, p_saved):
    """Exact share refused: U1/10000 and the pay penalty are Poisson(10), the other one chi2(4)."""
    count = np.arange(60)
    mass = stats.poisson.pmf(count, 10)
    saved = np.linspace(0.0, 60.0, 601)
    density = stats.chi2.pdf(saved, 4)
    density = density / density.sum()
    lost = p_pay * 2.5 * count[:, None] + p_saved * 5 * saved  # what it costs in X1 + 5 X2
    z = (225_000 - 25_000 * count[:, None, None] + lost) / 12_500
    return np.einsum("k,p,c,kpc->", mass, mass, density, stats.norm.cdf(z))


@pytest.mark.parametrize(
    ("gender", "counterfactual", "penalties", "published"),
    [
        ("female", False, (1500, 300), 0.606),
        ("female", True, (0, 0), 0.387),
        ("male", False, (0, 0), 0.392),
    ],
)
def test_refusal_rates(loans, gender, counterfactual, penalties, published):
    law = refusal_rate(*penalties)
    group = (loans.data["gender"] == gender).to_numpy()
    refused = 1 - (loans.counterfactual.target if counterfactual else loans.target)[group]
    spread = np.sqrt(law * (1 - law))
    assert abs(refused.mean() - law) < 4 * spread / np.sqrt(group.sum())
    # The published rates come from 1712 women and 3281 men.
    assert abs(published - law) < 3 * spread / np.sqrt(1712 if gender == "female" else 3281)


def test_equations_hold_row_by_row(loans):
    female = (loans.data["gender"] == "female").to_numpy()
    salary, balance = loans.data["annual_salary"], loans.data["account_balance"]
    u1, u2 = loans.noise["u1"], loans.noise["u2"]
    pay, saved = (u1 - salary) / 1500, (0.3 * salary + u2 - balance) / 300
    np.testing.assert_array_equal(loans.target, salary + 5 * balance > 225_000)
    np.testing.assert_array_equal(pay[~female], 0)
    np.testing.assert_allclose(saved[~female], 0, atol=1e-9)
    np.testing.assert_array_equal(pay, pay.round())
    poisson, chi2 = pay[female], saved[female]
    assert chi2.min() > 0
    n = female.sum()
    assert poisson.mean() == pytest.approx(10, abs=4 * np.sqrt(10 / n))
    assert poisson.var() == pytest.approx(10, rel=0.03)
    assert stats.kstest(chi2, stats.chi2(4).cdf).pvalue > 0.001
    assert stats.kstest(u2 / 2500, stats.norm.cdf).pvalue > 0.001
    np.testing.assert_array_equal(u1 % 10_000, 0)
    assert u1.mean() / 10_000 == pytest.approx(10, abs=4 * np.sqrt(10 / len(u1)))
    assert u1.var() / 10_000**2 == pytest.approx(10, rel=0.03)


def test_counterfactual_is_the_same_people_as_men(loans):
    female = (loans.data["gender"] == "female").to_numpy()
    data, target = loans.counterfactual.data, loans.counterfactual.target
    assert set(data["gender"]) == {"male"}
    pd.testing.assert_frame_equal(data[~female], loans.data[~female])
    pd.testing.assert_series_equal(target[~female], loans.target[~female])
    u1, u2 = loans.noise["u1"], loans.noise["u2"]
    np.testing.assert_array_equal(data["annual_salary"], u1)
    np.testing.assert_array_equal(data["account_balance"], 0.3 * u1 + u2)
    np.testing.assert_array_equal(target, u1 + 5 * (0.3 * u1 + u2) > 225_000)
    assert np.all(target >= loans.target)
    assert np.any(target > loans.target)


def test_every_row_is_kept(loans):
    negative = (loans.data[FEATURES[1:]] < 0).any(axis=1)
    assert 0 < negative.sum() < 0.005 * len(loans.data)
    assert set(loans.data["gender"][negative]) == {"female", "male"}


def test_shape_of_the_answer():
    loans = make_loan(n_samples=50, random_state=1)
    assert list(loans.data) == loans.feature_names == FEATURES
    assert loans.protected == ["gender"]
    assert loans.target.name == "approved"
    assert set(loans.target) == {0, 1}
    pd.testing.assert_frame_equal(loans.frame, loans.data.assign(approved=loans.target))
    assert "225000" in loans.DESCR
    X, y = make_loan(n_samples=50, random_state=1, return_X_y=True)
    pd.testing.assert_frame_equal(X, loans.data)
    pd.testing.assert_series_equal(y, loans.target)


def test_arrays_hold_the_same_values():
    loans, arrays = (
        make_loan(n_samples=50, as_frame=flag, random_state=1) for flag in (True, False)
    )

    def coded(data):
        return data.assign(gender=data["gender"] == "female").to_numpy(dtype=float)

    assert arrays.frame is None
    assert arrays.data.dtype == float
    np.testing.assert_array_equal(arrays.data, coded(loans.data))
    np.testing.assert_array_equal(arrays.target, loans.target)
    np.testing.assert_array_equal(arrays.counterfactual.data, coded(loans.counterfactual.data))
    np.testing.assert_array_equal(arrays.counterfactual.target, loans.counterfactual.target)
    np.testing.assert_array_equal(arrays.noise, loans.noise)
    X, y = make_loan(n_samples=50, as_frame=False, random_state=1, return_X_y=True)
    np.testing.assert_array_equal(X, arrays.data)
    np.testing.assert_array_equal(y, arrays.target)


def test_the_seed_decides():
    first, again, other = (make_loan(n_samples=50, random_state=seed).frame for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    state = np.random.RandomState(3)
    pd.testing.assert_frame_equal(make_loan(n_samples=50, random_state=state).frame, first)
    assert not make_loan(n_samples=50, random_state=state).frame.equals(first)


@pytest.mark.parametrize(("p_female", "share"), [(0, 0), (0.1, 0.1), (1, 1)])
def test_share_of_women(p_female, share):
    X, _ = make_loan(n_samples=10_000, p_female=p_female, random_state=0, return_X_y=True)
    spread = np.sqrt(share * (1 - share) / 10_000)
    assert abs((X["gender"] == "female").mean() - share) <= 4 * spread


@pytest.mark.parametrize(
    ("wrong", "allowed"),
    [
        ({"n_samples": 0}, r"'n_samples'.*int in the range \[1, inf\).*Got 0"),
        ({"n_samples": 2.5}, r"'n_samples'.*int in the range \[1, inf\).*Got 2.5"),
        ({"p_female": 1.5}, r"'p_female'.*float in the range \[0.*, 1.*\].*Got 1.5"),
        ({"p_female": -0.1}, r"'p_female'.*float in the range \[0.*, 1.*\].*Got -0.1"),
        ({"random_state": "seed"}, "'random_state'.*Got 'seed'"),
    ],
)
def test_wrong_settings_are_refused(wrong, allowed):
    with pytest.raises(ValueError, match=allowed):
        make_loan(**wrong)


def test_the_published_file_follows_the_same_law(loans, data_dir):
    file = pd.read_csv(data_dir / "cst" / "LoanApplication_v2.csv.gz")
    for code, gender in enumerate(["male", "female"]):
        theirs, ours = file[file["Gender"] == code], loans.data[loans.data["gender"] == gender]
        for column, name in [
            ("AnnualSalary", "annual_salary"),
            ("AccountBalance", "account_balance"),
        ]:
            assert stats.ks_2samp(theirs[column], ours[name]).pvalue > 0.001
    men = file[file["Gender"] == 0]
    # What holds for our men holds for theirs, row by row.
    np.testing.assert_array_equal(men["AnnualSalary"], men["u1"])
    np.testing.assert_allclose(men["AccountBalance"], 0.3 * men["u1"] + men["u2"], rtol=1e-12)
    approved = file["AnnualSalary"] + 5 * file["AccountBalance"] > 225_000
    np.testing.assert_array_equal(file["LoanApproval"] > 0, approved)
    assert len(file) == 5000 - 7
    assert file["Gender"].mean() == pytest.approx(0.343, abs=5e-4)
