"""The list of all detectors, for the command line, the documentation and the tests."""

from skdisc import group, individual, subgroup


def all_detectors():
    """Return the detector classes by name, a dict in alphabetical order.

    Examples
    --------
    >>> "KOSEI" in all_detectors()
    True
    """
    rooms = (group, individual, subgroup)
    classes = {name: getattr(room, name) for room in rooms for name in room.__all__}
    return dict(sorted(classes.items()))
