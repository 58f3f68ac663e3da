"""Internal documents: which rows are left out, because together the others would tell about few.

What a row prints depends on the sums of its group and of those that it is compared with. Rows are
asked in an order: single groups, findings by their evidence, and others by fewest conditions and
size. One after which the printed sums would explain nearly all of the variation of a small set of
people, were outcomes independent, is not shown.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc._results._findings import GroupFindings
from skdisc._results._judgment import FOUND, UNSURE, confirmed_p
from skdisc._space._bins import Bins
from skdisc._space._conjunction_texts import conditions_in
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc._space._subgroup import Subgroup
from skdisc._stats._packed_masks import PackedMasks
from skdisc._stats._printed_sums import PrintedSums
from skdisc._utils._hashing import numbers_of
from skdisc._utils._validation import of_numbers
from skdisc._verdicts._answer import reason_of
from skdisc.auditing._audited_rows import AMONG
from skdisc.auditing._cells import answer_facts
from skdisc.auditing._evidence import ranked_again
from skdisc.auditing._families import ends_of_bounds, listed
from skdisc.auditing._figures import RATE_OF, RATIO, TO_REFERENCE, as_gaps, has_reference
from skdisc.auditing._pay._record import printed_groups
from skdisc.auditing._pay._templates import OF_RATES
from skdisc.auditing._plan import LEAD
from skdisc.auditing._public import coded, text_of

MOST = 0.9  # of the variation of a small set; 1 is what follows by adding and subtracting
MOST_OF_SINGLE = 0.99  # 9 people of a group of 10 are 0.9 of it, which must not hide the others
_BITS = 40  # masks that are told apart in one number, beside codes
REST, REFERENCE = "rest", "reference"  # with whom a group is compared
_NUMBERS = ("effect", "ci_low", "ci_high", "ci_level", "people")


def with_joined_values(audited, audit):
    """Return the rows of an audit with the rare values of protected columns joined.

    Values of fewer than `min_cell` people are one, with the next rarest until they are enough, so
    that no single group has to be left out to protect them. Categories of a law stay as they are,
    and models decide about values as they were.
    """
    if audited.table is not None or audit.template in OF_RATES:
        return audited
    joined = {}
    for name in audited.protected:
        values = joined_values(
            audited.X[name],
            audit.min_cell,
            n_bins=Bins.of(audit.n_bins).most(name),
            is_value=audit.missing == "category",
            frequency=audited.frequency,
        )
        if values is not None:
            joined[name] = values
    if not joined:
        return audited
    rows = replace(audited, X=audited.X.assign(**joined), original=audited.X)
    vars(rows)["outcomes"] = audited.outcomes
    return rows


def as_read(audited):
    """Return rows with the values that they were read with."""
    return audited if audited.original is None else replace(audited, X=audited.original)


def joined_values(values, least, *, n_bins, is_value=True, frequency=None):
    """Return a column with its rare values joined; None if it stays as it is.

    A few people without a value count with the rare values; if there are none, with the largest
    value, whose rate they change least, or at the median of a number that is cut into bins.

    `least`: values of fewer people are rare. `n_bins`: a number with more values is cut into bins,
    which are large. `is_value`: whether people without a value are a group.
    """
    code, categories = pd.factorize(values)
    size = np.bincount(code + 1, frequency, len(categories) + 1)
    n_missing, size = size[0], size[1:]
    few_missing = is_value and 0 < n_missing < least
    is_cut = of_numbers(values.dtype) and len(categories) > n_bins
    if len(categories) < 2 or not (few_missing or size.min() < least):
        return None
    names = np.array([text_of(v) for v in categories], dtype=object)
    order = np.lexsort((names, size))
    if is_cut or size.min() >= least:
        most = np.sort(categories)[len(categories) // 2] if is_cut else categories[order[-1]]
        return values.where(values.notna(), most) if few_missing else None
    is_joined = size < least
    people = size[is_joined].sum() + n_missing * few_missing
    rest_name = next(n for n in ("others", "all others", "all the others") if n not in names)
    label = rest_name
    for i in order[is_joined.sum() :] if people < least else ():
        is_joined[i], people, label = True, people + size[i], f"{names[i]} or {rest_name}"
        if people >= least:
            break
    if is_joined.all() and (few_missing or not n_missing):
        return None  # one group is no column to ask about
    texts = np.append(np.where(is_joined, label, names), label if few_missing else None)
    return pd.Series(texts[code], index=values.index, dtype=object)  # -1 is missing


def notes_on_joined_values(audited):
    """Return sentences on which values were joined."""
    if audited.original is None:
        return []
    sentences = []
    for name in audited.protected:
        column, original = audited.X[name], audited.original[name]
        if column is original or column.equals(original):
            continue
        if column[original.notna()].equals(original[original.notna()]):
            place = "at its median" if column.nunique() > 10 else "with its largest group"
            sentences.append(
                f"The few people without a value of {str(name)!r} are counted {place}."
            )
        else:
            sentences.append(f"Values of {str(name)!r} that few people have are counted together.")
    return sentences


def hidden_rows(document, audit, audited, plan, results):
    """Return the rows of a document that are not shown.

    `document`: in which groups of fewer people are counted already. `audited`: AuditedRows.
    """
    hidden = HiddenRows(plan)
    order_of_key = _ordered_rows(document, hidden)
    for step, result in _leads(plan, results):
        for key in _of_smallest_p(step, result, hidden):
            order_of_key.setdefault(key, (2, len(conditions_in(key[1])) - 1, 0, key[1]))
    for step in plan.steps:
        if step.role != LEAD:
            continue
        result = results.get(step.name)
        family, keys = hidden.family(step, result)
        if not keys:
            continue
        is_listed = listed(family, result.answer)
        more = {key for key, is_in in zip(keys, is_listed, strict=True) if not is_in}
        hidden.unlisted |= more - order_of_key.keys()
    sides = _RowSides(audit, audited, plan, results)
    sides_of_key = {key: sides.of(key) for key in order_of_key}  # packed: there may be a thousand
    columns = sides.columns()
    hidden.keys |= {
        key
        for key, pair in sides_of_key.items()
        if pair is None or _is_of_few(pair, audit, audited)
    }
    for base in dict.fromkeys(key[2] for key in order_of_key):
        keys = [k for k in order_of_key if k[2] == base and k not in hidden.keys]
        keys.sort(key=order_of_key.get)
        if not keys:
            continue
        among = audited.frequency
        if base in AMONG:
            among = audited.among(base, True) * (1 if among is None else among)
        # a law's figures compare with one group, so that nothing tells about all people
        is_all_known = audit.template not in OF_RATES
        sums = PrintedSums(columns, audit.min_cell, among, MOST, is_all_known, _most_rows(audited))
        pairs = np.empty((len(keys), 2, -(-len(sums.first) // 8)), dtype=np.uint8)
        for pair, key in zip(pairs, keys, strict=True):
            pair[:] = np.packbits(sides_of_key[key].unpacked()[:, sums.first], axis=1)
        if audited.roll is not None:  # which are printed whatever is asked here
            of_pay = [side[sums.first] for side in printed_groups(audit, audited.roll)]
            if of_pay:
                sums.add(np.array(of_pay))
        most = np.array(
            [max(MOST_OF_SINGLE, MOST) if order_of_key[k][0] == 0 else MOST for k in keys]
        )
        chosen = sums.choose(PackedMasks(pairs, len(sums.first)), most)
        hidden.keys |= {k for k, stays in zip(keys, chosen, strict=True) if not stays}
    hidden.tied = _of_equal_p(plan, results, hidden)
    return hidden


def _is_of_few(pair, audit, audited):
    """Return whether a group or its rest in a report of pay has too few people."""
    if audited.roll is None or audited.groups is None:
        return False
    return any(len(np.unique(audited.groups[side])) < audit.min_cell for side in pair.unpacked())


def _most_rows(audited):
    """Return how many rows a person has at most in a report of pay, whose clusters are people."""
    if audited.roll is None or audited.groups is None:
        return 1
    return int(np.unique(audited.groups, return_counts=True)[1].max())


class HiddenRows:
    """The rows of a document that are not shown.

    Attributes
    ----------
    keys : set of (str, str, str, str)
        Attribute, group, the rate whose base a measure is about ("selection_rate" for everybody's),
        and whether the group is compared with the rest or with a reference.
    tied : set of (str, str, str, str)
        Rows that are shown, but whose corrected p-value may be that of a hidden one.
    small : set of (str, str, str, str)
        Rows of the families of questions that are left out, because they are about few people.
    unlisted : set of (str, str, str, str)
        Rows of families that are left out, because there are so many.
    """

    def __init__(self, plan):
        self.keys, self.tied, self.small, self.unlisted = set(), set(), set(), set()
        self._with_reference = {
            s.attribute for s in plan.steps if s.detector == "GroupDisparity" and has_reference(s)
        }

    def keys_of(self, row, part):
        """Return the keys of a row of a part of the document; none if it is about no group."""
        if row.get("group") is None or row.get("suppressed"):
            return []
        names = [row["attribute"]] if "attribute" in row else row["attributes"]
        return [
            self.key(name, row["group"], row.get("measure"), part, row.get("what", row.get("null")))
            for name in names
        ]

    def key(self, attribute, group, measure, part, what):
        """Return the key of a group by a measure."""
        base = RATE_OF.get(measure, measure)
        base = base if base in AMONG else "selection_rate"
        is_reference = part == "groups" or str(what).startswith((TO_REFERENCE, RATIO))
        is_reference |= what in ("marginal", "calibration") or base == "positive_predictive_value"
        versus = REFERENCE if is_reference and attribute in self._with_reference else REST
        return attribute, group, base, versus

    def hides(self, row, part):
        """Return whether a row is not shown."""
        return any(key in self.keys for key in self.keys_of(row, part))

    def add_small(self, plan, results, min_cell):
        """Note the rows of families with fewer than `min_cell` people on a side."""
        for step in plan.steps:
            table, keys = self.family(step, results.get(step.name))
            has_few = table[["n", "n_others"]].min(axis=1) < min_cell if keys else []
            self.small |= {key for key, is_few in zip(keys, has_few, strict=True) if is_few}

    def family(self, step, result):
        """Return the judged rows of the family of a step, and their keys."""
        table = None if result is None else result.tables.get("family")
        if table is None or not isinstance(result.findings, GroupFindings):
            return table, []
        table = table[table["judged"]]
        measures = table["measure"].where(table["measure"] != "", result.measure)
        several = zip(table["group"], measures, strict=True)
        return table, [self.key(step.attribute, g, m, "families", step.null) for g, m in several]

    def leaves_out(self, key):
        """Return whether a row of a family is not in the document."""
        return key in self.keys or key in self.small

    def without_ties(self, row, significance):
        """Return a finding whose corrected p-value is the level, if it may be a hidden row's."""
        if not any(key in self.tied for key in self.keys_of(row, "evidence")):
            return row
        return row | {"p_adjusted": significance if row["p_adjusted"] <= significance else 1.0}


def _of_equal_p(plan, results, hidden):
    """Return shown rows whose corrected p-value a hidden row may have, too."""
    more, not_shown = set(), hidden.keys | hidden.unlisted
    for step in plan.steps:
        result = results.get(step.name)
        if step.on != "given" or not _is_about_groups(step, result):
            continue
        keys, corrected = _keys(result, step, hidden)
        table = result.findings.table
        p = table["held_out_p_value" if "held_out_p_value" in table else "p_value"]
        is_hidden = np.array([key in not_shown for key in keys], dtype=bool)
        is_tied = tied_rows(corrected, p.to_numpy(dtype=float), is_hidden)
        more |= {keys[i] for i in np.flatnonzero(is_tied)}
    return more


def tied_rows(corrected, p, is_hidden):
    """Return which shown rows have a corrected p-value that a hidden row may have, too: a mask.

    A correction in steps gives a row the largest of the p-values before it.

    Shapes: `corrected`, `p` and `is_hidden` (n_rows,).
    """
    is_tied = np.zeros(len(p), dtype=bool)
    for i in np.flatnonzero(is_hidden & (corrected < 1)):
        is_equal = np.isclose(corrected, corrected[i], rtol=1e-9, atol=0)
        is_tied |= is_equal & ~np.isclose(p, p[i], rtol=1e-9, atol=0)
    return is_tied & ~is_hidden


def _is_about_groups(step, result):
    """Return whether a step has a p-value for each group."""
    is_asked = step.null in ("marginal", "contextual", "calibration")
    return is_asked and result is not None and isinstance(result.findings, GroupFindings)


def _leads(plan, results):
    """Return the steps that answer questions about groups, with their results."""
    pairs = [(s, results.get(s.name)) for s in plan.steps if s.role == LEAD]
    return [(step, result) for step, result in pairs if _is_about_groups(step, result)]


def _of_smallest_p(step, result, hidden):
    """Return the keys of rows whose p-value may be the p-value of the whole question.

    This is the smallest corrected p-value. A step-down correction takes it from the first row that
    has it, a step-up correction from the last one, which need not be a finding.
    """
    keys, corrected = _keys(result, step, hidden)
    table = result.findings.table
    p = table["p_value" if "p_value" in table else "p_adjusted"].to_numpy(dtype=float)
    least = np.nanmin(corrected, initial=1.0)
    if least >= 1:
        return set()
    equal = np.flatnonzero(np.isclose(corrected, least, rtol=1e-9, atol=0))
    ends = np.isclose(p[equal], p[equal].min()) | np.isclose(p[equal], p[equal].max())
    return {keys[i] for i in equal[ends]}


def _ordered_rows(document, hidden):
    """Return the rows of a document, each with its place in the order of asking."""
    order_of_key = {}

    def add(row, part, *place):
        for key in hidden.keys_of(row, part):
            order_of_key.setdefault(key, (*place, row["group"]))

    for part in ("groups", "comparable"):
        for row in document[part]:
            add(row, part, 0, 0, -(row.get("n") or row.get("people") or 0))
    for row in document["evidence"]:
        add(row, "evidence", 1, row["rank"], 0)
    attributes_of_rank = {row["rank"]: row["attributes"] for row in document["evidence"]}
    shadows = [row | {"attributes": attributes_of_rank[row["of"]]} for row in document["shadows"]]
    parts = {name: document[name] for name in ("verdicts", "families", "figures")}
    for part, several in (parts | {"shadows": shadows}).items():
        for row in several:
            n = len(conditions_in(row["group"])) - 1 if row.get("group") else 0
            add(row, part, 2, n, -(row.get("people") or 0))
    return order_of_key


class _RowSides:
    """The people of the groups that a document names, and those whom they are compared with.

    Names are looked up among the groups that detectors found, or built again of their conditions.
    """

    def __init__(self, audit, audited, plan, results):
        self.audited, self._drops = audited, audit.missing == "drop"
        space = FeatureSpace.from_frame(
            audited.X, protected=audited.protected, is_frame=audited.is_frame
        )
        bins = Bins.of(audit.n_bins) if audited.bins is None else audited.bins
        items = make_items(
            audited.X,
            space,
            features=list(audited.X),
            protected=audited.protected,
            n_bins=bins,
            weight=audited.weight,
            frequency=audited.frequency,
        )
        self._protected = {s.attribute: s.protected for s in plan.steps}
        self._groups, self._conditions = {}, {str(p): p for p in items.predicates}
        self._references = {}
        for step in plan.steps:
            result = results.get(step.name)
            if result is None or not isinstance(result.findings, GroupFindings):
                continue
            groups, table = result.findings.subgroups, result.findings.table
            for group in dict.fromkeys(groups):
                self._groups[str(group)] = group
                for predicate in getattr(group, "predicates", ()):
                    self._conditions[str(predicate)] = predicate
            if has_reference(step) and "reference" in table:
                for group, reference in zip(groups, table["reference"], strict=True):
                    self._references[step.attribute, str(group)] = str(reference)
        self._mask = audited.masks.meeting

    def of(self, key):
        """Return the masks of a group and of those it is compared with, as `PackedMasks`.

        None if it is unknown.
        """
        attribute, text, _, versus = key
        group_text, _, around = text.partition(" among ")
        group, context = self._read(group_text), self._read(around) if around else []
        if group is None or context is None:
            return None
        protected = self._protected.get(attribute, self.audited.protected)
        if not around:
            context = [p for p in group if p.column not in protected]
        inside = self._mask(context)
        if self._drops:
            inside = inside & self.audited.X[list(protected)].notna().all(axis=1).to_numpy()
        is_group = inside & self._mask(group)
        reference = self._references.get((attribute, text), text)
        if versus == REFERENCE and reference != "rest":
            conditions = self._read(reference)
            if conditions is None:
                return None
            return PackedMasks.of(np.stack([is_group, inside & self._mask(conditions)]))
        return PackedMasks.of(np.stack([is_group, inside & ~is_group]))

    def columns(self):
        """Return the columns that describe people, such that each group is a union of cells."""
        columns = []
        for name in self.audited.X:
            values = self.audited.X[name]
            if not of_numbers(values.dtype):
                columns.append(numbers_of(values)[0])
                continue
            intervals, code = coded(values)
            several = [p for p in self._conditions.values() if p.column == name]
            if len(intervals) < values.nunique(dropna=False):  # cut, and otherwise by conditions
                code = _parts(code, [self._mask([p]) for p in several])
            columns.append(code)
        return columns

    def _read(self, text):
        """Return the conditions of a group by its name; None if one of them is not known."""
        group = self._groups.get(text)
        if group is not None:
            return list(getattr(group, "predicates", ())) or None
        conditions = [self._conditions.get(condition) for condition in conditions_in(text)]
        if None in conditions:
            return None
        return conditions if str(Subgroup(conditions)) == text else None


def without_hidden(document, hidden, plan, results, audit):
    """Return a document without some rows, their p-values, and their part in counts and bounds.

    `hidden`: from `hidden_rows`.
    """
    hidden.add_small(plan, results, audit.min_cell)
    if not hidden.keys and not hidden.small and not hidden.unlisted:
        return document
    n = len({key[:2] for key in hidden.keys})
    are, they = ("s are", "they") if n > 1 else (" is", "it")
    sentence = (
        f"{n:,} further group{are} not shown, because together with the others {they} would tell "
        f"about fewer than {audit.min_cell} people."
    )
    changed = {
        part: [row for row in document[part] if not hidden.hides(row, part)]
        for part in ("groups", "comparable", "families", "figures")
    }
    evidence = [row for row in document["evidence"] if not hidden.hides(row, "evidence")]
    ranks = {row["rank"]: i for i, row in enumerate(evidence, 1)}
    names = {key[1] for key in hidden.keys}
    changed["gaps"] = [row for row in document["gaps"] if row["group"] not in names]
    level = audit.significance
    changed["evidence"] = [
        hidden.without_ties(row, level) | ranked_again(row, ranks) for row in evidence
    ]
    attributes_of_rank = {row["rank"]: row["attributes"] for row in evidence}
    named_shadows = [
        (row, row | {"attributes": attributes_of_rank.get(row["of"], [])})
        for row in document["shadows"]
    ]
    changed["shadows"] = [
        row
        | {"of": ranks[row["of"]], "p_adjusted": hidden.without_ties(named, level)["p_adjusted"]}
        for row, named in named_shadows
        if row["of"] in attributes_of_rank and not hidden.hides(named, "shadows")
    ]
    verdicts = [_shown_verdict(row, hidden, plan, results) for row in document["verdicts"]]
    changed["verdicts"] = _without_equal_p(verdicts, document["verdicts"])
    changed["log"] = [_shown_line(row, hidden, names, plan, results) for row in document["log"]]
    if hidden.keys:
        changed["limits"] = [*document["limits"], sentence]
        changed["about"] = document["about"] | {"n_not_shown": n}
    return document | changed


def leaves_out_rows(document):
    """Return whether rows of a document are not shown, because they would tell about few people."""
    return document["about"].get("n_not_shown", 0) > 0


def _keys(result, step, hidden):
    """Return the rows of the findings of a result, and their p-values."""
    table = as_gaps(result.findings.table)
    groups = map(str, result.findings.subgroups)
    part = "groups" if has_reference(step) else "evidence"
    keys = [
        hidden.key(step.attribute, group, measure, part, step.null)
        for group, measure in zip(groups, table["measure"], strict=True)
    ]
    return keys, confirmed_p(table).to_numpy(dtype=float)


def _shown_line(row, hidden, names, plan, results):
    """Return the line of a step in the log without the part of rows that are not shown."""
    result = results.get(row["name"])
    notes = [note for note in row["notes"] if not any(name in note for name in names)]
    row = row | {"notes": notes}
    if result is None or not isinstance(result.findings, GroupFindings):
        return row
    (step,) = (s for s in plan.steps if s.name == row["name"])
    keys, p = _keys(result, step, hidden)
    groups_tested = {key[1] for key in keys if key in hidden.keys}
    is_found = p <= result.significance
    groups_found = {k[1] for k, v in zip(keys, is_found, strict=True) if k in hidden.keys and v}
    n_tested = max(row["n_tested"] - len(groups_tested), 0)
    counts = {"n_tested": n_tested, "n_found": min(row["n_found"] - len(groups_found), n_tested)}
    family, of_family = hidden.family(step, result)
    if result.answer is None:
        return row | counts
    if groups_tested or any(map(hidden.leaves_out, of_family)):
        return row | counts | {"reason": ""}
    if row["reason"] == result.answer.reason and not hidden.unlisted.isdisjoint(of_family):
        is_hidden = np.zeros(len(of_family), dtype=bool)
        counts["reason"] = shown_answer(result.answer, family, is_hidden).reason
    return row | counts


def _shown_verdict(row, hidden, plan, results):
    """Return a verdict without the numbers of rows that are not shown.

    The verdict itself is about all groups. Its p-value is left out if it is the p-value of a hidden
    row, and its bound if it is the end of the interval of a hidden row.
    """
    if row["kind"] != "cell":
        return row
    cell = row["attribute"], row["null"]
    steps = plan.leads_of(cell)
    leads = [(s, results[s.name]) for s in steps if s.name in results]
    if not leads or not isinstance(leads[0][1].findings, GroupFindings):
        return row
    if hidden.hides(row, "verdicts"):
        row = row | dict.fromkeys(("group", "measure", *_NUMBERS))
    if any(_of_smallest_p(step, result, hidden) & hidden.keys for step, result in leads):
        row = row | {"p_value": None, "p_adjusted": None}
    step, result = leads[0]
    family, keys = hidden.family(step, result)
    if result.answer is None:
        return row
    is_hidden = np.array([hidden.leaves_out(key) for key in keys], dtype=bool)
    # Numbers that come from a row stand in no document without it; counts tell nothing about rows.
    if not is_hidden.any() and hidden.unlisted.isdisjoint(keys):
        return row
    answer = shown_answer(result.answer, family, is_hidden)
    shown = {"answer": answer_facts(answer), "bound": answer.bound}
    if row["reason"] == result.answer.reason:
        shown["reason"] = answer.reason
    elif row["p_value"] is None and row["verdict"] == UNSURE and result.verdict == FOUND:
        # The reason names the p-value, which is hidden.
        shown["reason"] = "not significant after correction for the number of questions"
    return row | shown


def _without_equal_p(rows, originals):
    """Return the verdicts without corrected p-values that equal a hidden one.

    Holm's correction takes a running maximum, so that several questions may share a corrected
    p-value: if it is hidden in one verdict, it must not be printed in another. A value of 1, which
    many questions have, says nothing about any of them.

    `rows`: the verdicts as they are shown; hidden p-values are None. `originals`: the same verdicts
    with all p-values.
    """
    hidden_p = [
        original["p_adjusted"]
        for row, original in zip(rows, originals, strict=True)
        if row["p_adjusted"] is None
    ]
    hidden_p = [p for p in hidden_p if p is not None and p < 1]
    return [row | {"p_adjusted": None} if row["p_adjusted"] in hidden_p else row for row in rows]


def _parts(code, masks):
    """Return a number for each row, which differs where its code or a mask does."""
    for start in range(0, len(masks), _BITS):
        for mask in masks[start : start + _BITS]:
            code = 2 * code + mask
        code = pd.factorize(code)[0]
    return code


def shown_answer(answer, family, is_hidden):
    """Return an answer about the groups that are shown, without bounds that hidden ones make."""
    is_found, is_cleared = (family[name].to_numpy(dtype=bool) for name in ("found", "cleared"))
    counts = [int(np.count_nonzero(is_hidden & mask)) for mask in (True, is_found, is_cleared)]
    if is_hidden.all():  # of two sides, one is counted
        counts = [answer.n_family, answer.n_found, answer.n_cleared]
    changes = dict(zip(("n_family", "n_found", "n_cleared"), counts, strict=True))
    changes = {name: max(getattr(answer, name) - n, 0) for name, n in changes.items()}
    changes |= {"curve": [], "ratio": None, "open_by_ratio": False, "bounds": {}}
    # Where a ratio left the question open, it would seem to be open beside a bound that closes it.
    if answer.open_by_ratio or (is_hidden & ends_of_bounds(family, answer)).any():
        changes |= {"bound": None, "resolution": None}
    shown = replace(answer, **changes)
    # A reason of its own, such as too few clusters, has no numbers of groups.
    has_numbers = answer.bound is not None or answer.n_cleared or answer.curve
    if has_numbers or answer.verdict == FOUND:
        return replace(shown, reason=reason_of(shown))
    return shown
