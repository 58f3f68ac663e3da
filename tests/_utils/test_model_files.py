"""Models are read as users have them, and nothing that runs programs is loaded."""

import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skdisc._utils import _model_files


class Stranger(ClassifierMixin, BaseEstimator):
    """A type that skops does not know."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


def test_skops_models_and_their_untrusted_types(tmp_path):
    skops.io.dump(LogisticRegression().fit([[0], [9]], [0, 1]), tmp_path / "known.skops")
    assert _model_files.read_model(tmp_path / "known.skops").predict([[9]]) == [1]
    skops.io.dump(Stranger().fit(None, [0, 1]), tmp_path / "stranger.skops")
    with pytest.raises(ValueError, match=r"not trusted.*Stranger.*--trust") as error:
        _model_files.read_model(tmp_path / "stranger.skops")
    trusted = str(error.value).rpartition("--trust ")[2].split(",")
    assert isinstance(
        _model_files.read_model(tmp_path / "stranger.skops", trusted=trusted), Stranger
    )


class Bomb:
    """Unpickling it makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_pickle_runs_only_when_trusted(tmp_path):
    path, proof = tmp_path / "model.pkl", tmp_path / "ran"
    path.write_bytes(pickle.dumps(Bomb(str(proof))))
    with pytest.raises(ValueError, match="--trust-pickle"):
        _model_files.read_model(path)
    assert not proof.exists()
    _model_files.read_model(path, trust_pickle=True)
    assert proof.exists()
    (tmp_path / "model.txt").touch()
    with pytest.raises(ValueError, match=r"must be a \.skops file"):
        _model_files.read_model(tmp_path / "model.txt")


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        HistGradientBoostingClassifier(max_iter=2),
        KNeighborsClassifier(1, algorithm="kd_tree"),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_of_scikit_learn_need_no_trust(tmp_path, model):
    path, X, y = tmp_path / "model.skops", [[0.0], [9.0]] * 20, [0, 1] * 20
    skops.io.dump(model.fit(X, y), path)
    assert (_model_files.read_model(path).predict(X) == model.predict(X)).all()


def _changed(path, change):
    """Rewrite the schema of a skops file."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, change(content) if name == "schema.json" else content)


def test_damaged_models_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(LogisticRegression().fit([[0], [9]], [0, 1]), path)
    whole = path.read_bytes()
    for damaged in (b"", b"nothing", whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"'model.skops' could not be read as a skops file"):
            _model_files.read_model(path)
    for change in (lambda _: b"{}", lambda _: b"{", lambda _: b"[" * 100_000):
        path.write_bytes(whole)
        _changed(path, change)
        with pytest.raises(ValueError, match=r"'model.skops' could not be read as a skops file"):
            _model_files.read_model(path)


def test_what_runs_programs_is_never_loaded_nor_offered(tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(Stranger().fit(None, [0, 1]), path)
    bomb = {"__class__": "system", "__module__": "os"}
    _changed(path, lambda schema: json.dumps(json.loads(schema) | bomb).encode())
    for trusted in ((), ("os.system",)):
        with pytest.raises(ValueError, match=r"can run any program: os.system") as error:
            _model_files.read_model(path, trusted=trusted)
        assert "--trust" not in str(error.value)
