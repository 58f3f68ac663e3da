"""CaseResampler: adds discovered cases to the training data, with equal labels."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._blackbox._default_models import default_model
from skdisc._results._audit_result import AuditResult
from skdisc._space._codes import NOBODY
from skdisc._utils._types import RandomState
from skdisc.exceptions import SkdiscWarning
from skdisc.individual import Themis
from skdisc.individual._base import IndividualDetector
from skdisc.preprocessing._row_sampler import RowSampler

VOTERS = ("tree", "forest", "logistic", "svm", "boosting")
_VOTING_ROWS = 5_000  # fitting a support vector machine to more rows takes minutes
_MAX_ROUNDS = 8


class CaseResampler(RowSampler):
    r"""Add discovered cases of individual discrimination to the training data.

    A detector searches a model that is trained on (X, y). Both rows of each chosen case, which
    differ in protected columns only, are added to the data with the same label, the majority vote
    of several classifiers on the two rows. A model trained on the resampled data learns to treat
    both rows equally.

    The class is a sampler of imbalanced-learn, and works in its `Pipeline`.

    Parameters
    ----------
    detector : individual detector
        It is cloned. Its `estimator` is the model to repair, and is trained on X and y.
    share : float, default=0.05
        Number of added rows as a share of the rows of X; fewer rows are added if there are fewer
        cases. Ignored if ``rounds="auto"``.
    voters : list of estimators or None, default=None
        Classifiers that vote on the labels, each trained on X and y. None stands for a tree, a
        forest, logistic regression, a support vector machine and boosting, on at most 5,000 rows.
    rounds : 1 or "auto", default=1
        With "auto", round i = 2, 3, ... adds a share drawn uniformly between :math:`2^{i-2}` and
        :math:`2^{i-1}` percent, retrains the model, and estimates the share of random inputs with
        a case. The rounds end when this share stops falling; the best round is returned.
    random_state : int, RandomState instance or None, default=None
        Seeds the choice of the cases.

    Attributes
    ----------
    detector_ : fitted detector
    n_cases_ : int
        Number of discovered cases.
    n_added_ : int
        Number of added rows.
    sample_indices_ : ndarray of int, shape (n_samples + n_added,)
        The position in X of each returned row; -1 for added rows.
    prevalence_ : list of float
        Share of random inputs with a case, before the first and after each round ("auto" only).

    Notes
    -----
    ADF adds 5 percent of the cases found; here `share` refers to the training rows, as in AEQUITAS,
    so that it does not depend on the length of the search. With two protected values, a vote of the
    model itself would always be a tie; this is why other classifiers vote.

    References
    ----------
    S. Udeshi, P. Arora, S. Chattopadhyay: Automated directed fairness testing. ASE 2018.
    https://doi.org/10.1145/3238147.3238165

    P. Zhang et al.: White-box fairness testing through adversarial sampling. ICSE 2020.
    https://doi.org/10.1145/3377811.3380331

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skdisc.individual import KOSEI
    >>> X = pd.DataFrame({"points": np.tile(np.arange(100), 2), "sex": np.repeat([0, 1], 100)})
    >>> y = (X["points"] + 20 * X["sex"] > 60).astype(int)
    >>> search = KOSEI(DecisionTreeClassifier(), protected="sex", random_state=0)
    >>> again = CaseResampler(search, share=0.1, voters=[LogisticRegression()], random_state=0)
    >>> X_more, y_more = again.fit_resample(X, y)
    >>> len(X_more) - len(X)
    20
    """

    _parameter_constraints = {
        "detector": [HasMethods(["fit", "audit"])],
        "share": [Interval(Real, 0, None, closed="neither")],
        "voters": [list, tuple, None],
        "rounds": [StrOptions({"auto"}), Options(Integral, {1})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        detector: IndividualDetector,
        *,
        share: float = 0.05,
        voters: Sequence[BaseEstimator] | None = None,
        rounds: int | str = 1,
        random_state: RandomState = None,
    ) -> None:
        self.detector = detector
        self.share = share
        self.voters = voters
        self.rounds = rounds
        self.random_state = random_state

    def _resampled(self, X, frame, y):
        if not isinstance(self.detector, IndividualDetector):
            raise TypeError(
                f"detector must be an individual detector, got {type(self.detector).__name__}. "
                "Only the cases of individual detectors can be added to the data."
            )
        if self.voters is not None and not len(self.voters):
            raise ValueError(
                "voters is empty, and the label of a case is a vote: pass classifiers, or None for "
                f"{len(VOTERS)} of them."
            )
        rng = check_random_state(self.random_state)
        self.detector_ = clone(self.detector).fit(frame if hasattr(X, "iloc") else X, y)
        cases = self.detector_.result_.findings
        self.n_cases_ = len(cases)
        self.prevalence_ = []
        labels = self._vote(frame, y, cases) if len(cases) else np.empty(0)
        chosen = self._rounds(X, y, cases, labels, rng) if self.rounds == "auto" else None
        if chosen is None:
            chosen = self._choose(rng, self.share, len(X))
        self.n_added_ = 2 * len(chosen)
        self.sample_indices_ = np.append(np.arange(len(X)), np.full(self.n_added_, NOBODY))
        if not self.n_cases_:
            warnings.warn(
                f"{type(self.detector).__name__} found no case, so no row is added.",
                SkdiscWarning,
                stacklevel=4,
            )
        return self._with_cases(X, y, cases, labels, chosen)

    def _choose(self, rng, share, n_rows):
        """Draw the cases to add: both rows of each together make up the share."""
        n = min(self.n_cases_, max(1, round(min(share * n_rows / 2, self.n_cases_))))
        return np.sort(rng.choice(self.n_cases_, n, replace=False)) if n else np.empty(0, np.intp)

    def _rounds(self, X, y, cases, labels, rng):
        """Return the cases of the round after which the fewest random inputs have a case."""
        if not len(cases):
            return None
        best = np.empty(0, dtype=np.intp)
        self.prevalence_ = [self._prevalence(X, y, rng)]
        for i in range(2, 2 + _MAX_ROUNDS):
            share = rng.uniform(2 ** (i - 2), 2 ** (i - 1)) / 100
            chosen = self._choose(rng, share, len(X))
            augmented = self._with_cases(X, y, cases, labels, chosen)
            self.prevalence_.append(self._prevalence(*augmented, rng))
            if not self.prevalence_[-1] < self.prevalence_[-2]:
                break
            best = chosen
            if len(chosen) == self.n_cases_:
                break
        return best

    def _prevalence(self, X, y, rng):
        """Return the share of random inputs with a case, under a model trained on X and y."""
        d = self.detector_
        if d.estimator is None:
            raise ValueError(
                "rounds='auto' retrains the model: set the parameter `estimator` of the detector "
                "to the model to repair."
            )
        settings = {"protected": d.protected, "pos_label": d.pos_label, "space": d.space_}
        sample = Themis(d.estimator, random_state=rng.randint(2**31), **settings).fit(X, y)
        return float(sample.result_.estimates["estimate"].iloc[-1])

    def _vote(self, frame, y, cases):
        """Return one label per case: the majority of the votes on its two rows together."""
        voters = self.voters
        rows = slice(None)
        if voters is None:
            voters = [default_model(name, 0) for name in VOTERS]
            rows = check_random_state(0).permutation(len(y))[:_VOTING_ROWS]
        frame, y = frame.iloc[rows], y[rows]
        frames = [f.set_axis(frame.columns, axis=1) for f in (cases.original, cases.altered)]
        case_rows = pd.concat(frames, ignore_index=True).astype(frame.dtypes)
        classes, ballots = np.unique(y), []
        for voter in voters:
            voter = clone(voter).fit(frame, y)
            ballots.append(np.searchsorted(classes, voter.predict(case_rows)))
        ballots = np.stack(ballots).reshape(len(voters) * 2, -1)
        counts = (ballots[:, :, None] == np.arange(len(classes))).sum(axis=0)
        favorable = np.isin(classes, self.detector_.pos_label_)
        return classes[np.argmax(counts + 0.5 * favorable, axis=1)]  # ties go to the person

    def _with_cases(self, X, y, cases, labels, chosen):
        """Return X and y with both rows of the chosen cases at the end, an array or a frame."""
        rows = [f.iloc[chosen] for f in (cases.original, cases.altered)]
        added = pd.concat(rows, ignore_index=True)
        y_added = np.tile(labels[chosen], 2)
        if not len(chosen):
            return X, y
        if isinstance(X, pd.DataFrame):
            X = pd.concat([X, added.set_axis(X.columns, axis=1).astype(X.dtypes)])
            X = X.reset_index(drop=True)
        else:
            X = np.concatenate([X, added.to_numpy().astype(X.dtype)])
        return X, np.concatenate([y, y_added])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self.detector).input_tags.allow_nan
        return tags

    def audit(self) -> AuditResult:
        """Return the result of the search.

        Returns
        -------
        AuditResult

        Raises
        ------
        NotFittedError
            If neither `fit` nor `fit_resample` has been called.
        """
        check_is_fitted(self, "detector_")
        return self.detector_.result_
