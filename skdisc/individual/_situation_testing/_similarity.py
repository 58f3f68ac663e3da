"""Similarity: who counts as a neighbor in situation tests."""

from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from skdisc._neighbors._distances import METRICS
from skdisc._utils._settings import NOT_NEGATIVE, HasSettings, setting

PUBLISHED = "alvarez2023"


class Similarity(HasSettings, BaseEstimator):
    """Who counts as similar in situation tests: the distance, its unit, and how far it may be.

    {parameters}

    Examples
    --------
    >>> from skdisc.individual import SituationTesting
    >>> detector = SituationTesting(protected="sex", similarity=Similarity(metric="gower"))
    >>> detector.set_params(similarity__max_distance=0.2).similarity
    Similarity(max_distance=0.2, metric='gower')
    """

    metric: str | Callable = setting(
        "manhattan",
        [StrOptions({*METRICS, PUBLISHED}), callable],
        """"manhattan" (the default) counts 0 or 1 for categories; "gower" allows missing
        values, and averages over the features that both people have (people with none in common
        are never neighbors; the other names do not accept missing values); "euclidean"; "hvdm",
        the heterogeneous value difference metric; "propensity", the difference in the log-odds
        of group membership; a callable from two frames of features to the matrix of distances; or
        "alvarez2023", distances, ties and intervals of the published tables, for which the other
        settings are not used: see Notes of the detectors.""",
    )
    scale: str | None = setting(
        "range",
        [StrOptions({"range", "std"}), None],
        "Unit of numbers, learned from X of fit; None: numbers as they are.",
    )
    caliper: float | str | None = setting(
        "auto",
        [NOT_NEGATIVE, StrOptions({"auto"}), None],
        """As `max_distance`, and people with fewer than k / 2 neighbors in either group are not
        judged; they are counted in `excluded`. "auto": the 95th percentile of the distances to
        the k-th nearest person of one's own group, in the group where it is smaller. None: no
        caliper, and cases whatever the mean gap is, as published. Not used with `max_distance`.""",
        kind='"auto", float or None',
    )
    max_distance: float | None = setting(
        None,
        [NOT_NEGATIVE, None],
        "People farther away are not neighbors; groups may then be smaller than k.",
    )
