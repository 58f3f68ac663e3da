"""Estimators that skdisc builds: the surrogate, and the default models, by name."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

DEFAULT_MODELS = ("tree", "forest", "logistic", "svm", "mlp", "boosting")


def surrogate():
    """Return the surrogate: an unfitted tree of depth 4 after an ordinal encoder."""
    return _after(_ordinal(), DecisionTreeClassifier(max_depth=4, random_state=0))


def small_boosting():
    """Return unfitted boosted trees for probabilities: few and small, after an ordinal encoder."""
    trees = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=8, random_state=0)
    return _after(_ordinal(), trees)


def small_regression():
    """Return unfitted boosted trees for numbers: few and small, after an ordinal encoder."""
    trees = HistGradientBoostingRegressor(max_iter=50, max_leaf_nodes=8, random_state=0)
    return _after(_ordinal(), trees)


def sparse_logistic():
    """Return the default model "logistic", unfitted, on sparse indicators: faster on many rows."""
    return _after(_one_hot(is_sparse=True), LogisticRegression(max_iter=1000))


def default_model(name, random_state=None):
    """Return an unfitted classifier for a raw table with text, numbers and missing values.

    It is fitted in seconds: the network stops after 30 epochs, whether converged or not.

    `name`: one of "tree", "forest", "logistic", "svm", "mlp", "boosting". Raises ValueError if
    there is no model of that name.
    """
    if name == "tree":
        tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=random_state)
        return _after(_ordinal(), tree)
    if name == "forest":
        forest = RandomForestClassifier(min_samples_leaf=5, random_state=random_state)
        return _after(_ordinal(), forest)
    if name == "boosting":
        boosting = HistGradientBoostingClassifier(random_state=random_state)
        return _after(_ordinal(), boosting)
    models = {
        "logistic": LogisticRegression(max_iter=1000),
        "svm": SVC(random_state=random_state),
        "mlp": MLPClassifier((32,), max_iter=30, random_state=random_state),
    }
    if name not in models:
        names = ", ".join(DEFAULT_MODELS)
        raise ValueError(f"The model to fit must be one of {names}; got {name!r}.")
    return _after(_one_hot(), models[name])


def numbered(column):
    """Return a column, its text as numbered categories, which encoders read many times faster.

    The models above learn the same from both.

    Returns a Series: a number for each value, in the order of the values, which encoders take for
    text; as it was if it has numbers, or values that cannot be sorted.
    """
    if _is_number(column.to_frame())[0]:
        return column
    codes, values = pd.factorize(column.to_numpy(object))
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:  # encoders say what is wrong
        return column
    numbers = np.append(np.argsort(order), -1)
    categories = pd.Categorical.from_codes(numbers[codes], np.arange(len(values)))
    return pd.Series(categories, column.index, name=column.name)


def _after(encoder, model):
    """Return the pipeline of an encoder and a model, for columns of any dtype."""
    return make_pipeline(FunctionTransformer(_unmasked), encoder, model)


def _ordinal():
    """Return an encoder that numbers the values of text columns."""
    text = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    )
    return make_column_transformer((text, _is_text), ("passthrough", _is_number_somewhere))


def _one_hot(is_sparse=False):
    """Return an encoder with an indicator per text value, which fills in and scales numbers."""
    text = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=is_sparse
    )
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    return make_column_transformer(
        (text, _is_text), (numbers, _is_number), sparse_threshold=float(is_sparse)
    )


def _unmasked(X):
    """Return the rows with NaN in place of ``pd.NA``, which scikit-learn does not accept."""
    if isinstance(X, np.ndarray):  # of a frame whose column names are not text
        X = pd.DataFrame(X)
        return X.where(X.notna(), np.nan) if X.to_numpy().dtype == object else X
    masked = [c for c, d in X.dtypes.items() if getattr(d, "na_value", None) is pd.NA]
    masked += [c for c, d in X.dtypes.items() if d == np.dtype(object) and X[c].hasnans]
    X = X.copy(deep=False) if masked else X
    for c in masked:
        kind = float if pd.api.types.is_numeric_dtype(X[c].dtype) else object
        X[c] = X[c].to_numpy(kind, na_value=np.nan)
    return X


def _is_number(X):
    """Return a boolean mask of the numeric columns; names could be numbers themselves."""
    return np.array([issubclass(d.type, np.number) for d in X.dtypes])


def _is_number_somewhere(X):
    """Return a boolean mask of the numeric columns with a value: boosting cannot bin others."""
    return _is_number(X) & X.notna().any().to_numpy()


def _is_text(X):
    """Return a boolean mask of the other columns."""
    return ~_is_number(X)
