"""Who chooses and who decides: parts of the people by a hash of their rows.

The parts depend on the people alone, not on a seed: whoever tries ten seeds and keeps the best
claims something false in a fifth of the cases.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from skdisc._stats._non_inferiority import tango_z
from skdisc._utils._files import (
    check_is_file,
    check_writable,
    only_writer,
    read_text,
    write_text,
)
from skdisc.auditing._fingerprints import row_hashes

_SEARCHES = {}  # that this process made, by the fingerprint of the people
N_FOLDS = 5
_FEW = 20  # values of a column that says what people are, not who
_LARGE = 0.3  # times 1 / margin^2 people: 3,000 for a margin of .01


def places(X, y, groups=None, salt=0):
    """Return a number in [0, 1) for each row, which depends on its values only.

    Columns of many values tell people apart; how labels and columns of few values are written, and
    columns of one value, do not matter. Rows that are equal in these are numbered, in the order of
    their other values, so that each has a place of its own; rows of one cluster of `groups` share
    theirs.

    `salt`: another one gives other places. Shapes: `X` (n, n_columns).
    """
    if groups is None:
        few = min(_FEW, len(X) / 2)
        many = [name for name in X if X[name].nunique() > few]
        coded = {name: _by_frequency(X[name]) for name in X if name not in many}
        coded = pd.DataFrame(coded, index=range(len(X)))
        coded = coded.loc[:, coded.nunique(dropna=False) > 1]
        label = _by_frequency(pd.Series(y))
        texts = row_hashes(X[many]) if many else row_hashes(coded, y=label)
        order = sorted(range(len(y)), key=row_hashes(coded, y=label).__getitem__)
        ordered = pd.Series(texts).iloc[order]
        twice = ordered.groupby(ordered).cumcount().sort_index()
    else:
        texts = row_hashes(pd.DataFrame(index=range(len(y))), groups=groups)
        twice = np.zeros(len(y), dtype=int)
    digests = (sha256(t + b"%d/%d" % (k, salt)).digest() for t, k in zip(texts, twice, strict=True))
    return np.array([int.from_bytes(d[:7], "big") for d in digests]) / 2.0**56


def _by_frequency(column):
    """Return the values of a column as numbers: the most frequent is 0, of ties by their text."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    often = np.bincount(codes, minlength=len(values))
    order = sorted(range(len(values)), key=lambda k: (-often[k], str(values[k])))
    return pd.Series(np.argsort(order)[codes], dtype=int)


def fingerprint_of(place):
    """Return a hash of people by their places, in any order."""
    return sha256(np.sort(place).tobytes()).hexdigest()


@dataclass(frozen=True)
class DividedPeople:
    """The design part, on which models are fitted and chosen, and the claim part.

    `design` and `claim`: rows, in the order of their hashes. `fingerprint`: hash of the claim part.
    """

    design: np.ndarray
    claim: np.ndarray
    fingerprint: str

    @classmethod
    def of(cls, place, claim_size):
        """Return the parts of rows at these places."""
        order = np.argsort(place, kind="stable")
        is_claim = place[order] < claim_size
        claim = order[is_claim]
        return cls(order[~is_claim], claim, fingerprint_of(place[claim]))


def least_people(margin, critical):
    """Return the fewest people about whom a margin can be shown: two models that never differ."""
    n = int(critical**2 * (1 - margin) / margin)
    while tango_z(0, 0, max(n, 1), margin) <= critical:
        n += 1
    return max(n, 1)


def margins_in_reach(n, critical):
    """Return the smallest margin that n people can show, and the smallest that is usual with n.

    Below the first, nothing that they say can show it (`least_people`); below the second they are
    too few for most alternatives (`is_small`).
    """
    return critical**2 / (n + critical**2), (_LARGE / n) ** 0.5


def is_small(n, margin):
    """Return whether n people are so few that little can be shown at this margin."""
    return n * margin**2 < _LARGE


def n_searches(people, search, log=None):
    """Return how many different searches were made on these people, with this one.

    The same search once more is no further look at them.

    `people`: their fingerprint, however they are divided. `search`: fingerprint of all that was
    tried. `log`: a JSON file that keeps the searches, beside those of this process; None: these
    alone are counted. Raises ValueError if the file is none of this kind, or cannot be written.
    """
    if log is None:
        return _counted({}, people, search)
    with only_writer(log):
        searches_by_people = _read(log)
        number = _counted(searches_by_people, people, search)
        write_text(log, json.dumps(searches_by_people, indent=1))
    return number


def check_log(log):
    """Raise ValueError if the file of a log is none of this kind, or cannot be written."""
    if log is not None:
        check_is_file(log)
        check_writable(log)
        _read(log)


def _counted(searches_by_people, people, search):
    """Add a search to those of some people, and of this process, and return its number."""
    searches = [*searches_by_people.get(people, []), *_SEARCHES.get(people, []), search]
    searches_by_people[people] = _SEARCHES[people] = list(dict.fromkeys(searches))
    return searches_by_people[people].index(search) + 1


def _read(log):
    """Return the searches that a file keeps."""
    if not Path(log).exists():
        return {}
    try:
        searches_by_people = json.loads(read_text(log))
    except (OSError, ValueError) as error:
        raise ValueError(f"log={str(log)!r} cannot be read as JSON: {error}.") from None
    is_log = isinstance(searches_by_people, dict) and all(
        isinstance(v, list) for v in searches_by_people.values()
    )
    if not is_log:
        raise ValueError(f"log={str(log)!r} is no log of searches for alternatives.")
    return searches_by_people
