"""Actions and Costs: which changes FACTS considers, and what they cost."""

from collections.abc import Callable, Hashable, Sequence
from numbers import Integral, Real

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._bins import Bins
from skdisc._space._subgroup import Subgroup
from skdisc._utils._settings import HasSettings, setting

N_BINS = [Interval(Integral, 2, None, closed="left"), dict, Bins, None]


class Actions(HasSettings, BaseEstimator):
    """The changes that `FACTS` considers: what may change, how far, and to which values.

    An action sets columns to values that are frequent among the people with a favorable decision.

    {parameters}

    See Also
    --------
    Costs : What the changes cost.

    Examples
    --------
    >>> from skdisc.subgroup import FACTS
    >>> actions = Actions(immutable=["race"], monotone={"age": 1})
    >>> detector = FACTS(protected="sex", actions=actions)
    >>> detector.set_params(actions__max_step={"age": 2}).actions
    Actions(immutable=['race'], max_step={'age': 2}, monotone={'age': 1})
    """

    immutable: Sequence[Hashable] | Hashable | None = setting(
        None,
        ["array-like", str, Integral, None],
        "Columns that no action changes, besides the protected ones.",
        kind="column name or sequence of them",
    )
    monotone: dict | None = setting(
        None,
        [dict, None],
        "By ordered column: 1 if values may only increase, -1 if they may only decrease.",
        kind="dict",
    )
    max_step: dict | None = setting(
        None,
        [dict, None],
        """By ordered column: largest number of positions (bins, categories) that an action
        moves.""",
        kind="dict",
    )
    columns: str = setting(
        "same",
        [StrOptions({"same", "subset"})],
        """Whether an action is a conjunction on the same columns as the subgroup, or on any of
        them.""",
    )
    min_support: float | None = setting(
        None,
        [Interval(Real, 0, 1, closed="right"), None],
        """Smallest share of the people with a favorable decision that the values of an action
        cover; None: the `min_support` of subgroups.""",
    )
    n_bins: int | dict | Bins | str | None = setting(
        "same",
        [*N_BINS, StrOptions({"same"})],
        """Bins of numeric columns, as `n_bins` of subgroups; they may be finer. "same": those of
        subgroups.""",
        kind="int, dict, `Bins`, None or str",
    )
    numbers: str = setting(
        "set",
        [StrOptions({"set", "shift"})],
        """Whether an action sets a number to the median of the target bin, or shifts it by the
        difference of the medians of the two bins, within the observed range.""",
    )
    candidates: Sequence[Subgroup | dict] | None = setting(
        None,
        "no_validation",
        "Actions to use in place of the frequent ones; a dict maps columns to values.",
        kind="sequence of Subgroup or dict",
    )


class Costs(HasSettings, BaseEstimator):
    """What changes cost in `FACTS`, and what one can spend on them.

    The cost of an action is a sum over the columns that it changes: 1 for a nominal column, the
    difference of positions for ordered categories, and the difference divided by the range for a
    number.

    {parameters}

    See Also
    --------
    Actions : Which changes are considered.

    Examples
    --------
    >>> from skdisc.subgroup import FACTS
    >>> detector = FACTS(protected="sex", costs=Costs(weights={"job": 4}))
    >>> detector.set_params(costs__budget=(5, 10)).costs
    Costs(budget=(5, 10), weights={'job': 4})
    """

    weights: dict | None = setting(
        None,
        [dict, None],
        "Factor of the cost by column, 1 for other columns.",
        kind="dict",
    )
    function: Callable | None = setting(
        None,
        [callable, None],
        """``function(column, before, after)`` returns the cost of a move between two values, in
        place of the costs by kind of column.""",
    )
    budget: float | Sequence[float] | None = setting(
        None,
        [Interval(Real, 0, None, closed="left"), "array-like", None],
        """The largest cost c within which effectiveness is compared, or several, of which
        findings are ranked by the first; None: the 30th, 60th and 90th percentile of the costs at
        which actions help half of a group.""",
        kind="float, sequence of float or None",
    )
    infinity: float | None = setting(
        None,
        [Interval(Real, 0, None, closed="left"), None],
        """Cost of recourse of people whom no action helps; None: the largest cost of any
        action.""",
    )
