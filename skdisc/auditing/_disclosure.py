"""Public audits: which groups they look at, chosen by columns, and what whole numbers tell then."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import joblib
import numpy as np
import pandas as pd

from skdisc._stats._printed_sums import MOST, PrintedSums, choose
from skdisc._stats._whole_numbers import discloses_few, printable_blocks
from skdisc.auditing._audited_rows import AuditedRows
from skdisc.auditing._figures import RATE_OF
from skdisc.auditing._numbers import banded
from skdisc.auditing._plan import PUBLIC_DETECTORS as DETECTORS
from skdisc.auditing._public import merged

INTERNAL, PUBLIC = "internal", "public"
SELECTION = "selection_rate"
_AT_DEFAULT = {  # what other values of a setting would add to the sums that are printed
    "confirm": "rates of the rows held out are further sums",
    "settings": "they may ask about other groups or rows",
    "missing": "without some people, the same rates would tell about these",
    "n_bins": "numbers are cut at their quartiles in all public documents about a table",
    "metric": "the groups are chosen for selection rates and rates of errors only",
    "adjust_for": "no question at equal legitimate columns is asked",
    "counterfactuals": "no question about single people is asked",
}
_DEEP = 5  # columns up to which contexts may have two conditions
_COST = 5e9  # multiplications, some seconds; deeper contexts are not asked about for more


def check_public(audit: Any, X: Any, weight: Any, groups: Any) -> None:
    """Raise ValueError for what a public document cannot have."""
    defaults = type(audit)().get_params(deep=False)
    for name, reason in _AT_DEFAULT.items():
        value = getattr(audit, name)
        value = value[0] if name == "metric" and len(value) == 1 else value
        if isinstance(value, np.ndarray | pd.DataFrame) or value != defaults[name]:
            raise ValueError(f"disclosure='public' takes no {name}: {reason}. Leave it out.")
    limits = [] if audit.limits is None else audit.limits.changed()
    for name in [n for n in limits if n != "seconds"]:
        raise ValueError(
            f"disclosure='public' takes no limit of {name}: with another one, other groups or rows "
            "would be asked about. Leave it out."
        )
    named = [audit.detectors] if isinstance(audit.detectors, str) else list(audit.detectors)
    unsupported = [n for n in named if n not in (*DETECTORS, "auto")]
    if unsupported:
        raise ValueError(
            f"disclosure='public' has no detector {unsupported[0]!r}, whose numbers are no sums "
            f"over groups. It takes 'auto', or some of: {', '.join(DETECTORS)}."
        )
    passed = {"groups": groups}
    if audit.weights != "frequency":
        passed["sample_weight"] = weight
    for name, value in passed.items():
        if value is not None:
            raise ValueError(
                f"disclosure='public' takes no {name}: what is printed must follow from numbers "
                "of people alone."
            )
    if X is not None and not hasattr(X, "__array__") and not hasattr(X, "columns"):
        raise ValueError("disclosure='public' takes the rows of a table: a DataFrame or an array.")


def public_rows(
    audited: AuditedRows, min_cell: int, more: pd.DataFrame | None = None
) -> AuditedRows:
    """Return the rows of a public audit: joined values, and the choice of groups.

    `more`, of shape (n_rows, n_columns): further columns that describe people, and that the audit
    does not use.
    """
    X = pd.DataFrame(
        {name: merged(audited.X[name], 2 * min_cell) for name in audited.X}, index=audited.X.index
    )
    described = {str(name): X[name].to_numpy() for name in X}
    for name in () if more is None else more:
        described[str(name)] = merged(more[name], 2 * min_cell)
    numbers = audited.numbers
    if numbers is not None:
        numbers = replace(numbers, raw=banded(numbers.raw, 2 * min_cell))
        audited = replace(audited, numbers=numbers, y=None if audited.y is None else numbers.raw)
        quarters = np.unique(np.quantile(numbers.raw, [0.25, 0.5, 0.75], method="higher"))
        is_above = [(numbers.raw >= step).astype(int) for step in quarters]
        choice = PublicChoice(described, min_cell, outcomes=is_above)
        return replace(audited, X=X, original=audited.X, choice=choice)
    bases, outcomes = [], [audited.outcomes]
    if audited.y is not None and audited.box is not None:
        labels = audited.labels
        bases = [labels == 1, labels == 0, audited.outcomes == 1]
        outcomes += [audited.outcomes, audited.outcomes, labels, labels]
    choice = PublicChoice(described, min_cell, bases, outcomes=outcomes)
    rows = replace(audited, X=X, original=audited.X, choice=choice)
    vars(rows)["outcomes"] = audited.outcomes  # what a model decides about values as they were
    return rows


class PublicChoice:
    """The groups that public documents about a table may look at.

    A row asks for a group of one value, and for those with other values of the column, both in a
    context of up to two conditions on other columns. All columns are asked about, whichever a
    document is about, in an order of the columns alone: fewest conditions, then the larger smaller
    side, then names. Rates among some people only, such as the qualified, have a choice of their
    own among the rows that are allowed for all people.

    Parameters
    ----------
    columns : dict of str to ndarray of str, shape (n_rows,)
        With joined values.
    bases : sequence of ndarray of bool, shape (n_rows,)
        Whom the rates of errors are about.
    most : float, default=0.5
        Share of the variation of a small set that printed sums may explain.
    outcomes : sequence of ndarray of 0 and 1, shape (n_rows,), default=()
        Outcomes of all people, of each base, and of all people again if a base is an outcome. All
        groups by the same columns are left out together if it would follow from whole numbers of
        people that all or none of some people have the outcome. Without outcomes, only columns
        decide.

    Attributes
    ----------
    depth : int
        Most conditions of a context that is asked about: two, up to five columns; fewer, if the
        choice would take too long.
    not_crossed : list of list of str
        Columns whose values combined are left out for the sake of whole numbers.
    """

    def __init__(
        self,
        columns: dict[str, np.ndarray],
        min_cell: int,
        bases: Sequence[np.ndarray] = (),
        most: float = MOST,
        outcomes: Sequence[np.ndarray] = (),
    ) -> None:
        self.min_cell, self.n_rows = min_cell, len(next(iter(columns.values())))
        varied = {name: values for name, values in columns.items() if (values != values[0]).any()}
        self._names = sorted(varied)  # the choice must not depend on the order of columns
        self.depth, self._rows, self._sums, self.not_crossed = 0, [], [], []
        self._chosen = self._chosen_by_all = np.zeros(0, dtype=bool)
        if not varied:
            return
        several = [varied[name] for name in self._names]
        self._sums = [PrintedSums(several, min_cell, base, most) for base in (None, *bases)]
        self._values = [np.sort(pd.unique(values)) for values in several]
        self._rows = self._affordable()
        masks = np.array([self._sides(row) for row in self._rows], dtype=bool)
        masks = masks.reshape(len(self._rows), 2, len(self._sums[0].first))
        self._chosen = self._sums[0].choose(masks)
        if bases:
            self._chosen_by_all = choose(self._sums[1:], masks[self._chosen])
        if len(outcomes):
            self._leave_room(masks, outcomes)

    def looks_at(
        self, groups: np.ndarray, contexts: np.ndarray | None = None, errors: bool = False
    ) -> np.ndarray:
        """Return which groups a document may compare with the others in their contexts.

        `contexts`, of shape (n_groups, n_rows): the group and those that it is compared with; None:
        everyone. `errors`: whether rates of errors are compared, too. Shapes: `groups` (n_groups,
        n_rows).
        """
        may = np.full(len(groups), bool(self._sums))
        for sums in self._sums if errors else self._sums[:1]:
            members = groups[:, sums.first]
            around = np.ones_like(members) if contexts is None else contexts[:, sums.first]
            for side in (members, around & ~members):
                may &= side @ sums.people >= self.min_cell
            may[may] = sums.follow(members[may]) & sums.follow(around[may])
        return may

    @property
    def fingerprint(self) -> str:
        """A hash of what is chosen."""
        return joblib.hash([self._names, self._rows, self._chosen, self._chosen_by_all])

    def refused(self, protected: Sequence[str], most: int) -> int:
        """Return how many groups of protected columns, of up to `most` conditions, are refused.

        Smaller ones than `min_cell` on a side are not counted.
        """
        protected_numbers = {self._names.index(str(n)) for n in protected if str(n) in self._names}
        is_candidate = [row[0] in protected_numbers and len(row[2]) < most for row in self._rows]
        return int(np.count_nonzero(np.array(is_candidate, dtype=bool) & ~self._chosen))

    def _leave_room(self, masks, outcomes):
        """Leave out the groups of columns whose sums, as whole numbers, tell of few people."""
        everyone = np.ones((1, masks.shape[2]), dtype=bool)
        by_all = self._chosen.copy()
        if len(self._sums) > 1:
            by_all[by_all] = self._chosen_by_all
        several = []  # sums, rows and outcomes of each rate
        for i, outcome in enumerate(outcomes):
            sums = self._sums[i if i < len(self._sums) else 0]
            rows = by_all if i else self._chosen
            base = outcome if sums.base is None else outcome * sums.base
            several.append((sums, rows, sums.in_cells(base)))
        tables = [tuple(sorted((row[0], *(c for c, _ in row[2])))) for row in self._rows]
        names = sorted(set(tables), key=lambda columns: (len(columns), columns))
        number = np.array([names.index(columns) for columns in tables], dtype=int)

        def discloses(tables_to_keep):
            inside = np.isin(number, tables_to_keep)
            return any(
                discloses_few(sums, np.concatenate([everyone, *masks[rows & inside]]), favorable)
                for sums, rows, favorable in several
            )

        used = np.unique(number[self._chosen]).tolist()
        tables_to_keep = printable_blocks(used, discloses)
        if len(tables_to_keep) == len(used):
            return
        out = [names[i] for i in used if i not in tables_to_keep]
        self.not_crossed = [[self._names[c] for c in columns] for columns in out]
        self._chosen &= np.isin(number, tables_to_keep)
        by_all &= self._chosen
        for i, sums in enumerate(self._sums):
            sums.start_again()
            sums.choose(masks[by_all if i else self._chosen])
        if len(self._sums) > 1:
            self._chosen_by_all = by_all[self._chosen]

    def _affordable(self):
        """Return the rows that are asked for, in order."""
        rows, n_cells = [], len(self._sums[0].first)
        for depth in range(3 if len(self._names) <= _DEEP else 2):
            deeper = list(self._candidates(depth))
            n = len(rows) + len(deeper)
            rank = min(2 * n, n_cells, self._rank_of_tables(depth + 1))
            if depth and 4.0 * n * rank * n_cells > _COST:
                break
            self.depth = depth
            rows += sorted(deeper)
        return [row[2:] for row in rows]

    def _rank_of_tables(self, most):
        """Return the largest number of independent sums of all tables of up to `most` columns."""
        terms = np.zeros(most + 1)  # by the number of columns; each has a value that follows
        terms[0] = 1
        for values in self._values:
            terms[1:] += terms[:-1] * (len(values) - 1)
        return terms.sum()

    def _candidates(self, depth) -> Iterator[tuple]:
        """Yield size, name, column, value and context of rows in contexts of `depth` columns."""
        cells, people = self._sums[0].cells, self._sums[0].people
        several = range(len(self._names))
        for column in several:
            other_columns = [c for c in several if c != column]
            for around in combinations(other_columns, depth):
                shape = [len(self._values[c]) for c in (*around, column)]
                number = np.ravel_multi_index(tuple(cells[:, c] for c in (*around, column)), shape)
                n = np.bincount(number, people, int(np.prod(shape))).reshape(shape)
                smaller = np.minimum(n, n.sum(axis=-1, keepdims=True) - n)
                for place in np.argwhere(smaller >= self.min_cell).tolist():
                    context = tuple(zip(around, place[:-1], strict=True))
                    conditions = ((column, place[-1]), *context)
                    name = tuple((self._names[c], str(self._values[c][v])) for c, v in conditions)
                    yield -float(smaller[tuple(place)]), name, column, place[-1], context

    def _sides(self, row):
        """Return the cells of the group of a row, and the cells of the others."""
        column, value, context = row
        cells = self._sums[0].cells
        inside = np.ones(len(cells), dtype=bool)
        for c, v in context:
            inside &= cells[:, c] == v
        is_group = cells[:, column] == value
        return inside & is_group, inside & ~is_group


def public_notes(audited: AuditedRows, audit: Any) -> list[str]:
    """Return what a public document says about itself, in sentences."""
    choice, least = audited.choice, 2 * audit.min_cell
    n = choice.refused(audited.protected, audit.max_predicates)
    refused_groups = f"{n:,} group{'s' * (n != 1)} {'was' if n == 1 else 'were'} not looked at"
    depth = ("no condition", "up to one condition", "up to two conditions")[choice.depth]
    tables = "; ".join(" with ".join(map(repr, names)) for names in choice.not_crossed)
    outcome, on_bands = "have the outcome", []
    if audited.numbers is not None:
        outcome = "are in the lower half, or in a quarter, of all numbers"
        n_bands = len(np.unique(audited.numbers.raw))
        on_bands = [
            f"Numbers count as the middle of their band, in three digits: {n_bands} bands of "
            f"{least} people or more. So figures do not tell where in its band a number lies, and "
            "the highest numbers count as the middle of the highest band. Means and gaps are those "
            "of these numbers."
        ]
    sentence_on_tables = (
        f"Several sums together would tell that all or none of some people {outcome}. So groups by "
        "the values of these columns are looked at only where they follow from others: "
        f"{tables}."
    )
    return [
        f"This is a public document: {refused_groups}, to protect people.",
        f"Values of fewer than {least} people are joined, and numbers are cut at their quartiles. "
        f"Groups within contexts of {depth} are looked at if nothing follows from all that is "
        f"printed about fewer than {audit.min_cell} people whom columns describe. Questions at "
        "equal legitimate columns, and about single people, are not asked.",
        *on_bands,
        *([sentence_on_tables] if tables else []),
    ]


def asks_about_errors(step: Any) -> bool:
    """Return whether a step compares rates of errors, or of the people selected."""
    rates = {RATE_OF.get(m, SELECTION) for m in step.settings.get("measures", ())}
    return bool(rates - {SELECTION})


def public_document(document: dict, sentences: list[str]) -> dict:
    """Return a document that has nothing but what follows from sums over groups.

    Notes of detectors and notices are about rows; what the page says first is for whom it is.
    """
    about = document["about"]
    about = about | {"sentence": f"{about['sentence']} {sentences[0]}"}
    log = [line | {"notes": []} for line in document["log"]]
    limits = [*document["limits"], *sentences]
    return document | {"about": about, "log": log, "notices": [], "limits": limits}
