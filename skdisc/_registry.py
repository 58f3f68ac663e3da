"""The list of all detectors, for the command line, the documentation and the tests."""

from skdisc import group, individual, subgroup
from skdisc.base import BaseDetector


def all_detectors():
    """Return the detector classes by name, a dict in alphabetical order.

    What else a room offers, as a classifier that is fair by construction, is left out.

    Examples
    --------
    >>> "KOSEI" in all_detectors()
    True
    """
    rooms = (group, individual, subgroup)
    offered = {name: getattr(room, name) for room in rooms for name in room.__all__}
    detectors = {n: c for n, c in offered.items() if issubclass(c, BaseDetector)}
    return dict(sorted(detectors.items()))
