"""What situation tests and FlipTest share: people of a group are compared with others."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval

from skdisc.base import BaseDetector
from skdisc.individual._comparisons import make_comparisons


class GroupsDetector(BaseDetector):
    """Base of the detectors that compare people of a group with people of a reference."""

    _takes_missing = False  # what is missing has no distance, but may be a group
    _parameter_constraints = {
        **BaseDetector._parameter_constraints,
        "group": "no_validation",
        "reference": "no_validation",
        "features": ["array-like", None],
        "max_distance": [Interval(Real, 0, None, closed="left"), None],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self._takes_missing
        return tags

    def _feature_names(self, X):
        """Return the columns that people are compared by."""
        names = [c for c in X.columns if c not in self.protected_]
        names = names if self.features is None else list(self.features)
        unknown = [c for c in names if c not in X.columns]
        if unknown or not names:
            raise ValueError(
                f"features={self.features!r} must name columns of X to compare people by; "
                f"unknown: {unknown!r}. Columns (n_features = {X.shape[1]}): {list(X.columns)!r}."
            )
        return names

    def _check_protected(self):
        if not self.protected_:
            raise ValueError(f"{type(self).__name__} needs protected=[...]: who is compared.")

    def _comparisons(self, task, outcome, protected):
        asked = {n: getattr(self, n) for n in ("group", "reference", "combine", "n_bins")}
        return make_comparisons(task.X, task.space, protected, outcome, **asked)
