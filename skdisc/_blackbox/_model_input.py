"""Rows as a model gets them: its own columns, in the container that it was fitted on."""

from functools import partial

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config

# classes of scikit-learn that come back to each row for each of their trees
_FORESTS = {
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
}
# classes of scikit-learn that make an array of a DataFrame, whatever its names
_READERS = {
    *_FORESTS,
    "BernoulliNB",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "GaussianNB",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "KNeighborsClassifier",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MLPClassifier",
    "MLPRegressor",
    "MaxAbsScaler",
    "MinMaxScaler",
    "NuSVC",
    "PCA",
    "Ridge",
    "RidgeClassifier",
    "RobustScaler",
    "SGDClassifier",
    "SVC",
    "StandardScaler",
}
_METHODS = ("predict", "predict_proba", "decision_function", "transform")
_FEW = 500  # rows that trees decide about one after the other before threads have begun


def rows_for(model, X, is_frame):
    """Pick the columns that the model was fitted on by name, in the container it was fitted on.

    Parameters
    ----------
    model : object
    X : DataFrame
    is_frame : bool
        Whether the data came as a DataFrame, whose names are to be trusted.

    Raises
    ------
    ValueError
        If X lacks columns that the model needs.
    """
    names = getattr(model, "feature_names_in_", None)
    width = getattr(model, "n_features_in_", X.shape[1])
    if names is not None and set(names) <= set(X.columns):
        return X if list(names) == list(X.columns) else X[list(names)]
    if width != X.shape[1] or (names is not None and is_frame):
        wanted = f"{width} features" if names is None else f"the columns {list(names)!r}"
        raise ValueError(
            f"The model was fitted on {wanted}, but X has {X.shape[1]} columns "
            f"({list(X.columns)!r}). Fit the model on a DataFrame, so that its own columns can "
            "be picked out by name, and give X all of them."
        )
    if names is not None:
        return X.set_axis(list(names), axis=1)
    fitted_on_array = hasattr(model, "n_features_in_")
    return X.to_numpy() if fitted_on_array or not is_frame else X


def as_numbers(frame, model):
    """Return a DataFrame as an array if all columns are NumPy's own numbers, else None.

    For a forest each row lies in one place, which makes its answers a tenth faster.
    """
    dtypes = set(frame.dtypes)
    if not all(isinstance(d, np.dtype) and d.kind in "iuf" for d in dtypes):
        return None
    numbers = frame.to_numpy()
    return np.ascontiguousarray(numbers) if type(model).__name__ in _FORESTS else numbers


def nameless(model):
    """Return a twin of a fitted model that takes arrays for DataFrames, or None.

    The twin shares what the model has learned, but for the names of columns, which would make it
    warn of an array. Scikit-learn looks at a DataFrame column by column before it makes an array
    of it, which takes longer than to decide about some thousand rows. None if the model is not one
    of those that do nothing else with a DataFrame, alone or in a pipeline.
    """
    as_frames = get_config()["transform_output"] != "default"
    is_set = {"_sklearn_output_config", *_METHODS} & getattr(model, "__dict__", {}).keys()
    if as_frames or is_set or not type(model).__module__.startswith("sklearn."):
        return None
    name = type(model).__name__
    if name == "FrozenEstimator":
        return nameless(model.estimator)
    if name == "Pipeline":
        steps = [(called, nameless(step)) for called, step in model.steps]
        return None if None in dict(steps).values() else _twin(model, steps=steps)
    by_name = callable(getattr(model, "kernel", None))  # it gets what the model gets
    by_kind = getattr(model, "is_categorical_", None) is not None
    return None if name not in _READERS or by_name or by_kind else _twin(model)


def _twin(model, **changed):
    twin = object.__new__(type(model))
    vars(twin).update(vars(model), **changed)
    vars(twin).pop("feature_names_in_", None)
    if type(model).__name__ in _FORESTS and getattr(model, "n_outputs_", None) == 1:
        method = "predict_proba" if hasattr(model, "classes_") else "predict"
        setattr(twin, method, partial(_mean_of_trees, twin, method))
    return twin


def _mean_of_trees(forest, method, X):
    """Return what the method of the forest's class returns, but ask tree by tree.

    Joblib, through which scikit-learn asks them, takes a tenth of a millisecond for each: as long
    as the tree for dozens of rows. Without threads the answers are the same bit for bit; those of
    threads are added up in the order in which they end.
    """
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(X, dtype=np.float32)
    in_turn = len(rows) <= _FEW or effective_n_jobs(forest.n_jobs) == 1
    if not in_turn or not np.isfinite(rows).all():  # it says what it takes
        return getattr(type(forest), method)(forest, X)
    total = 0.0
    for tree in forest.estimators_:
        total += getattr(tree, method)(rows, check_input=False)
    return total / len(forest.estimators_)
