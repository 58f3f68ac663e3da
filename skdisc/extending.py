"""What authors of detectors build on: base classes, one run, findings, groups, engines, statistics.

A list of names without logic; ``doc/adding_a_detector.md`` shows how they fit together. The
constants:

``AT_LEAST_ONE``
    What a setting that counts may be.
``N_BINS``
    The setting `n_bins` of detectors that compare protected groups.
``OF_GROUPS``, ``OF_CONTEXTS``, ``OF_CASES``
    Arguments of `Card` that many detectors share.
``CONFIRM``
    The setting `confirm`, the share of rows held out.
``VERBOSE``
    The setting `verbose`, for detectors whose fit can take long.
``SEED_CHOICES``
    What a setting `seeds` may be.
``RATES``
    Maps the name of a rate to its confusion cells: those counted as events, and as non-events.
``MISSING``, ``UNSEEN``
    In codes of a column (-1, -2): the value is missing; it did not occur at fit.
``NO_ITEM``
    In `Items.codes` (-1): the row satisfies no item of the feature.
``PAD``
    In rows of item numbers (-1): the conjunction has fewer conditions than the array has columns.
``EVERYONE``
    As the number of a subgroup (-1): the one without conditions.
``NOBODY``
    As the number of a group, a target or a row (-1): none.
``FREE``, ``UNBOUND``
    In planted levels, and in starts of a scan (-1): no condition on the attribute.
"""

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._queries import Queries
from skdisc._results._audit_result import AuditResult
from skdisc._results._case import Case
from skdisc._results._findings import (
    CaseFindings,
    ContextFindings,
    Discovery,
    Finding,
    GroupFindings,
)
from skdisc._results._judgment import Judgment
from skdisc._space._bins import Bins
from skdisc._space._codes import EVERYONE, FREE, MISSING, NO_ITEM, NOBODY, PAD, UNBOUND, UNSEEN
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import Items, count_items, count_values, make_items
from skdisc._space._subgroup import Group, Predicate, Subgroup
from skdisc._stats import (
    adjust,
    bootstrap,
    clopper_pearson,
    fisher,
    min_detectable_gap,
    min_detectable_share,
    newcombe,
    score_test,
    wilson,
)
from skdisc._stats._ranks import midranks, rank_statistic
from skdisc._stats._rates import RATES
from skdisc._task._budget import Budget
from skdisc._task._card import OF_CASES, OF_CONTEXTS, OF_GROUPS, Card
from skdisc._task._clustered import WeightedMixin
from skdisc._task._limits import Limits
from skdisc._task._notes import too_few_draws
from skdisc._task._shared_settings import CONFIRM, N_BINS, VERBOSE
from skdisc._task._task import People, Request, Task
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._verdicts._answer import Answer, decide
from skdisc._verdicts._candidates import Candidates
from skdisc._verdicts._relevant import RelevantGap, relevant_gap
from skdisc._verdicts._rule import Rule
from skdisc.base import BaseDetector
from skdisc.individual._base import IndividualDetector
from skdisc.individual._prober import Prober
from skdisc.individual._search._base import SEED_CHOICES, SearchDetector
from skdisc.individual._search._loop import Ledger, Rows, Strategy, propose
from skdisc.individual._search._neighbors import Neighbors
from skdisc.individual._search._seeds import Seeds, draw_seeds
from skdisc.individual._search._steps import Steps
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._estimation._discovery import (
    FoundCounts,
    excluded_groups,
    single_groups,
    subgroup_discovery,
)
from skdisc.subgroup._estimation._outcomes import Counted, Summed
from skdisc.subgroup._estimation._proposed_groups import discover_groups
from skdisc.subgroup._estimation._task_rows import rows_of
from skdisc.subgroup._lattice._conjunctions import Patterns
from skdisc.subgroup._lattice._lattice import Lattice, least_of

__all__ = [
    "AT_LEAST_ONE",
    "CONFIRM",
    "EVERYONE",
    "FREE",
    "MISSING",
    "NOBODY",
    "NO_ITEM",
    "N_BINS",
    "OF_CASES",
    "OF_CONTEXTS",
    "OF_GROUPS",
    "PAD",
    "RATES",
    "SEED_CHOICES",
    "UNBOUND",
    "UNSEEN",
    "VERBOSE",
    "Answer",
    "AuditResult",
    "BaseDetector",
    "Bins",
    "BlackBox",
    "Budget",
    "Candidates",
    "Card",
    "Case",
    "CaseFindings",
    "ContextFindings",
    "Counted",
    "Discovery",
    "FeatureSpace",
    "Finding",
    "FoundCounts",
    "Group",
    "GroupFindings",
    "IndividualDetector",
    "Items",
    "Judgment",
    "Lattice",
    "Ledger",
    "Limits",
    "Neighbors",
    "Patterns",
    "People",
    "Predicate",
    "Prober",
    "Queries",
    "RelevantGap",
    "Request",
    "Rows",
    "Rule",
    "SearchDetector",
    "Seeds",
    "Steps",
    "Strategy",
    "Subgroup",
    "SubgroupDetector",
    "Summed",
    "Task",
    "WeightedMixin",
    "adjust",
    "bootstrap",
    "clopper_pearson",
    "count_items",
    "count_values",
    "decide",
    "discover_groups",
    "draw_seeds",
    "excluded_groups",
    "fisher",
    "least_of",
    "make_items",
    "midranks",
    "min_detectable_gap",
    "min_detectable_share",
    "newcombe",
    "propose",
    "rank_statistic",
    "relevant_gap",
    "rows_of",
    "score_test",
    "setting",
    "single_groups",
    "subgroup_discovery",
    "too_few_draws",
    "wilson",
]
