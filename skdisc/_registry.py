"""Registry of all detectors, for the command line, the documentation and the tests."""

from inspect import isclass

from skdisc import group, individual, monitoring, subgroup
from skdisc.base import BaseDetector


def all_detectors() -> dict[str, type[BaseDetector]]:
    """Return the detector classes by name, in alphabetical order.

    Other public names of these packages (for example `FairNaiveBayes`) are not detectors and are
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
    classes = {n: c for n, c in offered.items() if isclass(c)}
    detectors = {n: c for n, c in classes.items() if issubclass(c, BaseDetector)}
    return dict(sorted(detectors.items()))
