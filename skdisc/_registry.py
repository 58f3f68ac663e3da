"""Registry of all detectors, for the command line, the documentation and the tests."""

from skdisc import group, individual, monitoring, subgroup
from skdisc.base import BaseDetector


def all_detectors() -> dict[str, type[BaseDetector]]:
    """Return the detector classes by name, in alphabetical order.

    Other public classes of these packages (for example `FairNaiveBayes`) are not detectors and are
    excluded.

    Returns
    -------
    dict of name to class

    Examples
    --------
    >>> "KOSEI" in all_detectors()
    True
    """
    rooms = (group, individual, monitoring, subgroup)
    offered = {name: getattr(room, name) for room in rooms for name in room.__all__}
    detectors = {n: c for n, c in offered.items() if issubclass(c, BaseDetector)}
    return dict(sorted(detectors.items()))
