"""Reading models from files, of which only known types are loaded."""

import warnings
from pathlib import Path

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from skdisc._utils._optional import require

_DANGEROUS = {
    "os",
    "posix",
    "nt",
    "subprocess",
    "sys",
    "builtins",
    "shutil",
    "socket",
    "importlib",
    "pickle",
    "_pickle",
    "ctypes",
    "runpy",
    "code",
    "codeop",
    "pty",
    "webbrowser",
    "asyncio",
    "urllib",
    "http",
    "ftplib",
    "smtplib",
    "pip",
    "setuptools",
}
_OF_SCIKIT_LEARN = {
    f"sklearn.{name}"
    for name in (
        "_loss.link.IdentityLink",
        "_loss.link.Interval",
        "_loss.link.LogitLink",
        "_loss.link.MultinomialLogit",
        "_loss.loss.HalfBinomialLoss",
        "_loss.loss.HalfMultinomialLoss",
        "calibration._CalibratedClassifier",
        "calibration._SigmoidCalibration",
        "ensemble._hist_gradient_boosting.binning._BinMapper",
        "ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "metrics._dist_metrics.EuclideanDistance64",
        "neighbors._ball_tree.BallTree",
        "neighbors._kd_tree.KDTree",
        "neural_network._stochastic_optimizers.AdamOptimizer",
        "neural_network._stochastic_optimizers.SGDOptimizer",
        "tree._tree.Tree",
    )
}  # what its estimators hold, and skops does not know


def read_model(path, *, trust_pickle=False, trusted=()):
    """Read a fitted model from a skops file or, if allowed, from a pickle, which can run code.

    Parameters
    ----------
    path : str or Path
        ``.skops``, or ``.pkl``, ``.pickle`` or ``.joblib``.
    trust_pickle : bool, default=False
        Whether pickles are loaded; trust their author as you trust the author of a program.
    trusted : sequence of str
        Names of types inside a skops file that may be loaded besides scikit-learn's.

    Raises
    ------
    ValueError
        If the file cannot be loaded, or holds types that are not trusted, which are named.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"There is no file {str(path)!r}.")
    if path.suffix in (".pkl", ".pickle", ".joblib"):
        if not trust_pickle:
            raise ValueError(
                f"{path.name!r} is a pickle: loading it runs the code inside. If you trust its "
                "author, pass --trust-pickle; better, save the model with skops.io.dump."
            )
        return _unpickled(path)
    if path.suffix != ".skops":
        raise ValueError(
            "A model must be a .skops file (or, with --trust-pickle, .pkl or .joblib); got "
            f"{path.name!r}."
        )
    io = require("skops.io", extra="io", purpose="Reading a model file")
    try:
        inside = set(io.get_untrusted_types(file=path))
        _refuse_types(path, inside, trusted)
        return io.load(path, trusted=sorted(inside))
    except _ModelTypesError:
        raise
    except Exception as error:  # a foreign file: whatever is wrong with it
        raise ValueError(
            f"{path.name!r} could not be read as a skops file ({type(error).__name__}: {error}). "
            "Save the model again with skops.io.dump."
        ) from error


def _unpickled(path):
    """Return the object of a pickle; a ValueError says which versions do not go together."""
    joblib = require("joblib", extra="io", purpose="Reading pickles")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InconsistentVersionWarning)
            model = joblib.load(path)
    except Exception as error:  # whatever the code inside raises
        raise ValueError(
            f"{path.name!r} could not be loaded ({type(error).__name__}: {error}). A pickle is "
            f"read by the versions that wrote it; here is scikit-learn {sklearn.__version__}. Save "
            "the model with skops.io.dump there."
        ) from error
    version_warnings = [
        w.message for w in caught if issubclass(w.category, InconsistentVersionWarning)
    ]
    if version_warnings:
        version = version_warnings[0].original_sklearn_version
        raise ValueError(
            f"{path.name!r} was saved by scikit-learn {version}, and "
            f"this is {sklearn.__version__}. Install that version, or save it with skops.io.dump."
        )
    return model


class _ModelTypesError(ValueError):
    """A model file holds types that are not trusted."""


def _refuse_types(path, inside, trusted):
    """Raise an error if a model file holds types that are dangerous, or unknown to the user."""
    dangerous = sorted(name for name in inside if name.split(".")[0] in _DANGEROUS)
    if dangerous:
        raise _ModelTypesError(
            f"{path.name!r} holds what can run any program: {', '.join(dangerous)}. No model needs "
            "it, and it is never loaded."
        )
    unknown = sorted(inside - set(trusted) - _OF_SCIKIT_LEARN)
    if unknown:
        raise _ModelTypesError(
            f"{path.name!r} holds types that are not trusted by default: {', '.join(unknown)}. If "
            f"you know them, pass --trust {','.join(unknown)}"
        )
