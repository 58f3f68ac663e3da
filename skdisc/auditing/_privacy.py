"""The document of an audit without the people in it."""

from itertools import groupby

from skdisc.auditing._evidence import ranked_again

_NUMBERS = ("rate", "gap", "ci_low", "ci_high", "ci_level")
_OF_GROUP = ("effect", "ci_low", "ci_high", "ci_level", "people")


def without_people(document, shared, min_cell):
    """Return a document that describes no group of fewer than `min_cell` people, and no person.

    Small groups are counted in `groups`, and left out elsewhere; how many findings that concerns is
    said in `limits`. So are gaps from few others, which tell what these got, and rates of few, such
    as those of the selected of a group. Values that fewer people share are not named, and in
    made-up inputs rounded to one digit or withheld.

    `document`: as the schema has it. `shared`: the values that at least `min_cell` people share.
    """
    hidden = _hidden(document, min_cell)

    def is_described(row):
        enough = row.get("people") is None or row["people"] >= min_cell
        enough = enough and (row.get("group"), row.get("effect")) not in hidden
        described = {n: v for n, v in row.items() if n not in ("reason", "aside")}
        return enough and all(shared.describe(text) for text in _texts(described))

    evidence = [row for row in document["evidence"] if is_described(row)]
    ranks = {row["rank"]: i for i, row in enumerate(evidence, 1)}
    shadows = [s for s in document["shadows"] if is_described(s) and s["of"] in ranks]
    n_left = len(document["evidence"]) - len(evidence) + len(document["shadows"]) - len(shadows)
    rates = [row for row in document["groups"] if row["measure"] == "selection_rate"]
    small = {row["group"] for row in rates if row["suppressed"] or row["n"] < min_cell}
    gaps = [g for g in document["gaps"] if g["group"] not in small]
    unnamed = {g["group"] for g in gaps if not is_described(g)}
    limits = list(document["limits"])

    def of_enough(rows):
        return [row for row in rows if row["group"] not in small and is_described(row)]

    def is_shown(row):
        few = [n for n in (row["people"], row["others"]) if n is not None and n < min_cell]
        gap = row["group"], row["estimate"]
        return not few and gap not in hidden and shared.describe(row["group"])

    if n_left:
        limits.append(
            f"{n_left:,} findings and shadows are left out, because they are about groups of fewer "
            f"than {min_cell} people, compare with fewer, or name values that fewer people share."
        )
    return document | {
        "verdicts": [
            _verdict(row, is_described(row), shared, min_cell) for row in document["verdicts"]
        ],
        "evidence": [_of_people(row) | ranked_again(row, ranks) for row in evidence],
        "shadows": [_of_people(s) | {"of": ranks[s["of"]]} for s in shadows],
        "groups": _groups(document["groups"], shared, min_cell),
        "gaps": [g for g in gaps if g["group"] not in unnamed],
        "comparable": of_enough(document["comparable"]),
        "legitimate": [
            row | {"associated": of_enough(row["associated"])} for row in document["legitimate"]
        ],
        "figures": [row for row in document["figures"] if is_shown(row)],
        "families": [row for row in document["families"] if is_shown(row)],
        "cases": [_case(row, shared) for row in document["cases"]],
        "log": [_line(row, shared, min_cell) for row in document["log"]],
        "not_run": [
            row | {"reason": shared.reason(row["reason"], min_cell)} for row in document["not_run"]
        ],
        "limits": limits,
    }


def _hidden(document, min_cell):
    """Return (group, gap) pairs of gaps that are about few people or few others."""
    rows = [(row, row["gap"]) for row in document["groups"] if row["suppressed"]]
    findings = [*document["evidence"], *document["shadows"]]
    findings_of_few = [row for row in findings if row.get("fewest", min_cell) < min_cell]
    rows += [
        (row, row.get(name)) for row in findings_of_few for name in ("effect", "held_out_effect")
    ]
    return {(row["group"], gap) for row, gap in rows if gap is not None}


def _of_people(row):
    """Return a row without a number of people that the document does not have."""
    return {name: value for name, value in row.items() if name != "fewest"}


def _texts(value):
    """Yield all texts of a value of JSON types."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _verdict(row, is_told, shared, min_cell):
    """Return a verdict; one about a group that is not described keeps its p-values."""
    hidden = {} if is_told else dict.fromkeys(("group", "measure", *_OF_GROUP))
    aside = row["aside"] and shared.counted(row["aside"])
    texts = {"reason": shared.reason(row["reason"], min_cell), "aside": aside}
    return row | texts | (hidden if row["kind"] == "cell" else {})


def _line(row, shared, min_cell):
    """Return a line of the log without the notes that name people."""
    notes = [note for note in row["notes"] if shared.describe(note)]
    return row | {"reason": shared.reason(row["reason"], min_cell), "notes": notes}


def _groups(rows, shared, min_cell):
    """Return the groups; the small ones of an attribute by a measure are one row."""

    def name(row):
        if row["n"] >= min_cell and shared.describe(row["group"]):
            return row["group"]
        return None if shared.values else row["group"]  # published counts have names

    is_small = [row["suppressed"] or row["n"] < min_cell for row in rows]
    rows_to_show = [
        row | (_suppressed() if f else {}) for row, f in zip(rows, is_small, strict=True)
    ]
    shown = [row for row in rows_to_show if name(row) is not None]
    unnamed = sorted((row for row in rows_to_show if name(row) is None), key=_place)
    for _, several in groupby(unnamed, key=_place):
        several = list(several)
        text = f"{len(several)} group{'s' * (len(several) > 1)} of fewer than {min_cell} people"
        total = {"group": text, "n": sum(r["n"] for r in several)}
        shown.append(several[0] | total | _suppressed())
    return shown


def _place(row):
    return row["attribute"], row["measure"]


def _suppressed():
    return {**dict.fromkeys(_NUMBERS), "judged": False, "suppressed": True}


def _case(row, shared):
    """Return the cases of a detector with examples in values that enough people share."""
    if not row["made_up"]:
        return row | {"examples": []}
    examples = []
    for example in row["examples"]:
        ends = {
            end: {c: shared.shown(c, v) for c, v in example[end].items()}
            for end in ("original", "altered")
        }
        examples.append(example | ends)
    return row | {"examples": examples}
