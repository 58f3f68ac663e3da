"""AlternativeSearch: whether there is a model that is as good and less unequal."""

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from skdisc._blackbox._blackbox import _is_fitted
from skdisc._utils import _validation as check
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._inputs import as_frame, check_order, refuse_huge
from skdisc._utils._settings import (
    AT_LEAST_ONE,
    AT_LEAST_TWO,
    INNER_SHARE,
    NOT_NEGATIVE,
    HasSettings,
    setting,
)
from skdisc._utils._types import (
    ArrayLike,
    Columns,
    FilePath,
    FrameLike,
    Labels,
    RandomState,
)
from skdisc.exceptions import SurrogateWarning
from skdisc.model_selection._alternatives import _candidates as tried
from skdisc.model_selection._alternatives._claim import Claim, climb
from skdisc.model_selection._alternatives._costs import costs_of
from skdisc.model_selection._alternatives._findings import SearchFindings
from skdisc.model_selection._alternatives._question import METRICS, SCORES, Groups, Question
from skdisc.model_selection._alternatives._recipe import (
    mean_choice,
    parts_of,
    recipe_claim,
    recipe_trial,
)
from skdisc.model_selection._alternatives._report import AlternativeReport, document_of
from skdisc.model_selection._alternatives._run import SearchRun
from skdisc.model_selection._alternatives._split import (
    DividedPeople,
    check_log,
    fingerprint_of,
    n_searches,
    places,
)
from skdisc.preprocessing._rows import frame_of


def _delegated(method):
    """Return a check of whether the best estimator, or the present one, has a method."""

    def check_it(self):
        getattr(getattr(self, "best_estimator_", self.estimator), method)
        return True

    return available_if(check_it)


class AlternativeSearch(HasSettings, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Search for a model that is as good and less unequal, and test what is found.

    Candidates are fitted and chosen on one part of the people, the design part; whether the chosen
    one is really not worse than the present model by more than `margin`, and its gap between groups
    smaller by more than `min_gain`, is tested on the others, whom nothing has seen. However many
    candidates there are, the probability of a false claim is at most the significance.

    {parameters}

    Attributes
    ----------
    claim_ : bool
        Whether a less discriminatory alternative is shown.
    best_estimator_ : fitted estimator
        The alternative that is shown, of several the one with the smallest gap, as it was tested;
        the present model without a claim. With ``claim="recipe"`` only if `refit`.
    present_estimator_ : fitted estimator
        The present model as it was compared; not with ``claim="recipe"``.
    best_name_ : str
        Name of the candidate.
    foreseen_ : float
        Probability that the claim succeeds, as estimated before the people of the claim were
        looked at.
    costs_ : AlternativeCosts or None
        Who changes decision, whose error rates rise, and other gaps, for the alternative that is
        shown or else the one that was tested first: tables ``decisions``, ``errors``,
        ``calibration`` and ``gaps``, counts ``cases``, changes ``leveling_down``. None if no
        candidate could be fitted.
    report_ : AlternativeReport
    cv_results_ : dict of ndarray
        For the present model (first) and each candidate: name, params, score, gap, score_z and
        gain_z on the design part; step of the ladder (0: none); whether it was tested and shown;
        score, gap and bounds of the gain on the claim part; times; whether it reads the protected
        columns to predict; and the error of one that failed.
    exploratory_ : bool
        Whether there was an earlier search on the same people, of other candidates, with other
        settings or with other predictions about them. `claim_` is then False.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X is a table with names.

    Notes
    -----
    The score is tested by Tango's score test for paired proportions, DeLong's paired test, or a
    paired mean. The gap of the present model is held to the two groups that are furthest apart on
    the design part, and that of the alternative to each two groups: all of these have to be
    smaller. With ``claim="recipe"``, each of five parts has its pairs, and the alternative is held
    to every assignment of pairs to parts. The ladder of candidates, each less unequal than the one
    before, is tested in its order until one fails, each at the full level.

    Rows are divided by a hash of their values (of columns with more than 20 values, if there are
    any), not by a seed. Clusters (`groups`) stay together; the tests count people as independent.

    See Also
    --------
    skdisc.measures.ConstrainedScorer : For a grid search without a test.

    References
    ----------
    E. Auerbach, A. Liang, K. Okumura, M. Tabord-Meehan: Testing the fairness-improvability of
    algorithms. 2024. https://arxiv.org/abs/2405.04816

    Examples
    --------
    Ratings are lower for one sex, tests are not:

    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000)})
    >>> ability = rng.normal(size=4000)
    >>> X["test"] = ability + rng.normal(size=4000) / 2
    >>> X["rating"] = ability - (X["sex"] == "f") + rng.normal(size=4000) / 2
    >>> y = (ability + rng.normal(size=4000) / 2 > 0).astype(int)
    >>> def with_columns(*names):
    ...     select = make_column_transformer(("passthrough", list(names)))
    ...     return make_pipeline(select, LogisticRegression())
    >>> candidates = {"test": with_columns("test"), "both": with_columns("test", "rating")}
    >>> search = AlternativeSearch(with_columns("rating"), candidates, protected="sex", margin=0.02)
    >>> search.fit(X, y).claim_, search.best_name_
    (True, 'test')
    """

    __metadata_request__fit = {"groups": True, "sensitive_features": True}

    estimator: BaseEstimator = setting(
        None,
        [HasMethods(["fit"])],
        """The present model. A clone is fitted to the design part; a ``FrozenEstimator`` is used as
        it is, and must not have seen the people of the claim.""",
        kind="estimator",
        kw_only=False,
    )
    candidates: Mapping | Iterable = setting(
        None,
        "no_validation",
        """A grid of settings of the present model, or distributions of them; names and estimators;
        or a list of any of these. An estimator that has to be passed ``sensitive_features`` gets
        the protected columns.""",
        kind="dict or list",
        kw_only=False,
    )
    protected: Columns | None = setting(
        None,
        "no_validation",
        """Columns of X, by name or position; the gap has to be smaller in each. None:
        `sensitive_features` is passed to `fit`. Of numbers, there are `n_bins` groups.""",
        kind="str, int or list of them",
    )
    watched: Columns | None = setting(
        None,
        "no_validation",
        """Other protected columns of X, whose gaps are reported, alone and in intersections.""",
        kind="str, int or list of them",
    )
    metric: str = setting(
        "selection_rate",
        [StrOptions(set(METRICS))],
        "The rate whose gap between groups is compared.",
    )
    scale: str = setting(
        "difference",
        [StrOptions({"difference", "ratio"})],
        """Whether a gap is a difference of rates, or one minus the ratio of the lower to the higher
        one, which is tested by logarithms.""",
    )
    scoring: str = setting(
        "accuracy",
        "no_validation",
        """The score that may not become worse: "accuracy", "roc_auc", "neg_brier_score" or
        "neg_log_loss" (of probabilities clipped at .01).""",
        kind="str",
    )
    margin: float = setting(
        0.01,
        [INNER_SHARE],
        "By how much the score may be worse.",
    )
    min_gain: float = setting(
        0.0,
        [NOT_NEGATIVE],
        """By how much more than this the gap has to be smaller; of a ratio, the difference of
        logarithms.""",
    )
    claim: str = setting(
        "model",
        [StrOptions({"model", "recipe"})],
        """What is tested: the fitted model, on people who are kept for this; or how it was made,
        in five parts of all people, which is advised below 2,000 people. The gap is then the mean
        of the largest gaps of five models.""",
    )
    claim_size: float = setting(
        0.5,
        [INNER_SHARE],
        'Share of the people who are kept for the test, with ``claim="model"``.',
    )
    n_claims: int | None = setting(
        None,
        [AT_LEAST_ONE, None],
        "Largest number of candidates that are tested; None: until one fails.",
    )
    n_partitions: int = setting(
        1,
        [AT_LEAST_ONE],
        """Partitions into five parts, with ``claim="recipe"``. Several count by twice the mean of
        their p-values.""",
    )
    choice: str = setting(
        "auto",
        [StrOptions({"auto", "cross-fit", "held-out"})],
        """How candidates are chosen on the design part: by predictions of clones that are fitted
        to four of five parts and then fitted again ("cross-fit"), or fitted once, and chosen on two
        fifths of the design part ("held-out"). "auto" is the second if candidates differ in seeds
        alone: fitted again, a seed keeps half of what it gained.""",
    )
    refit: bool = setting(
        False,
        ["boolean"],
        """Whether the recipe that is shown is fitted to all people at the end, with
        ``claim="recipe"``.""",
    )
    n_iter: int = setting(20, [AT_LEAST_ONE], "Draws, if candidates are distributions of settings.")
    significance: float = setting(
        0.05,
        [Interval(Real, 0, 0.5, closed="neither")],
        "Largest probability of a false claim.",
    )
    min_support: float = setting(
        0.02,
        [Interval(Real, 0, 1, closed="left")],
        """Share of the people below which a group is left out of the gaps; reports name it.""",
    )
    n_bins: int = setting(
        4,
        [AT_LEAST_TWO],
        "Groups of a protected column of numbers that has more values.",
    )
    pos_label: Labels | None = setting(
        None,
        "no_validation",
        "The favorable labels; None: 1 or True.",
        kind="label or collection of labels",
    )
    random_state: RandomState = setting(
        0,
        ["random_state"],
        """For draws of settings, and for models that draw when they predict. People are divided
        by a hash, not by it.""",
    )
    log: FilePath | None = setting(
        None,
        [str, os.PathLike, None],
        """A JSON file that counts the searches on the same people, of all processes; None: only
        those of this process are counted.""",
        kind="str or Path",
    )
    n_jobs: int | None = setting(None, [Integral, None], "Candidates that are fitted at once.")
    verbose: bool = setting(
        False, ["boolean"], "Whether each candidate is told on standard error when its fit begins."
    )

    def fit(
        self,
        X: FrameLike,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        sensitive_features: ArrayLike | FrameLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit and choose on one part of the people, and test on the other.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
            Clusters, such as households, that are not divided.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
            The protected values, if they are not in X: only models that have to be passed them
            get them.
        **params
            Arguments of `fit` of the present model and the candidates, such as ``sample_weight``;
            with metadata routing, of those that request them. The tests do not weight people.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the people of the claim are too few for the margin, before anything is fitted; if a
            column does not exist; if the metric is undefined in a group; or if the score has no
            bound.
        Exception
            Whatever the present model raises. What a candidate raises is kept in `cv_results_`.

        Warns
        -----
        SurrogateWarning
            If the present model is fitted, but not frozen.
        """
        self._validate_params()
        if self.scoring not in SCORES:
            raise ValueError(
                f"scoring must be one of {', '.join(SCORES)}, got {self.scoring!r}: a score "
                "without a bound for each person cannot be shown not to be worse."
            )
        check_log(self.log)
        table, rows, question, watched = self._read(X, y, groups, sensitive_features)
        candidates = tried.read_candidates(
            self.estimator, self.candidates, self.n_iter, self.random_state
        )
        self._warn_of_fitted()
        everyone = [tried.Candidate(tried.PRESENT, self.estimator), *candidates]
        arguments = self._arguments(everyone, params)
        run = SearchRun(self, everyone, arguments, rows, question, groups)
        run.target = _name_of(y)
        place = places(table, rows.y, run.clusters)
        run.people = fingerprint_of(place if groups is None else places(table, rows.y))
        if self.claim == "model":
            findings = self._model_claim(run, DividedPeople.of(place, self.claim_size), watched)
        else:
            findings = self._recipe_claim(run, table, watched)
        self._conclude(run, findings)
        return self

    def _read(self, X, y, groups, sensitive_features):
        """Return all columns, the rows, the question, and the groups of watched columns."""
        check_order(X=X, y=y, groups=groups, sensitive_features=sensitive_features)
        frame = frame_of(self, X)
        refuse_huge(frame)
        if y is None:
            raise ValueError("AlternativeSearch requires y to be passed, but the target y is None.")
        y = check.check_labels(y, len(frame))
        classes = check.check_decisions(y)
        if self.pos_label is None and len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported without pos_label. The type of the target "
                f"is multiclass, with {len(classes)} labels: name the favorable ones in pos_label."
            )
        favorable, _ = favorable_labels(self.pos_label, classes)
        if self.scoring != "accuracy" and len(classes) != 2:
            raise ValueError(f"scoring={self.scoring!r} needs two labels, got {len(classes)}.")
        is_frame = isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas")
        inside = check.check_protected(self.protected, list(frame))
        extra = _passed(sensitive_features, frame)
        if sensitive_features is None and not inside:
            raise ValueError(
                "protected is None: name the protected column(s) of X, or pass sensitive_features. "
                f"Columns: {list(frame)!r}."
            )
        protected = pd.concat([frame[inside], extra], axis=1)
        made = {n: Groups.of(protected[n], self.min_support, self.n_bins) for n in protected}
        for name, of_column in made.items():
            if len(of_column.names) < 2:
                raise ValueError(
                    f"The protected column {name!r} has {len(of_column.names)} group(s) with at "
                    f"least {self.min_support:g} of the people; it takes two. Join small groups, "
                    "or lower min_support."
                )
        watched_names = check.check_protected(self.watched, list(frame), "watched")
        watched = {
            n: Groups.of(frame[n], self.min_support, self.n_bins)
            for n in watched_names
            if n not in made
        }
        if groups is not None and len(groups) != len(frame):
            raise ValueError(f"groups has {len(groups)} rows, but X has {len(frame)}.")
        if groups is not None and np.ndim(groups) != 1:
            raise ValueError(
                f"groups must be one column of clusters, got an array of shape {np.shape(groups)}. "
                "Pass one value per person, such as the number of a household."
            )
        n_missing = 0 if groups is None else int(pd.isna(np.asarray(groups)).sum())
        if n_missing:
            raise ValueError(
                f"groups has {n_missing:,} missing value(s), which would be one cluster. Give "
                "people without a cluster one of their own each, or leave them out."
            )
        table = X.to_pandas() if hasattr(X, "to_pandas") else X
        table = table.reset_index(drop=True) if is_frame else np.asarray(X)
        rows = tried.ModelRows(table, y, protected, inside)
        how = {n: getattr(self, n) for n in ("scoring", "metric", "scale", "margin", "min_gain")}
        question = Question(y, favorable, made, **how, part=np.zeros(len(y), dtype=int))
        return pd.concat([frame, extra], axis=1), rows, question, watched

    def _warn_of_fitted(self):
        if not isinstance(self.estimator, FrozenEstimator) and _is_fitted(self.estimator):
            warnings.warn(
                f"estimator={type(self.estimator).__name__} is already fitted, but a fresh copy of "
                "it is fitted to the design part. To compare with it as it is, wrap it in "
                "sklearn.frozen.FrozenEstimator, and pass people whom it has not seen; or pass it "
                "unfitted.",
                SurrogateWarning,
                stacklevel=3,
            )

    def _arguments(self, everyone, params):
        """Return the arguments of `fit` of each model."""
        if not _routing_enabled():
            return [dict(params) for _ in everyone]
        routed = process_routing(self, "fit", **params)
        return [dict(routed[f"model_{i}"].fit) for i in range(len(everyone))]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the router: what `fit` is passed goes to the models that request it.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        candidates = tried.read_candidates(
            self.estimator, self.candidates, self.n_iter, self.random_state
        )
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for i, model in enumerate([self.estimator, *(c.estimator for c in candidates)]):
            router.add(**{f"model_{i}": model}, method_mapping=mapping)
        return router

    def _model_claim(self, run, parts, watched):
        """Fit and choose on the design part, and test on the claim part."""
        run.check_people(parts)
        choice, outcomes = run.choose(parts.design)
        self.foreseen_ = _first(choice, choice.foreseen(len(parts.claim), self.significance))
        run.tell(f"the claim is foreseen with a probability of {self.foreseen_:.2f}")
        # From here on the claim part is open.
        claimed = run.ask(outcomes, parts.claim)
        search = run.fingerprint(parts.claim, claimed, [choice.ladder])
        n = n_searches(run.people, search, self.log)
        question = run.question.take(parts.claim)
        claim = climb(question, claimed, choice, self.significance, self.n_claims)
        step = claim.shown
        chosen = step.index if step else (claim.steps[0].index if claim.steps else None)
        models = [o.model for o in outcomes]
        return SearchFindings(
            search_hash=search,
            choice=choice,
            outcomes=outcomes,
            claim_predictions=claimed,
            claim=claim,
            question=question,
            chosen=chosen,
            n_searches=n,
            pairs=choice.pairs[0],
            watched={name: g.take(parts.claim) for name, g in watched.items()},
            target=run.target,
            claim_part_hash=parts.fingerprint,
            people=parts.claim,
            n_design=len(parts.design),
            models=None if chosen is None else [(models[0], models[chosen + 1], None)],
            predictions=None if chosen is None else (claimed[0], claimed[chosen + 1]),
            best=models[0] if step is None else models[step.index + 1],
            best_index=chosen,
        )

    def _recipe_claim(self, run, table, watched):
        """Choose and fit in five parts of all people, and test the pooled predictions."""
        n = len(run.rows)
        run.check_margin(n)
        trials = []
        for number in range(self.n_partitions):
            place = places(table, run.rows.y, run.clusters, salt=number + 1)
            if number == 0:
                whole = DividedPeople.of(place, 2.0)
                run.check_clusters(*parts_of(place))
            trials.append(recipe_trial(run.choose_recipe, run.question, place, self.significance))
        first = trials[0]
        choice = mean_choice(first.choices)
        claim = recipe_claim(trials, self.significance)
        foreseen = [_first(c, c.foreseen(n, self.significance)) for c in first.choices]
        self.foreseen_ = float(np.mean(foreseen))
        parts = first.question.part
        models = [(*pair, parts == k) for k, pair in enumerate(first.models)]
        times = np.bincount(np.array(first.chosen) + 1, minlength=len(run.everyone))
        chosen = int(times[1:].argmax()) if times[1:].any() else None
        if chosen is None:  # the present model was compared with itself
            claim = Claim([])
        rows, predictions = whole.claim, [p for t in trials for p in (t.present, t.alternative)]
        search = run.fingerprint(
            rows, [p.take(rows) for p in predictions], [t.chosen for t in trials]
        )
        n_before = n_searches(run.people, search, self.log) - 1
        best, best_index = None, chosen
        if self.refit:
            order = []
            if claim.shown and not n_before:
                order = run.choose_recipe(rows)[0].safest_first
            for best_index in [*order, -1]:  # -1: the present model
                best = run.fit([best_index + 1], rows, rows[:1])[0].model
                if best is not None:
                    break
        errors = (run.errors.get(k - 1, "") for k in range(len(run.everyone)))
        outcomes = [tried.TriedCandidate(error=error) for error in errors]
        return SearchFindings(
            choice=choice,
            outcomes=outcomes,
            search_hash=search,
            claim=claim,
            question=first.question,
            chosen=chosen,
            n_searches=n_before + 1,
            pairs=first.pairs,
            watched=watched,
            target=run.target,
            claim_part_hash=whole.fingerprint,
            people=np.arange(n),
            n_design=n,
            models=models,
            predictions=None if chosen is None else (first.present, first.alternative),
            best=best,
            best_index=best_index,
            times_chosen=times,
        )

    def _conclude(self, run, findings):
        """Set the attributes of a fitted search."""
        claim = findings.claim
        self.exploratory_ = findings.n_searches > 1
        if self.exploratory_:
            claim.steps = [replace(s, shown=False) for s in claim.steps]
        self.claim_ = claim.shown is not None and not self.exploratory_
        self.classes_ = np.unique(run.rows.y)
        best = findings.best
        if self.exploratory_ and self.claim == "model":
            best = findings.outcomes[0].model
        for name, model in (
            ("best_estimator_", best),
            ("present_estimator_", findings.outcomes[0].model),
        ):
            vars(self).pop(name, None)
            if model is not None:
                setattr(self, name, model)
        self.best_name_ = run.everyone[findings.best_index + 1 if self.claim_ else 0].name
        self.costs_ = None
        if findings.predictions is not None:
            probabilities, cases = run.probabilities_and_cases(findings)
            self.costs_ = costs_of(
                findings.question,
                *findings.predictions,
                findings.watched,
                self.min_support,
                probabilities,
                cases,
            )
        self.cv_results_ = run.results(findings)
        self.report_ = AlternativeReport(document_of(self, run, findings))

    def predict(
        self, X: FrameLike, sensitive_features: ArrayLike | FrameLike | None = None
    ) -> np.ndarray:
        """Return the decisions of `best_estimator_`.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
            The protected values, for a model that has to be passed them, if they are not in X.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        NotFittedError
            Before `fit`, or if a recipe was tested and `refit` is False.
        """
        return self._ask("predict", X, sensitive_features)

    @_delegated("predict_proba")
    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """Return the probabilities of the classes, an array of shape (n_samples, n_classes)."""
        return self._ask("predict_proba", X, None)

    @_delegated("decision_function")
    def decision_function(self, X: FrameLike) -> np.ndarray:
        """Return the scores of `best_estimator_`, shape (n_samples,) or (n_samples, n_classes)."""
        return self._ask("decision_function", X, None)

    def _ask(self, method, X, sensitive_features):
        check_is_fitted(self, "report_")
        if not hasattr(self, "best_estimator_"):
            raise NotFittedError(
                "claim='recipe' tests how models are made, in five parts, and keeps none of them. "
                "Set refit=True for one that is made in this way from all people."
            )
        frame = frame_of(self, X, reset=False)
        inside = check.check_protected(self.protected, list(frame))
        protected = pd.concat([frame[inside], _passed(sensitive_features, frame)], axis=1)
        if isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas"):
            X = frame.set_axis(X.index, axis=0) if isinstance(X, pd.DataFrame) else frame
        else:
            X = validate_data(self, X, reset=False, dtype=None, ensure_all_finite="allow-nan")
        rows = tried.ModelRows(X, np.zeros(len(frame)), protected, inside)
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        return tried._predict(self.best_estimator_, method, rows, seed)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


def _passed(sensitive_features, frame):
    """Return the protected columns that are passed beside X, with names that X does not have."""
    if sensitive_features is None:
        return pd.DataFrame(index=frame.index)
    extra = pd.DataFrame(as_frame(sensitive_features)).reset_index(drop=True)
    if len(extra) != len(frame):
        raise ValueError(f"sensitive_features has {len(extra)} rows, but X has {len(frame)}.")
    return extra.rename(
        columns=lambda c: f"protected {c}" if isinstance(c, int) or c in frame else c
    )


def _name_of(y):
    """Return the name of a column of labels, or ""."""
    name = getattr(y, "name", None)
    return "" if name is None else str(name)


def _first(choice, values):
    """Return the value of the first step of a ladder; 0 without one."""
    return float(values[choice.ladder[0]]) if choice.ladder else 0.0
