"""ThresholdTest: the risk above which people are selected, by group, from rates in many places."""

from collections.abc import Hashable
from functools import partial
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval

from skdisc._task._card import OF_GROUPS, Card
from skdisc._utils._settings import setting
from skdisc._utils._types import Estimator, Labels
from skdisc._utils._validation import check_protected
from skdisc.group._outcome_tests._selected import DECIDES, SELECTED, OutcomeDetector
from skdisc.group._outcome_tests._threshold_gap import ThresholdGap
from skdisc.group._outcome_tests._threshold_model import ThresholdModel
from skdisc.group._pairwise._comparison_report import TOO_FEW, WITHOUT_DECISIONS, PairComparison
from skdisc.group._pairwise._estimates import Estimate

_LEAST = 5  # selected people of each side
LEAST_PLACES = 6  # with people of both sides
_SIDES = ("group", "reference")


class ThresholdTest(OutcomeDetector):
    r"""Compare the risks above which people are selected (Simoiu, Corbett-Davies, Goel 2017).

    People are selected if their risk, as the decision maker sees it, is above a threshold. Few
    successes among those selected mean a low threshold or low risks; the rates of selection, in
    places where risks differ, tell these apart. The risks of a group follow a discriminant
    distribution (Pierson, Corbett-Davies, Goel 2018): two kinds of people send normal signals
    :math:`N(0, 1)` and :math:`N(e^\lambda, 1)`, the second kind has the outcome, and its share is
    :math:`\operatorname{expit}(\varphi)`. In place d, group g has

    .. math::

        \varphi_{gd} &= \varphi_g + \varphi_d \pm \xi_d / 2, \qquad
        \lambda_{gd} = \lambda_g + \lambda_d, \\
        \operatorname{logit} t_{gd} &= \tau_g + \beta (\varphi_{gd} - \varphi_g) + \eta_d
        \pm \zeta_d / 2

    with normal deviations of places. The null hypothesis is that :math:`\tau_g` is the same for
    group and reference.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: its threshold (`outcome`) minus that of the reference (`effect`), as
        probabilities at an average place, and ``gap``, the gap of the selection rates. Table
        ``places``: for each place and side the rates of selection and success, those that the model
        expects, and the threshold.
    {inherited}

    Raises
    ------
    ValueError
        If `protected` is not given, `place` is unknown or protected, or outcomes are missing.

    See Also
    --------
    OutcomeTest : Success rates of those selected, which mix thresholds and risks.
    RiskAdjustedRegression : Learns the risk from what is known about each person.

    Notes
    -----
    A *lower* threshold says that people of the group are selected on less evidence: for a burden
    such as a search a disadvantage, for a benefit such as a loan an advantage.

    The papers have neither :math:`\xi_d`, :math:`\eta_d` nor :math:`\beta`. Without the first,
    intervals cover half of the truths where the risks of both groups vary separately; without the
    last, thresholds that follow the risks of their places, as those of decision makers who look at
    the evidence alone, are taken for a large separation of risks, and differences of .3 for none.

    Without `model_error` intervals are too narrow: on data drawn from the model and its priors,
    intervals of .50, .80 and .95 contain the difference in .40, .71 and .90 of data sets. With .15
    all did.

    Effects of places are integrated out, by Laplace's method and over separations by quadrature.
    The density of the other parameters is taken for Student's t around its mode, with as many
    degrees of freedom as there are places, minus one, in the rates of selection and of success at
    an average place, which the data determine, and the separation, which they hardly do; thresholds
    are functions of these. Priors: :math:`\lambda` .3 with standard deviation .5, its difference
    between groups 0 with .4, :math:`\beta` .5 with .5; others are weak.

    References
    ----------
    C. Simoiu, S. Corbett-Davies, S. Goel: The problem of infra-marginality in outcome tests for
    discrimination. Annals of Applied Statistics 11, 2017. https://doi.org/10.1214/17-AOAS1058

    E. Pierson, S. Corbett-Davies, S. Goel: Fast threshold tests for detecting discrimination.
    AISTATS 2018. https://arxiv.org/abs/1702.08536

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdisc import BlackBox
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"race": rng.choice(["a", "b"], 20_000), "town": rng.choice(20, 20_000)})
    >>> carries = rng.random(20_000) < 0.1 + 0.02 * X["town"]
    >>> signal = rng.normal(size=20_000) + 1.5 * carries
    >>> searched = signal > np.where(X["race"] == "a", 1.8, 0.2)
    >>> detector = ThresholdTest(protected="race", place="town", reference="a", random_state=0)
    >>> detector.fit(X, carries, BlackBox(decisions=searched)).result_.verdict
    'disparity found'
    """

    estimator: Estimator | None = DECIDES
    place: Hashable | None = setting(
        None,
        [str, Integral, None],
        """The column of places (police districts, branches, years), in which risks differ.
        Without it, or with fewer than six places with people of both groups, nothing is
        compared.""",
        kind="column name or position, or None",
    )
    model_error: float = setting(
        0.15,
        [Interval(Real, 0, 1, closed="left")],
        """By how much the difference of thresholds may be off because risks are distributed
        otherwise than the model has it, above all if the risks of both groups are told apart
        unequally well. Intervals are wider by it on both sides, and "disparity found" takes a
        difference that is significantly larger. "No disparity found" takes a `relevant_gap`
        above it.""",
    )
    pos_label: Labels | None = SELECTED

    null = "calibration"
    card = Card(
        finds="group",
        where="model or data",
        access="labels and predict",
        statistic="difference of the risks above which people are selected",
        output="thresholds of each group, with the rates of places that the model expects",
        published="searches of cars by the police of North Carolina",
        worse=1,
        reference="Simoiu, Corbett-Davies and Goel 2017; Pierson, Corbett-Davies and Goel 2018",
        summary="gaps of the risks above which people are selected",
        needs="outcomes, decisions or a model, and places",
        claims="A group is selected from another risk on than its reference.",
        does_not_say="That the model of risks within places, which cannot be seen, is right.",
        bounded="gap of thresholds",
        **OF_GROUPS,
    )
    _needs = ("outcomes", "places")
    _measure = "threshold difference"
    _compares_rates = False
    _noun = "difference of thresholds"
    _test = "posterior"

    def _columns(self, names):
        place = check_protected(self.place, names, "place")
        if set(place) & set(self.protected_):
            raise ValueError(f"place={self.place!r} is protected; it must be another column.")
        return place

    def _compare(self, task, people, rng):
        if people.labels is None:
            return WITHOUT_DECISIONS
        columns = self._columns(list(people.X))
        if not columns:
            return "no column of places was given"
        places, counts = _counted(people, people.X[columns[0]])
        if len(places) < LEAST_PLACES:
            return f"fewer than {LEAST_PLACES} places with people of both groups"
        if counts[..., :2].sum(axis=(0, 2)).min() < _LEAST:
            return f"{TOO_FEW} selected"
        model = ThresholdModel(counts)
        fit = model.fit()
        if fit is None:
            return "no single set of risks and thresholds fits best"
        gap = ThresholdGap.of(fit, len(places) - 1, rng)
        table = _of_places(places, counts, model.of_places(fit))
        more = {"outcome": float(np.median(gap.group)), "gap": people.gap, "n_places": len(places)}
        return PairComparison(
            Estimate(gap.effect, gap.error),
            more,
            {"places": table},
            [_fit_in_words(table)],
            interval=partial(gap.interval, margin=self.model_error),
            p_value=gap.p_value(self.model_error),
        )


def _counted(people, place):
    """Return the places with people of both sides, and their counts for `ThresholdModel`."""
    # Outcomes of people who were not selected are not read: as a rule, nobody knows them.
    code, names = pd.factorize(place, use_na_sentinel=False)
    cell = np.where(people.y == 0, 2, np.where(people.labels == 1, 0, 1))
    cell_index = 6 * code + 3 * ~people.inside + cell
    counts = np.bincount(cell_index, minlength=6 * len(names)).reshape(-1, 2, 3)
    has_both_sides = (counts.sum(axis=2) > 0).all(axis=1)
    return np.asarray(names, dtype=object)[has_both_sides], counts[has_both_sides].astype(float)


def _of_places(places, counts, expected):
    """Return a row for each place and side."""
    tables = []
    for i, side in enumerate(_SIDES):
        n, n_successes = counts[:, i].sum(axis=1), counts[:, i, 0]
        selected = counts[:, i, :2].sum(axis=1)
        some_selected = np.where(selected > 0, selected, np.nan)
        columns = {"place": places, "side": side, "n": n.astype(int)}
        columns |= {"n_selected": selected.astype(int), "selection_rate": selected / n}
        columns["success_rate"] = n_successes / some_selected
        tables.append(pd.DataFrame(columns | {name: v[:, i] for name, v in expected.items()}))
    return pd.concat(tables, ignore_index=True)


def _fit_in_words(table):
    """Return how far the rates of the model are from those observed."""
    errors = []
    for name, size in (("selection", "n"), ("success", "n_selected")):
        off = (table[f"{name}_rate"] - table[f"{name}_expected"]).fillna(0)
        errors.append(np.sqrt(np.average(off**2, weights=table[size])))
    return (
        f"Rates of places differ from those of the model by {errors[0]:.2g} (selection) and "
        f"{errors[1]:.2g} (success), root of the mean square."
    )
