"""Public data sets that the generator can learn by name."""

from skdisc.datasets._fetch import fetch_adult, fetch_compas

_DATA_SETS = {  # without survey weights, and without columns that duplicate another
    "adult": (fetch_adult, ["education-num", "fnlwgt"]),
    "compas": (fetch_compas, ["age"]),
}
REFERENCES = frozenset(_DATA_SETS)


def read_reference(name):
    """Return the attributes of people in a public data set, and the names of the protected ones.

    `name`: an element of `REFERENCES`. Raises OSError if the data are missing and cannot be
    downloaded; the message says where to put them.
    """
    fetch, dropped = _DATA_SETS[name]
    public = fetch()
    return public.data.drop(columns=dropped), list(public.protected)
