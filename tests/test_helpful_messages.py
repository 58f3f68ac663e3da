"""What goes wrong at first is said in the words of the caller, with what to do."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

import skdisc
from skdisc import Audit, cli
from skdisc._utils._model_files import read_model
from skdisc.datasets import make_loan
from skdisc.group import GroupDisparity
from skdisc.measures import get_scorer
from skdisc.subgroup import DisparityPursuit

X = pd.DataFrame({"sex": ["f", "m"] * 30, "hired": [0, 1, 1] * 20})
y = X["hired"]


@pytest.mark.parametrize("kind", [Audit, GroupDisparity])
def test_calls_of_a_newcomer(kind):
    detector = kind(protected="sex")
    with pytest.raises(ValueError, match=r"y='hired' is the name of a column.*y=X\['hired'\]"):
        detector.fit(X, "hired")
    for decisions in (np.array(y), y, list(y)):
        with pytest.raises(TypeError, match=r"passed as BlackBox\(decisions=\.\.\.\)"):
            detector.fit(X, y, decisions)
    with pytest.raises(ValueError, match=r"got dict. Make one: pandas.DataFrame\(X\)\.$"):
        detector.fit({"sex": list(X["sex"])}, y)
    with pytest.raises(ValueError, match=r"1 row|Found 1 sample"):
        detector.fit(X[:1], y[:1])


def test_labels_of_dask():
    dask = pytest.importorskip("dask.dataframe")
    table = dask.from_pandas(X, npartitions=2)
    with pytest.raises(TypeError, match="y of a table that is read part by part is the name"):
        GroupDisparity(protected="sex").fit(table, table["hired"])


def test_names_of_scorers():
    with pytest.raises(
        ValueError, match="'impact_ratio' is not a scorer; did you mean 'min_impact"
    ):
        get_scorer("impact_ratio")
    with pytest.raises(ValueError, match="did you mean 'neg_abs_mean_difference'"):
        get_scorer("neg_abs_mean_diference")


def test_a_module_is_there_after_the_import():
    assert skdisc.model_selection.PlantedTruth
    assert "model_selection" in dir(skdisc)


def test_a_pickle_of_other_versions(tmp_path, monkeypatch):
    path = tmp_path / "model.pkl"
    with monkeypatch.context() as patch:
        patch.setattr(sklearn.base, "__version__", "0.0.1")
        joblib.dump(LogisticRegression().fit([[0], [1]], [0, 1]), path)
    with pytest.raises(
        ValueError, match=r"'model.pkl' was saved by scikit-learn 0.0.1, and this is"
    ):
        read_model(path, trust_pickle=True)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"'model.pkl' could not be loaded .*here is scikit-learn"):
        read_model(path, trust_pickle=True)


def audit(path, *more):
    return cli.main(["audit", str(path), "--protected", "sex", "--detectors=GroupDisparity", *more])


def test_true_in_a_file(tmp_path, capsys):
    path = tmp_path / "a.csv"
    X.assign(hired=np.where(y == 1, "TRUE", "FALSE")).to_csv(path, index=False)
    assert audit(path, "--target=hired", "--favorable=TRUE") in (0, 1, 3)
    assert audit(path, "--target=hired", "--favorable=true") in (0, 1, 3)


def test_a_target_that_is_a_number_and_values_of_few_people_are_not_listed(tmp_path, capsys):
    path = tmp_path / "a.csv"
    rng = np.random.default_rng(0)
    X.assign(wage=rng.normal(2000, 500, 60).round(2)).to_csv(path, index=False)
    assert audit(path, "--target=wage", "--favorable=yes") == cli.USAGE
    error = capsys.readouterr().err
    assert "It holds 60 different numbers: compare it with a limit first" in error
    X.assign(hired=["yes"] * 40 + ["no"] * 17 + ["SECRET"] * 3).to_csv(path, index=False)
    assert audit(path, "--target=hired", "--favorable=ja") == cli.USAGE
    error = capsys.readouterr().err
    assert "Its values: yes, no, and 1 of fewer than 10 rows" in error
    assert "SECRET" not in error


def test_a_title_above_the_names_of_columns_is_told(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("Hired in 2025,\n" + X.to_csv(index=False))
    assert audit(path, "--target=hired", "--favorable=1") == cli.USAGE
    error = capsys.readouterr().err
    assert "'hired' is not a column of the file" in error
    assert "1 of 2 columns has no name: the first row may be a title" in error


def test_decisions_in_other_words_than_labels_are_told(tmp_path, capsys):
    path = tmp_path / "a.csv"
    X.assign(paid=y, decision=np.where(y == 1, "low", "high")).to_csv(path, index=False)
    options = "--target=paid", "--favorable=1", "--predictions=decision"
    assert audit(path, *options) == cli.USAGE
    error = capsys.readouterr().err
    assert "--predictions 'decision' has no favorable value (1)." in error
    assert "Write decisions and labels with the same values." in error


def test_dates_are_left_out_by_an_option_that_the_message_names(tmp_path, capsys):
    path = tmp_path / "a.csv"
    days = pd.date_range("2025-01-13", periods=len(X)).strftime("%d.%m.%Y")
    X.assign(day=days).to_csv(path, index=False)
    assert audit(path, "--target=hired", "--favorable=1") == cli.USAGE
    assert "or leave it out (--ignore)" in capsys.readouterr().err


def test_no_data_and_no_file(tmp_path, capsys):
    assert audit("", "--target=hired", "--favorable=1") == cli.USAGE
    assert "DATA is empty" in capsys.readouterr().err
    assert audit(tmp_path) == cli.USAGE
    assert "--favorable names the favorable value" in capsys.readouterr().err


@pytest.mark.slow
def test_many_columns_are_checked_quickly(tmp_path):
    import time

    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(8_000)]
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * 8_000) + "\n", encoding="utf-8")
    before = time.process_time()
    skdisc.read_table(path)
    assert time.process_time() - before < 10


@pytest.mark.slow
def test_a_level_near_one_ends_in_an_answer():
    people, labels = make_loan(200, random_state=0, return_X_y=True)
    rule = skdisc.Rule(significance=1 - 1e-12)
    pursuit = DisparityPursuit(protected="gender", rule=rule)
    assert pursuit.fit(people, labels).result_.verdict
