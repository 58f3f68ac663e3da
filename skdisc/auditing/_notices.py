"""What an audit notices in a table by itself, each thing as a `TableNote`.

Each function looks at one kind of thing in the raw columns and changes nothing, so that it can also
be called about a single column. Values that fewer than `least` people share are not named. What
stands above the answers is of the texts `SENTENCES`, which the first page has in each language.
"""

import math
import shlex
from collections import Counter

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype, is_string_dtype
from scipy import stats

from skdisc._stats import STRONG_V, cramers_v
from skdisc._task._dependent_rows import dependent_rows
from skdisc._utils._favorable import folded
from skdisc._utils._hashing import numbers_of
from skdisc._utils._inputs import counts_of_values
from skdisc._utils._tables import TableNote
from skdisc._utils._validation import is_favorable, plain
from skdisc.auditing._numbers import DIFFERENCE, VALUE, outliers
from skdisc.preprocessing import Discretizer
from skdisc.report._first_page import SENTENCES

_ERRORS = 0.05  # of the rarer outcome, in a column that is said to give the outcome
_FEWEST = 10  # people of the rarer outcome, to say so
_MANY = 100  # fewer rows may differ in any number by chance
_NEARLY = 0.9  # share of the rows that differ where the others may be copies
_CODES_SHARE, _CODES_MOST, _MOST_CODES = 0.01, 0.5, 3  # of the rows; codes at one end of a column
_OTHERS = 10  # different numbers besides the codes
_GAP, _GAP_NEGATIVE = 1.0, 0.15  # between codes and the other numbers, in ranges of these
_FEWEST_COUNTS, _MOST_CELLS = 4, 2  # rows of a table of counts, and cells for each of its rows
_MANY_PEOPLE = 10  # in one of its rows
_SAME_ORDER = 0.99  # rank correlation of a column that may be the outcome in other words
_PEOPLE = 100  # fewer values of a column may be ages, or places
_PERSON_SHARE, _PERSON_ROWS, _ALIKE = 0.1, 1.5, 0.5  # of the rows; rows of each; of the variance
_OUTCOME = "\0outcome"  # a name that no column of a file has
_MISSING_SHARE, _MISSING_GAP, _CHANCE = 0.01, 0.05, 1e-4
_MOST_GROUPS = 20  # of a protected column whose shares of missing values are compared


def notices_of(audited, least, relevant_size):
    """Return all notices about the rows of an audit, a list of TableNote.

    `audited`: AuditedRows. `least`: fewest people whose shared value is named. `relevant_size`:
    smallest share of the people that a group judged holds.
    """
    X, protected, people = audited.X, audited.protected, audited.frequency
    notes = of_weights(audited.weight, audited.n_weightless, least)
    notes += spellings(X, protected, least, people)
    outcomes = {"label": audited.y, "decision": getattr(audited.box, "decisions", None)}
    if audited.numbers is not None:
        outcomes, is_pay = {}, audited.roll is not None
        notes += of_numbers(X, audited.numbers, protected, least, is_pay=is_pay)
        if is_pay:
            notes += parts_of_pay(audited.roll.names)
    elif audited.kind in ("labels", "decisions"):  # a model may well decide by a single column
        notes += outcome_columns(X, audited.outcomes, protected, people)
    for what, values in outcomes.items():
        if values is not None:
            notes += favorable_spellings(what, values, audited.favorable, least, people)
    notes += small_groups(X, protected, relevant_size, least, people)
    if audited.table is not None:
        return notes
    notes += codes_of_missing(X, least) + identifiers(X, protected)
    if audited.groups is None and people is None:
        raw = None if audited.numbers is None else audited.numbers.raw
        notes += rows_of_people(X, raw, protected, audited.outcomes)
    if people is None:
        notes += missing_with(X, protected, least)
        if audited.groups is None:
            notes += copies(X, audited.y)
        if audited.weight is None:
            notes += numbers_of_people(X, audited.y)
    return notes


def of_weights(weight, n_weightless, least=1):
    """Return notes on sample weights: to how many equal ones they amount, and on rows without any.

    `weight`: shape (n_rows,), or None. `least`: smallest number of rows that is told.
    """
    notes = []
    if weight is not None and np.ptp(weight) > 0:
        share = np.asarray(weight, dtype=float) / np.max(weight)
        equal = share.sum() ** 2 / (share @ share)
        notes.append(_above(None, "weighted", n=f"{len(share):,}", equal=f"{equal:,.0f}"))
    if n_weightless:
        name = "weightless" if n_weightless >= least else "few weightless"
        notes.append(_above(None, name, n=f"{max(n_weightless, least):,}"))
    return notes


def outcome_columns(X, outcome, protected=(), frequency=None):
    """Return a note on each column that gives the outcome: its values, or a threshold of them.

    `outcome`: 1 for favorable, 0 for the others. `protected`: they are not looked at. `frequency`:
    number of people of each row; None: 1. Shapes: `X` (n_rows, n_columns).
    """
    weight = np.ones(len(X)) if frequency is None else np.asarray(frequency, dtype=float)
    yes, no = weight * (outcome == 1), weight * (outcome != 1)
    rarer = min(yes.sum(), no.sum())
    if rarer < _FEWEST:
        return []
    notes = []
    for name, column in X.items():
        if name in protected:
            continue
        by_value, by_threshold = _misses(column, yes, no)
        if min(by_value, by_threshold) > _ERRORS * rarer:
            continue
        n = len(X) if frequency is None else int(weight.sum())
        exact, nearly = "threshold gives", "threshold nearly gives"
        if by_value < by_threshold:
            exact, nearly = "values give", "values nearly give"
        seen = exact if min(by_value, by_threshold) == 0 else nearly
        notes.append(_outcome_again(name, seen, n=f"{n:,}"))
    return notes


def of_numbers(X, numbers, protected=(), least=1, is_pay=False):
    """Return notes on numbers that are compared: what they are, outliers, and copies of them.

    `protected`: they are not looked at. `least`: smallest number that is told. `is_pay`: whether a
    template of pay compares them, which has no other scale. Shapes: `X` (n_rows, n_columns).
    """
    notes, raw = [], numbers.raw
    if numbers.is_automatic:
        n = f"{len(np.unique(raw)):,}"
        notes.append(_above(numbers.name, "many numbers", "means", "name favorable", n=n))
    is_far = outliers(raw) if numbers.output == VALUE else np.zeros(len(raw), dtype=bool)
    n_far = int(is_far.sum())
    if n_far:
        seen, n = "few far" if n_far < least else "far", f"{max(n_far, least):,}"
        is_above = raw[is_far].min() > np.median(raw)  # logarithms weigh small numbers more
        has_log = is_above and not is_pay and numbers.scale == DIFFERENCE and raw.min() > 0
        option = "errors or log" if has_log else "errors"
        notes.append(_above(numbers.name, seen, "as they are", option, n=n))
    for name, column in X.items():
        if name in protected or not is_numeric_dtype(column) or is_bool_dtype(column):
            continue
        has_value = column.notna().to_numpy()
        if (
            has_value.sum() < _FEWEST
            or column.nunique() <= _MOST_GROUPS
            or np.ptp(raw[has_value]) == 0
        ):
            continue
        if abs(stats.spearmanr(column[has_value], raw[has_value]).statistic) >= _SAME_ORDER:
            notes.append(_outcome_again(name, "same order"))
    return notes


def parts_of_pay(names):
    """Return a note if variable pay is taken as a part of the target, which may be base pay.

    `names`: the columns of pay.
    """
    if names["variable"] is None or names["base"] is not None:
        return []
    return [_above(names["variable"], "target alone", "part of target", "base named")]


def rows_of_people(X, raw, protected=(), outcomes=None):
    """Return a note on each column that seems to name people with several rows each.

    `raw`: the numbers that are compared, which are much alike within a person; None: decisions,
    which may not be. `protected`: of one person they are always the same. `outcomes`: numbers or
    decisions, which depend on the person somewhat. Shapes: `X` (n_rows, n_columns).
    """
    notes = []
    if any(values is not None and np.ptp(values) == 0 for values in (raw, outcomes)):
        return notes  # where all are equal, those of one person are no more alike
    for name, column in X.items():
        is_name = is_integer_dtype(column) or is_string_dtype(column)
        codes, values = numbers_of(column)
        if name in protected or not is_name or len(X) < _MANY or (codes < 0).any():
            continue
        if not _PERSON_SHARE * len(X) <= len(values) <= len(X) / _PERSON_ROWS:
            continue
        same = []
        if outcomes is not None and len(values) >= _PEOPLE:
            same = [
                p
                for p in protected
                if p in X and _is_same_within(codes, X[p]) and _depend_on(codes, X[p], outcomes)
            ]
        if not same and not _are_alike_within(codes, raw):
            continue
        notes.append(
            _above(
                name,
                "rows of the same" if same else "rows of people",
                "rows of one person",
                "say so",
                distinct=f"{len(values):,}",
                same=", ".join(map(str, same)),
                n=f"{len(X):,}",
                option=f"--groups {_quoted(name)}",
            )
        )
    return notes


def _away_within(codes, values):
    """Return the distance of each number from the mean of the rows with its code."""
    return values - (np.bincount(codes, values) / np.bincount(codes))[codes]


def _are_alike_within(codes, raw):
    """Return whether numbers vary less within values of a column than in all."""
    if raw is None:
        return False
    within = _away_within(codes, raw)
    return within.var() * len(raw) / (len(raw) - int(codes.max()) - 1) < _ALIKE * raw.var()


def _is_same_within(codes, column):
    """Return whether all rows of each value have one group, which chance would not bring about."""
    groups, names = numbers_of(column)
    if (groups < 0).any() or not 1 < len(names) <= _MOST_GROUPS:
        return False
    first = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    first[codes] = groups
    if (groups != first[codes]).any():
        return False
    shares = np.bincount(groups) / len(groups)
    alike = (shares[None] ** np.bincount(codes)[:, None]).sum(axis=1)
    return np.log(np.maximum(alike, _CHANCE)).sum() < np.log(_CHANCE)


def _depend_on(codes, column, outcomes):
    """Return whether outcomes differ more between values of one group than chance lets them.

    So do those of people, whose rows are then no independent people; of first names, which tell
    sex as well, they do not.
    """
    groups, names = numbers_of(column)
    n_values = int(codes.max()) + 1
    of_group, within = ((_away_within(c, outcomes) ** 2).sum() for c in (groups, codes))
    freedom, squares = (n_values - len(names), len(codes) - n_values), (of_group - within, within)
    if min(freedom) < 1 or squares[0] <= 0:
        return False
    if squares[1] <= 0:  # all rows of each value agree
        return True
    ratio = squares[0] / freedom[0] / (squares[1] / freedom[1])
    return stats.f.sf(ratio, *freedom) < _CHANCE


def _misses(column, yes, no):
    """Return how many outcomes the values of a column do not give, and a threshold of them."""
    codes, values = numbers_of(column)
    codes = np.where(codes < 0, len(values), codes)
    sides = [np.bincount(codes, weights=w, minlength=len(values) + 1) for w in (yes, no)]
    # a value of a single person gives nobody else's outcome: identifiers give none
    wrong = np.where(sides[0] + sides[1] <= 1, sides[0] + sides[1], np.minimum(*sides))
    by_threshold = np.inf
    if is_numeric_dtype(values) and not is_bool_dtype(values) and len(values) > 2:
        order = np.argsort(np.asarray(values, dtype=float))
        below = [np.concatenate([[0], np.cumsum(side[:-1][order])]) for side in sides]
        errors = [below[i] + (below[1 - i][-1] - below[1 - i]) for i in (0, 1)]
        by_threshold = np.min(errors) + wrong[-1]
    return wrong.sum(), by_threshold


def codes_of_missing(X, least=1):
    """Return a note on frequent numbers far from all others, such as an age of 999 or -1.

    They stand at one end of a column, and are as far from the other numbers as these are apart; a
    negative one among numbers that are not may be nearer. 0 is no such code.

    `least`: fewest rows that have such a number. Shapes: `X` (n_rows, n_columns).
    """
    notes = []
    for name, column in X.items():
        if not is_numeric_dtype(column) or is_bool_dtype(column):
            continue
        numbers = column.dropna().to_numpy(dtype=float)
        values, times = np.unique(numbers, return_counts=True)
        for i in _codes_at_an_end(values, times, max(least, _CODES_SHARE * len(X))):
            text = f"{values[i]:.15g}"
            notes.append(
                _above(
                    name,
                    "code",
                    "code counts",
                    "code missing",
                    value=text,
                    n=f"{times[i]:,}",
                    option=f"--missing {_quoted(f'{name}={text}')}",
                )
            )
    return notes


def _codes_at_an_end(values, times, fewest):
    """Return the places of up to three sorted numbers that are codes."""
    if not np.isfinite(values).all() or not len(times) or max(times[0], times[-1]) < fewest:
        return []
    places = []
    for sign in (-1, 1, -1):  # once more below, where the codes above made all others look near
        remaining = np.setdiff1d(np.arange(len(values)), places)
        order = remaining if sign < 0 else remaining[::-1]  # from this end inwards
        for k in range(1, _MOST_CODES + 1):
            codes, values_beyond = order[:k], values[order[k:]]
            if len(values_beyond) < _OTHERS or np.any(times[codes] < fewest):
                break
            span, gap = np.ptp(values_beyond), np.abs(values[codes[-1]] - values_beyond[0])
            is_negative = sign < 0 and values[codes].max() < 0 <= values_beyond.min()
            steps = np.median(np.abs(np.diff(values_beyond)))
            near = is_negative and gap >= _GAP_NEGATIVE * span and gap > 1.5 * steps
            rare = times[codes].sum() <= _CODES_MOST * times.sum()
            if (gap >= _GAP * span or near) and rare and not np.any(values[codes] == 0):
                places += codes.tolist()
                break
    return sorted(places)


def spellings(X, protected, least=1, frequency=None):
    """Return a note on each protected column with values that differ by case or blanks alone.

    `least`: fewest people whose shared value is named. `frequency`: number of people of each row;
    None: 1. Shapes: `X` (n_rows, n_columns).
    """
    notes = []
    for name in protected:
        column = X[name]
        if is_numeric_dtype(column):
            continue
        counts = _counts(column, frequency)
        same = {}
        for value, n in counts.items():
            if isinstance(value, str):
                same.setdefault(folded(value), []).append((value, n))
        several = [_named(pairs, least) for pairs in same.values() if len(pairs) > 1]
        if several:
            fields = {"values": "; ".join(several), "option": f"--fold {_quoted(name)}"}
            notes.append(_above(name, "spellings", "own groups", "make one", **fields))
    return notes


def favorable_spellings(what, values, favorable, least=1, frequency=None):
    """Return a note if outcomes differ from a favorable one by case or blanks alone.

    `what`: one of "label", "decision". `least`: fewest people whose shared value is named.
    `frequency`: number of people of each row; None: 1.
    """
    texts = {folded(v) for v in favorable if isinstance(v, str)}
    counts = _counts(pd.Series(np.asarray(values, dtype=object)), frequency)
    spellings = [(v, n) for v, n in counts.items() if isinstance(v, str) and folded(v) in texts]
    times = Counter(folded(v) for v, _ in spellings)
    spellings = [(v, n) for v, n in spellings if times[folded(v)] > 1]
    if not spellings:
        return []
    are_favorable = is_favorable(np.array([v for v, _ in spellings], dtype=object), favorable)
    unfavorable = [pair for pair, is_in in zip(spellings, are_favorable, strict=True) if not is_in]
    done, option = SENTENCES["all favorable"], SENTENCES["exact text"]
    if unfavorable:
        done = SENTENCES["some unfavorable"].format(values=_named(unfavorable, least))
        option = SENTENCES["not exact"]
    observation = SENTENCES[f"{what} spellings"].format(values=_named(spellings, least))
    return [TableNote(None, observation, done, option, above=True)]


def copies(X, y=None):
    """Return a note if rows seem to be copies, or outcomes of neighboring rows alike.

    `X`, of shape (n_rows, n_columns): with identifiers, without which copies cannot be told from
    people who are alike.
    """
    notes = []
    for text in dependent_rows(X, y):
        of_copies = "copies" in text
        observation, end, done = text.partition(". If so, " if ". If so, " in text else " If ")
        done = f"if so, {done}" if "so" in end else f"if {done}"
        done = done.rpartition(": ")[0]  # what can be done is the option
        option = SENTENCES["drop copies" if of_copies else "say which"]
        notes.append(TableNote(None, observation.rstrip("."), done, option, above=True))
    return notes


def numbers_of_people(X, y):
    """Return a note on a column that seems to count the people of each row.

    In a table of counts, each row is another combination of the other columns and the outcome, and
    most combinations are there.

    Shapes: `X` (n_rows, n_columns).
    """
    notes = []
    if y is None or len(X) < _FEWEST_COUNTS:
        return notes
    table = X.assign(**{_OUTCOME: np.asarray(y)})
    sizes = {name: max(table[name].nunique(dropna=False), 1) for name in table}
    n_cells = math.prod(sizes.values())
    for name, column in X.items():
        if n_cells // sizes[name] > _MOST_CELLS * len(X) or not is_integer_dtype(column):
            continue
        if (column < 0).any() or column.max() < _MANY_PEOPLE:
            continue
        if table.drop(columns=name).duplicated().any():
            continue
        option = f"--counts {_quoted(name)}"
        notes.append(
            _above(name, "counted rows", "counts as a column", "number of people", option=option)
        )
    return notes


def identifiers(X, protected):
    """Return a note on each column in which all rows differ, copies aside.

    Shapes: `X` (n_rows, n_columns).
    """
    if len(X) < _MANY:
        return []
    unprotected = [(n, c) for n, c in X.items() if n not in protected]
    listed = [n for n, c in unprotected if is_integer_dtype(c) or is_string_dtype(c)]
    n_distinct = len(X) - int(X[listed].duplicated().sum())
    return [
        TableNote(
            str(name),
            "each row, copies aside, has a value of its own, as identifiers do",
            "is held equal, and explains nothing",
            _leave_out(name),
        )
        for name in listed
        if X[name].nunique() == n_distinct > _NEARLY * len(X)
    ]


def missing_with(X, protected, least=1):
    """Return a note on each column whose missing values go with a protected column.

    `least`: fewest people of a group that is compared. Shapes: `X` (n_rows, n_columns).
    """
    notes = []
    for name, column in X.items():
        is_missing = column.isna().to_numpy()
        if name in protected or not _MISSING_SHARE <= is_missing.mean() < 1:
            continue
        for attribute in protected:
            groups = X[attribute]
            if groups.nunique() > _MOST_GROUPS:
                continue
            table = pd.crosstab(groups, is_missing)
            table = table[table.sum(axis=1) >= max(least, _FEWEST)]
            if table.shape[0] < 2 or table.shape[1] < 2 or (table.sum() == 0).any():
                continue
            shares = table[True] / table.sum(axis=1)
            p = stats.chi2_contingency(table).pvalue
            if p > _CHANCE or np.ptp(shares) < _MISSING_GAP:
                continue
            most, fewest = shares.idxmax(), shares.idxmin()
            observation = (
                f"missing for {shares.max():.0%} where {attribute} is {plain(most)!r}, and for "
                f"{shares.min():.0%} where it is {plain(fewest)!r}"
            ).replace("%", " %")
            done = f"that it is missing counts as a value, which stands for {attribute} in part"
            notes.append(TableNote(str(name), observation, done, _leave_out(name)))
    return notes


def stand_ins(X, protected):
    """Return a note on each column that goes strongly with a protected one.

    Numbers are looked at in bins. Columns in which most rows differ go with everything, and are not
    looked at.

    Shapes: `X` (n_rows, n_columns).
    """
    notes = []
    for name in X.columns.difference(protected, sort=False):
        if X[name].nunique() > _MANY and not is_numeric_dtype(X[name]):
            continue
        for attribute in protected:
            if X[attribute].nunique() > _MOST_GROUPS:
                continue
            binned = Discretizer().fit_transform(X[[name]])[name]
            table = pd.crosstab(binned, X[attribute]).to_numpy()
            v = cramers_v(table, table.sum()) if min(table.shape) > 1 else 0.0
            if v >= STRONG_V:
                notes.append(
                    _above(
                        name,
                        "stand-in",
                        "runs through",
                        "leave out",
                        attribute=repr(attribute),
                        v=f"{v:.2f}",
                        option=_ignored(name),
                    )
                )
    return notes


def small_groups(X, protected, relevant_size, least=1, frequency=None):
    """Return one note on the people of each protected column in groups too small to be judged.

    `relevant_size`: smallest share of the people that a group judged holds. `least`: smallest
    number that is told. `frequency`: number of people of each row; None: 1. Shapes: `X` (n_rows,
    n_columns).
    """
    notes = []
    n_all = len(X) if frequency is None else int(np.sum(frequency))
    for name in protected:
        column, group_counts = X[name], []
        is_missing = column.isna().to_numpy()
        n_missing = int(is_missing.sum() if frequency is None else np.sum(frequency[is_missing]))
        if 0 < n_missing < relevant_size * n_all:
            group_counts.append(f"{_number_or_fewer(n_missing, least)} without a value")
        if column.nunique() <= _MOST_GROUPS:
            counts = _counts(column, frequency)
            small = counts[counts < relevant_size * n_all]
            if len(small):
                several = f"{len(small)} small group{'s' * (len(small) > 1)}"
                group_counts.append(f"{_number_or_fewer(int(small.sum()), least)} in {several}")
        if group_counts:
            done = f"under {100 * relevant_size:g} % of the people each: too few to be judged alone"
            option = "--relevant-size changes the share"
            notes.append(TableNote(str(name), f"people: {', '.join(group_counts)}", done, option))
    return notes


def _counts(column, frequency):
    """Return the number of people of each value, the most frequent first."""
    if frequency is None:
        return counts_of_values(column)
    people = pd.Series(np.asarray(frequency)).groupby(column.to_numpy()).sum()
    return people.sort_values(ascending=False)


def _above(column, seen, done="", option="", /, **fields):
    """Return a note that stands above the answers, of sentences that are named.

    `column`: None for the whole table. `fields`: what the sentences have places for.
    """
    names = (seen, done, option)
    texts = (SENTENCES[name].format(**fields) if name else "" for name in names)
    return TableNote(None if column is None else str(column), *texts, above=True)


def _outcome_again(name, seen, **fields):
    """Return a note on a column that may be the outcome in other words."""
    return _above(name, seen, "outcome again", "leave out", option=_ignored(name), **fields)


def _leave_out(name):
    return SENTENCES["leave out"].format(option=_ignored(name))


def _ignored(name):
    return f"--ignore {_quoted(name)}"


def _quoted(name):
    """Return a name as an argument of the command line."""
    return shlex.quote(str(name))


def _number_or_fewer(n, least):
    return f"{n:,}" if n >= least else f"fewer than {least}"


def _named(pairs, least):
    """Return values with their numbers of people; values of few people are only counted."""
    texts = [f"{value!r} ({n:,})" for value, n in pairs if n >= least]
    n_of_few = len(pairs) - len(texts)
    if n_of_few:
        texts.append(SENTENCES["of few"].format(n=n_of_few, least=least))
    return ", ".join(texts)
