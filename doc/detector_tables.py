"""The tables of detectors on the pages: ``python doc/detector_tables.py`` writes them anew.

A page has a table between ``<!-- table: NAME -->`` and ``<!-- end of table -->``. The site makes
the tables anew whenever it is built, so that a new detector needs no edit of a page.
"""

import re
from pathlib import Path

from skdisc import all_detectors

HERE = Path(__file__).parent
TABLE = re.compile(r"(?<=<!-- table: )(\w+) -->\n.*?(?=<!-- end of table -->)", re.S)
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


TABLES = {
    "all": (("Detector", "Finds", "Needs"), summaries),
    "claims": (("Detector", "Null word", "Claims", "Does not say"), claims),
    "decides": (("Detector", "Family", "What is bounded", "What decides"), what_decides),
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
