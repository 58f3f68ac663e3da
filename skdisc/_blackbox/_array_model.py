"""Fitted scikit-learn models that take arrays in place of DataFrames, which is faster.

Scikit-learn checks a DataFrame column by column before it converts it to an array, which takes
longer than to predict some thousand rows; and a model fitted on a DataFrame warns about an array.
"""

from copy import copy

from sklearn import get_config

# classes that convert a DataFrame to an array and use nothing else of it
ARRAY_CLASSES = {
    "BernoulliNB",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
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
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Ridge",
    "RidgeClassifier",
    "RobustScaler",
    "SGDClassifier",
    "SVC",
    "StandardScaler",
}
_METHODS = ("predict", "predict_proba", "decision_function", "transform")


def array_model(model):
    """Return a copy of a fitted model that predicts the same from arrays, or None.

    The copy shares all fitted attributes but the names of columns. None unless the class of the
    model, and of each step of a pipeline, is one of `ARRAY_CLASSES`.
    """
    as_frames = get_config()["transform_output"] != "default"
    is_set = {"_sklearn_output_config", *_METHODS} & getattr(model, "__dict__", {}).keys()
    if as_frames or is_set or not type(model).__module__.startswith("sklearn."):
        return None
    name = type(model).__name__
    if name == "FrozenEstimator":
        return array_model(model.estimator)
    if name == "Pipeline":
        steps = [(step_name, array_model(step)) for step_name, step in model.steps]
        return None if None in dict(steps).values() else _copied(model, steps=steps)
    own_kernel = callable(getattr(model, "kernel", None))  # it gets the rows as they are
    by_dtype = getattr(model, "is_categorical_", None) is not None
    if name not in ARRAY_CLASSES or own_kernel or by_dtype:
        return None
    if not name.startswith(("ExtraTrees", "RandomForest")):
        return _copied(model)
    from skdisc._blackbox._fast_forests import fast_forest  # here: it imports the ensembles

    return fast_forest(_copied(model))


def _copied(model, **changed):
    """Return a shallow copy without the names of columns."""
    twin = copy(model)
    vars(twin).update(changed)
    vars(twin).pop("feature_names_in_", None)
    return twin
