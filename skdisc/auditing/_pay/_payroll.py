"""The columns of a table of pay: read, checked, and taken out of what describes people."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length

from skdisc._utils._inputs import rows_in_words
from skdisc._utils._validation import check_protected, of_numbers
from skdisc.auditing._numbers import finite_numbers
from skdisc.auditing._pay._gaps import PaidPeople
from skdisc.auditing._pay._logib import check_logib, logib_columns
from skdisc.auditing._pay._templates import COLUMNS, LOGIB, MEN_WORDS, WOMEN_WORDS

_PART = 1e-9  # share of total pay by which sums of parts may differ


@dataclass(frozen=True)
class Payroll:
    """What is known of the pay of people, each array of shape (n,).

    Parameters
    ----------
    X : DataFrame of shape (n, n_columns)
        The columns that describe people, the category among them.
    people : PaidPeople
    total : ndarray of float
    base, variable, hours : ndarray of float or None
    category : ndarray of object or None
    names : dict of str to str or None
        The columns of ``pay=``, "sex", "women" and "men".
    audited : ndarray of bool, shape (n_rows,), or None
        The rows of the table with women and men, whom alone an audit compares; None: all. Others
        are among the n people if they are enough to be counted.
    logib : tuple of dict and DataFrame, or None
        The columns of Logib's model by what they are, and their values.
    """

    X: pd.DataFrame
    people: PaidPeople
    total: np.ndarray
    base: np.ndarray | None
    variable: np.ndarray | None
    hours: np.ndarray | None
    category: np.ndarray | None
    names: dict
    implausible: dict
    audited: np.ndarray | None = None
    logib: tuple[dict, pd.DataFrame] | None = None

    def of_audit(self) -> tuple[pd.DataFrame, pd.Series]:
        """Return the columns of women and men, and what an audit compares.

        It is total pay, per hour where hours are known.
        """
        name = "total pay" + " per hour" * (self.hours is not None)
        compared = pd.Series(self.per_hour(self.total), index=self.X.index, name=name)
        is_woman_or_man = self.people.is_woman | self.people.is_man
        return self.X[is_woman_or_man], compared[is_woman_or_man]

    def per_hour(self, pay: np.ndarray) -> np.ndarray:
        """Return pay per hour; as it is where no hours are known."""
        return pay if self.hours is None else pay / self.hours

    def part(self, name: str) -> np.ndarray | None:
        """Return total, base or variable pay."""
        return getattr(self, name)


def smallest_group(audit: Any) -> int:
    """Return how many people figures are about at least; twice as many in public reports."""
    return audit.min_cell * (2 if audit.disclosure == "public" else 1)


def read_payroll(audit: Any, X: Any, y: Any, model: Any, weight: Any, groups: Any) -> Payroll:
    """Return the pay of a table.

    Parameters
    ----------
    audit : Audit
        Its `pay` names columns of X.
    X : DataFrame
    y : array-like of shape (n,) or None
        Total pay; None: base and variable pay are added.
    model : object or None
        There may be none.
    weight, groups : array-like of shape (n,) or None

    Raises
    ------
    ValueError
        If a column is missing or holds what pay cannot be, or women and men are not told apart.
    """
    if not isinstance(X, pd.DataFrame):
        raise ValueError(
            f"template={audit.template!r} takes the rows of people as a DataFrame, whose columns "
            "pay={...} names."
        )
    if model is not None or audit.estimator is not None:
        raise ValueError(f"template={audit.template!r} is about pay in y, and takes no model.")
    if audit.confirm is not None:
        raise ValueError(
            f"template={audit.template!r} states figures of all people, and confirm (--confirm) "
            "would state those of the rows held out beside them: leave it out."
        )
    if audit.weights == "frequency":
        raise ValueError(
            f"template={audit.template!r} takes one row for each person: repeat the rows in place "
            "of weights='frequency'."
        )
    named = dict.fromkeys(COLUMNS) | {k: v for k, v in (audit.pay or {}).items() if k != LOGIB}
    _check_names(named, X)
    of_logib = check_logib(audit, X, weight is None and groups is None)
    if audit.output == "probability" or audit.outcome_scale != "difference":
        raise ValueError(
            f"template={audit.template!r} compares means of pay: leave out output and "
            "outcome_scale."
        )
    protected = check_protected(audit.protected, list(X))
    if not protected:
        raise ValueError("Audit needs protected=[...]: the column of sex, for a report of pay.")
    sex, distinct_values = _column_of_sex(X[protected], named["women"])
    woman, man = _sexes(distinct_values, sex, named["women"])
    is_woman, is_man = X[sex].isin(woman).to_numpy(), X[sex].isin(man).to_numpy()
    check_consistent_length(X, y, weight, groups)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float).ravel()
    weight = weight / weight.mean()  # so that quarters have as many people as there are
    cluster = None if groups is None else pd.factorize(pd.Series(np.asarray(groups).ravel()))[0]
    people = PaidPeople(is_woman, is_man, weight, cluster)
    is_woman_or_man, n_others = is_woman | is_man, people.sizes()[2]
    if 0 < n_others < smallest_group(audit):
        X, y, people = X[is_woman_or_man], _only(y, is_woman_or_man), people.only(is_woman_or_man)
    pay = {
        part: None if named[part] is None else _amounts(X[named[part]], named[part])
        for part in ("base", "variable")
    }
    total, base, variable = _parts(y, pay["base"], pay["variable"], named)
    hours = None if named["hours"] is None else _hours(X[named["hours"]], named["hours"])
    category = None if named["category"] is None else _texts(X[named["category"]])
    pay_columns = [named[part] for part in ("base", "variable", "hours") if named[part] is not None]
    names = {part: None if value is None else str(value) for part, value in named.items()}
    names |= {"sex": str(sex)}
    names |= {"women": " or ".join(map(str, woman)), "men": " or ".join(map(str, man))}
    described = _of_sexes(X.drop(columns=pay_columns), sex, people, names)
    if category is not None and of_numbers(described[named["category"]].dtype):
        described[named["category"]] = category  # numbers of grades are names, not cut into bins
    roll = Payroll(described, people, total, base, variable, hours, category, names, {})
    if of_logib is not None:
        roll = replace(roll, logib=(of_logib, logib_columns(X, of_logib)))
    return _with_implausible(roll, is_woman_or_man if n_others else None)


def _only(y, mask):
    """Return pay of some rows, with its name."""
    if y is None:
        return None
    return pd.Series(np.asarray(y).ravel()[mask], name=getattr(y, "name", None))


def _of_sexes(X, name, people, names):
    """Return a table in which several words for women, or for men, are one."""
    if X[name][people.is_woman | people.is_man].nunique() == 2:
        return X
    named = X[name].astype(object)
    for side, label in ((people.is_woman, "women"), (people.is_man, "men")):
        named = named.mask(side, names[label])
    X = X.copy()
    X[name] = named
    return X


def _check_names(named, X):
    """Raise ValueError if `pay` has another key, or names a column that X does not have."""
    unknown_keys = [key for key in named if key not in COLUMNS]
    if unknown_keys:
        raise ValueError(
            f"pay has no key {unknown_keys[0]!r}. Its keys: {', '.join((*COLUMNS, LOGIB))}."
        )
    columns = {part: name for part, name in named.items() if part != "women" and name is not None}
    for part, name in columns.items():
        if name not in X:
            raise ValueError(
                f"pay={{{part!r}: {name!r}}}: there is no column {name!r}. Columns: "
                f"{', '.join(map(str, X))}."
            )
    twice = [name for name in columns.values() if list(columns.values()).count(name) > 1]
    if twice:
        raise ValueError(f"pay names the column {twice[0]!r} twice.")


def _amounts(values, name):
    """Return amounts of pay."""
    n = int(values.isna().sum())
    if n:
        raise ValueError(
            f"{name!r} is missing in {rows_in_words(n)}: write 0 for people who received nothing, "
            "and leave out those whose pay nobody knows."
        )
    amounts = finite_numbers(values, repr(name))
    n = int((amounts < 0).sum())
    if n:
        raise ValueError(
            f"{name!r} is negative in {rows_in_words(n)}: corrections of earlier pay belong to the "
            "month that they correct; correct these rows, or leave them out."
        )
    return amounts


def _hours(values, name):
    """Return hours, all above 0."""
    hours = finite_numbers(values.fillna(0), repr(name))
    n = int((hours <= 0).sum())
    if n:
        raise ValueError(
            f"{name!r} is missing, 0 or less in {rows_in_words(n)}, whose pay per hour nobody "
            "knows: correct these rows, or leave them out."
        )
    return hours


def _parts(y, base, variable, named):
    """Return total, base and variable pay; what is not given follows from the other two."""
    if y is not None:
        name = getattr(y, "name", None) or "y"
        total = _amounts(pd.Series(np.asarray(y).ravel()), name)
        _check_part(variable, total, named["variable"], name)
        _check_part(base, total, named["base"], name)
        if base is None and variable is not None:
            base = total - variable
        elif variable is None and base is not None:
            variable = np.maximum(total - base, 0)
        return total, base, variable
    if base is None:
        raise ValueError(
            "Total pay is not known: pass it as y (--target COL), or name base pay, to which "
            "variable pay is added (--base COL --variable COL)."
        )
    variable = np.zeros(len(base)) if variable is None and named["variable"] else variable
    return (base if variable is None else base + variable), base, variable


def _check_part(part, total, name, total_name):
    """Raise ValueError if a part of pay is more than all of it."""
    n = 0 if part is None else int((part > total * (1 + _PART)).sum())
    if n:
        raise ValueError(
            f"{name!r} is larger than total pay ({total_name!r}) in {rows_in_words(n)}: both must "
            "be of the same period and currency; correct these rows, or leave the total out if it "
            "is base pay."
        )


def _column_of_sex(X, women):
    """Return the first of the protected columns that says who is a woman, and its values.

    If none does, the first. `women`: the value of women, or None if it has to be understood.
    """
    columns = [(name, X[name].dropna().unique()) for name in X]
    return next(((name, values) for name, values in columns if _women(values, women)), columns[0])


def _women(values, women):
    """Return the values that say that a person is a woman."""
    if women is not None:
        return [value for value in values if str(value) == str(women)]
    return [value for value in values if str(value).strip().lower() in WOMEN_WORDS]


def _sexes(values, name, women):
    """Return the values of women, and those of men."""
    woman = _women(values, women)
    man = [value for value in values if str(value).strip().lower() in MEN_WORDS]
    if women is not None:
        not_woman = [value for value in values if value not in woman]
        man = [v for v in man if v in not_woman] or (not_woman if len(not_woman) == 1 else [])
        if not woman:
            raise ValueError(f"{name!r} has no value {str(women)!r}. Its values: {_list(values)}.")
    if not woman and not man:
        raise ValueError(
            f"Which values of {name!r} are women is not known: {_list(values)}. Name it by "
            "--women VALUE (pay={'women': ...})."
        )
    missing = "women" if not woman else "men" if not man else None
    if missing:
        raise ValueError(
            f"There are no {missing} in {name!r} (values: {_list(values)}), so there is no gap: "
            "pass a table with women and men, or name the value of women by --women VALUE "
            "(pay={'women': ...})."
        )
    return woman, man


def _list(values):
    """Return the first values of a column, in the order of their texts."""
    shown = sorted(map(str, values))
    return ", ".join(shown[:6]) + ", …" * (len(shown) > 6)


def _texts(values):
    """Return values as text, those that are missing as 'missing'."""
    return values.astype(object).where(values.notna(), "missing").map(str).to_numpy()


_FAR, _UNUSUAL, _MOST_HOURS = 10.0, 4.0, 80


def _with_implausible(roll, audited):
    """Return a payroll with the numbers of rows that may be errors."""
    rate, category = roll.per_hour(roll.total), roll.category
    center = pd.Series(rate).groupby(np.zeros(len(rate)) if category is None else category)
    times = rate / np.maximum(center.transform("median").to_numpy(), np.finfo(float).tiny)
    wrong = (times > _FAR) | (times < 1 / _FAR)
    unusual = (times > _UNUSUAL) | (times < 1 / _UNUSUAL)
    if roll.hours is not None and np.median(roll.hours) <= _MOST_HOURS:  # hours of a week
        unusual |= roll.hours > _MOST_HOURS
    if roll.base is not None and roll.variable is not None:
        unusual |= np.abs(roll.base + roll.variable - roll.total) > 0.01 * roll.total
    counts = {"wrong": int(wrong.sum()), "to check": int((unusual & ~wrong).sum())}
    return replace(roll, implausible=counts, audited=audited)
