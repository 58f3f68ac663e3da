"""FairNaiveBayes: a naive Bayes classifier without patterns of discrimination."""

import warnings
from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, minimize
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from skdisc._space._bins import Bins
from skdisc._space._codes import PAD
from skdisc._space._feature_space import FeatureSpace
from skdisc._utils import _validation as check
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, HasSettings, setting
from skdisc._utils._types import ArrayLike, Columns, FrameLike
from skdisc.subgroup._patterns._branch_and_bound import Branching
from skdisc.subgroup._patterns._meet_in_the_middle import Meeting
from skdisc.subgroup._patterns._naive_bayes import NaiveBayes
from skdisc.subgroup._patterns._naive_bayes_items import model_items

_MARGIN = 1e-6  # solvers satisfy constraints up to a tolerance


class FairNaiveBayes(HasSettings, ClassifierMixin, BaseEstimator):
    r"""Learn the naive Bayes classifier of largest likelihood that has no discrimination pattern.

    For each assignment x of some protected columns and each context y of values of any other
    columns, :math:`|P(d \mid x, y) - P(d \mid y)| \le \delta`. The k worst patterns of the model
    are found by an exact search and added as constraints, and the likelihood is maximized under
    all constraints, until no pattern above delta is left (cutting planes).

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two classes; the second one is d.
    n_iter_ : int
        Number of rounds; 0 if the unconstrained model has no pattern.
    n_constraints_ : int
        Number of patterns that were added as constraints.
    max_discrimination_ : float
        Largest degree of discrimination of the model.
    log_likelihood_ : float
        Log-likelihood of the training rows and their classes, in nats.
    space_ : FeatureSpace
        The columns and their possible values.
    protected_ : list
        Names of the protected columns.

    Notes
    -----
    The paper formulates the constraints as signomial programs for a commercial solver; here they
    are smooth functions of the logits of the parameters, and SciPy's SLSQP solves each round,
    starting from the previous solution. A missing value is a value of its own; a value that does
    not occur at fit is ignored.

    References
    ----------
    Y. Choi, G. Farnadi, B. Babaki, G. Van den Broeck: Learning fair naive Bayes classifiers by
    discovering and eliminating discrimination patterns. AAAI 2020.
    https://doi.org/10.1609/aaai.v34i06.6565

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> model = FairNaiveBayes(protected="gender", delta=0.05).fit(X, y)
    >>> print(model.max_discrimination_ <= 0.05, round(model.score(X, y), 2))
    True 0.98
    """

    protected: Columns | None = setting(
        None,
        ["array-like", str, Integral, None],
        "The protected columns, which x may set.",
        kind="column name or position, or sequence of them",
        kw_only=False,
    )
    delta: float = setting(
        0.1,
        [Interval(Real, 0, 1, closed="neither")],
        "Largest degree of discrimination allowed, a difference of probabilities.",
    )
    max_predicates: int | None = setting(
        None,
        [AT_LEAST_ONE, None],
        """Largest number of conditions in x and y together; patterns with more are allowed. None:
        no limit.""",
    )
    smoothing: float = setting(
        1.0,
        [Interval(Real, 0, None, closed="left")],
        "Pseudo-count per value and class; 0: maximum likelihood.",
    )
    n_bins: int | dict | Bins = setting(
        4,
        [Interval(Integral, 2, None, closed="left"), dict, Bins],
        "Number of quantile bins of a numeric column.",
    )
    k: int = setting(
        10,
        [AT_LEAST_ONE],
        "Number of patterns added in each round.",
    )
    max_iter: int = setting(
        100,
        [COUNT],
        "Largest number of rounds; if patterns are left after them, `fit` warns.",
    )

    def fit(self, X: FrameLike, y: ArrayLike) -> Self:
        """Learn the model.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a setting, a column or a label is not allowed; the message names it.

        Warns
        -----
        ConvergenceWarning
            If patterns above delta are left after `max_iter` rounds.
        """
        self._validate_params()
        if y is None:
            raise ValueError("FairNaiveBayes requires y to be passed, but the target y is None.")
        frame, is_frame = check.check_frame(self, X, reset=True)
        self.classes_, favored = _two_classes(check.check_labels(y, len(frame)))
        self.protected_ = check.check_protected(self.protected, list(frame.columns))
        if not self.protected_:
            raise ValueError("FairNaiveBayes needs protected=[...]: the columns that x may set.")
        self.space_ = FeatureSpace.from_frame(frame, protected=self.protected_, is_frame=is_frame)
        names = list(frame.columns)
        items = model_items(
            frame, self.space_, names, self.protected_, Bins.of(self.n_bins).flat, None
        )
        self._items = items.bare()
        counts = items.counts(favored.astype(np.int64), 2)
        n = np.bincount(favored, minlength=2)
        self._nb = self._learn(counts, n)
        self.log_likelihood_ = float((counts.T * self._nb.log_p).sum() + n @ self._nb.log_prior)
        return self

    def _learn(self, counts, n):
        """Add the worst patterns as constraints and solve again, until no pattern is left."""
        items = self._items
        self.n_iter_, self.n_constraints_, self.max_discrimination_ = 0, 0, 0.0
        if not len(items.predicates):
            return NaiveBayes(np.zeros((2, 0)), np.log(n / n.sum()), items.feature, items.protected)
        nb = NaiveBayes.learn(counts, n, items.feature, items.protected, self.smoothing)
        problem = _Problem(nb, counts.T + self.smoothing, n, self.delta - _MARGIN)
        while items.protected.any():
            x, y = self._worst(nb)
            if not len(x) or self.n_iter_ >= self.max_iter:
                break
            nb = problem.solve(nb, x, y)
            self.n_iter_ += 1
        self.n_constraints_ = len(problem.x)
        if items.protected.any():
            x, y = self._worst(nb, above=0.0)
            self.max_discrimination_ = float(np.abs(nb.delta(x, y)).max(initial=0.0))
        if self.max_discrimination_ > self.delta:
            warnings.warn(
                f"After {self.n_iter_} rounds there are still patterns of up to "
                f"{self.max_discrimination_:.4g} above delta={self.delta:g}. Raise max_iter or k.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return nb

    def _worst(self, nb, above=None):
        """Return the k worst patterns above a degree of discrimination, by default delta."""
        above, xs = self.delta if above is None else above, nb.assignments()
        allowed = np.any(xs != PAD, axis=1)
        if self.max_predicates is None:
            return Meeting(nb, xs).top(self.k, above, allowed)
        tree = Branching(nb, above, allowed, max_predicates=self.max_predicates)
        return tree.top(self.k)

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of float, shape (n_samples, 2)

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError
            If X does not have the columns of fit.
        """
        check_is_fitted(self)
        frame, _ = check.check_frame(self, X, reset=False)
        codes = self._items.on(frame).codes.T
        favorable = expit(self._nb.log_odds + self._nb.added(codes))
        return np.column_stack([1 - favorable, favorable])

    def predict(self, X: FrameLike) -> np.ndarray:
        """Return the more probable class of each row.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError
            If X does not have the columns of fit.
        """
        favored = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[favored.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags


class _Problem:
    """The maximization of the likelihood under the constraints found so far.

    The variables are a logit per item and class, and the log-odds of the classes.
    """

    def __init__(self, nb, counts, n, delta):
        self.nb, self.counts, self.n, self.delta = nb, counts, n, delta
        self.starts = np.array([i[0] for i in nb.items])
        self.x = np.empty((0, len(nb.sensitive_features)), dtype=np.int64)
        self.y = np.empty((0, len(nb.items)), dtype=np.int64)

    def solve(self, nb, x, y):
        """Add constraints, and return the model that satisfies all of them."""
        self.x, self.y = np.vstack([self.x, x]), np.vstack([self.y, y])
        start = np.concatenate([nb.log_p.ravel(), [nb.log_odds]])
        constraint = NonlinearConstraint(
            self._discrimination, -self.delta, self.delta, jac=self._slopes
        )
        # Without smoothing, a value that a class never has would drive its logit to minus infinity:
        # the bounds stop this.
        solved = minimize(
            self._loss,
            start,
            jac=True,
            method="SLSQP",
            bounds=Bounds(-30, 30),
            constraints=[constraint],
            options={"maxiter": 500, "ftol": 1e-10},
        )
        return self._model(solved.x)

    def _model(self, v):
        logits = v[:-1].reshape(2, -1)
        blocks = [log_softmax(part, axis=1) for part in np.split(logits, self.starts[1:], axis=1)]
        log_prior = -np.logaddexp(0, np.array([v[-1], -v[-1]]))
        sensitive = self.nb.sensitive
        return NaiveBayes(np.hstack(blocks), log_prior, self.nb.feature, sensitive)

    def _within(self, values):
        """Return for each item the sum over its feature."""
        return np.add.reduceat(values, self.starts, axis=-1)[..., self.nb.feature]

    def _loss(self, v):
        nb, n = self._model(v), self.n.sum()
        loss = -(self.counts * nb.log_p).sum() - self.n @ nb.log_prior
        slope = np.exp(nb.log_p) * self._within(self.counts) - self.counts
        return loss / n, np.append(slope, n * expit(v[-1]) - self.n[1]) / n

    def _discrimination(self, v):
        return self._model(v).delta(self.x, self.y)

    def _slopes(self, v):
        """Return the derivatives of `_discrimination`, shape (n_constraints, n_variables)."""
        nb = self._model(v)
        base = nb.log_odds + nb.added(self.y)
        with_x = base + nb.added(self.x)
        slope_with_x = expit(with_x) * expit(-with_x)
        change = slope_with_x - expit(base) * expit(-base)
        weight_slopes = np.zeros((len(base), len(nb.feature) + 1))
        np.put_along_axis(weight_slopes, self.x, slope_with_x[:, None], axis=1)
        in_context = np.zeros_like(weight_slopes)
        np.put_along_axis(in_context, self.y, change[:, None], axis=1)
        weight_slopes = (weight_slopes + in_context)[:, :-1]
        # Log-probabilities are log-softmax of the logits of a feature, so that each logit moves
        # those of all its values: the chain rule takes the sum over the feature.
        sums = self._within(weight_slopes)
        p = np.exp(nb.log_p)
        halves = [p[0] * sums - weight_slopes, weight_slopes - p[1] * sums]
        return np.hstack([*halves, change[:, None]])


def _two_classes(y):
    """Return the two classes, and which rows have the second one."""
    check_classification_targets(y)
    classes = check.sorted_unique(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes[0]!r}; two are needed.")
    return np.array(classes), np.asarray(y == classes[1])
