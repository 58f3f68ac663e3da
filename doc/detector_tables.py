"""The tables of detectors on the pages: ``python doc/detector_tables.py`` writes them anew.

A page has a table between ``<!-- table: NAME -->`` and ``<!-- end of table -->``. The site makes
the tables anew whenever it is built, so that a new detector needs no edit of a page. The
listing that ``skdisc detectors`` prints is written, too.
"""

import re
from pathlib import Path

import pandas as pd

from skdisc import Audit, BlackBox, all_detectors
from skdisc.auditing._audited_rows import AuditedRows
from skdisc.auditing._plan import make_plan
from skdisc.cli._detectors import LISTING, listed

HERE = Path(__file__).parent
TABLE = re.compile(r"(?<=<!-- table: )(\w+) -->\n.*?(?=<!-- end of table -->)", re.S)
NOT_RUN = {  # what is said about a detector that does not run, by the footnote of the page
    1: "queries a model",
    2: "counterfactuals=",
    3: "outcomes y",
    4: "settings={'place'",
    5: "orders people by scores",
    6: "as they arrive",
}
NO_NUMBERS = {"counts": "no (1)", "boundary": "no (4)", "errors": "no (5)"}
ROOMS = ("group", "monitoring", "subgroup", "individual")


def detectors():
    """Map the name of each detector, with its package, to the class, in the order of tables."""
    named = {f"{cls.__module__.split('.')[1]}.{name}": cls for name, cls in all_detectors().items()}
    return dict(sorted(named.items(), key=lambda item: ROOMS.index(item[0].split(".")[0])))


def summaries():
    """Return what each detector finds and needs."""
    return {name: (cls.card.summary, cls.card.needs) for name, cls in detectors().items()}


def claims():
    """Return what "disparity found" of each detector claims."""
    rows = {}
    for cls in detectors().values():
        null = cls.null if isinstance(cls.null, str) else cls(protected=["sex"]).null
        nulls = "; ".join(filter(None, [null, cls.card.other_null]))
        rows[cls.__name__] = nulls, cls.card.claims, cls.card.does_not_say
    return rows


def what_decides():
    """Return what decides "no disparity found" of each detector."""
    return {
        cls.__name__: (cls.card.family, cls.card.bounded, cls.card.decides)
        for cls in detectors().values()
    }


def kinds():
    """Return which kinds of decisions each detector takes, and by which setting."""
    return {name: ("yes", "yes", *_of_numbers(cls)) for name, cls in all_detectors().items()}


def _of_numbers(cls):
    """Return the cells about probabilities of a model, numbers in y and numbers of a model."""
    if takes(cls, "mode", "continuous"):
        return "yes", *['by `mode="continuous"`'] * 2
    is_scored = takes(cls, "output", "probability")
    probabilities = 'by `output="probability"`' if is_scored else "no (1)"
    if not takes(cls, "output", "value"):
        return probabilities, *[NO_NUMBERS[cls._no_numbers]] * 2
    of_values = 'by `output="value"`'
    if cls._asks:
        return probabilities, "no (2)", of_values
    return probabilities, of_values, of_values if "scores" in cls._needs else "no (3)"


def takes(cls, setting, value):
    """Return whether a setting of a detector may have a value."""
    constraints = cls._parameter_constraints.get(setting) or ()
    return any(value in getattr(one, "options", ()) for one in constraints)


def plan():
    """Return what an audit with ``detectors="all"`` runs, for three kinds of data."""
    X = pd.DataFrame({"race": list("ab") * 20, "town": [0] * 20 + [1] * 20, "x": [*range(40)]})
    y = (X["x"] % 3 == 0).astype(int)
    by_places = {"settings": {"place": "town"}}
    given = [
        (None, {}),
        (BlackBox(decisions=(X["x"] % 5 > 2).astype(int)), by_places),
        (BlackBox(lambda rows: (rows["x"] > 20).astype(int)), {}),
    ]
    plans = [_roles(X, y, model, settings) for model, settings in given]
    return {name: tuple(roles[name] for roles in plans) for name in all_detectors()}


def _roles(X, y, model, settings):
    """Return the role of each detector in an audit, or the footnote that says why it has none."""
    audit = Audit(protected=["race"], detectors="all", **settings)
    planned = make_plan(audit, AuditedRows.read(audit, X, y, model, None, None))
    roles = {step.detector: step.role.replace("corroborates", "beside") for step in planned.steps}
    for line in planned.not_run:
        number = next(n for n, reason in NOT_RUN.items() if reason in line["reason"])
        roles[line["detector"]] = f"no ({number})"
    return roles


TABLES = {
    "all": (("Detector", "Finds", "Needs"), summaries),
    "claims": (("Detector", "Null word", "Claims", "Does not say"), claims),
    "decides": (("Detector", "Family", "What is bounded", "What decides"), what_decides),
    "kinds": (
        (
            *("Detector", "Labels", "Several classes", "Probabilities of a model"),
            *("Numbers in y", "Numbers of a model"),
        ),
        kinds,
    ),
    "plan": (
        ("Detector", "Labels", "Decisions with outcomes and places", "A model, with labels"),
        plan,
    ),
}


def written(name):
    """Return a table in Markdown: one line for all detectors of equal cells."""
    head, make = TABLES[name]
    joined = {}
    for detector, cells in make().items():
        joined.setdefault(cells, []).append(f"`{detector}`")
    lines = [head, ["---"] * len(head)]
    lines += [(", ".join(names), *cells) for cells, names in joined.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_tables(text):
    """Return the text of a page with its tables made anew."""
    return TABLE.sub(lambda found: f"{found[1]} -->\n\n{written(found[1])}\n\n", text)


if __name__ == "__main__":
    for page in HERE.glob("*.md"):
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
    LISTING.write_text(listed(), encoding="utf-8")
