"""The footnotes to the table of plans in doc/audit.md: each reason that the table names."""

import re
import runpy
from pathlib import Path

DOC = Path(__file__).parents[2] / "doc"


def test_the_page_has_a_footnote_for_each_reason():
    tables = runpy.run_path(str(DOC / "detector_tables.py"))
    page = (DOC / "audit.md").read_text(encoding="utf-8")
    named = set(re.findall(r"no \((\d)\)", tables["written"]("plan")))
    below = page.split("<!-- table: plan -->")[1].split("<!-- end of table -->")[1]
    footnotes = re.findall(r"^(\d)\. ", below.split("\n\n")[1], re.M)
    assert footnotes == sorted(named) == [str(number) for number in tables["NOT_RUN"]]
