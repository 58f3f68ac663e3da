"""The JSON Schema of documents: exactly the contract, no more and no less."""

import json
from pathlib import Path

import jsonschema
import pytest
from documents import at, breaches, example, places

from skdisc import AuditReport

PLACES = list(places(example()))
OPTIONAL = {  # parts of reports of pay, and what these may lack
    *(((), name) for name in ("pay", "about_pay")),
    *((("about_pay", "columns"), name) for name in ("category", "base", "variable", "hours")),
    *((("about_pay", "implausible"), name) for name in ("wrong", "to check")),
}


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(AuditReport.schema())
    assert AuditReport.schema()["properties"]["schema"]["const"] == example()["schema"]


def test_the_example_is_valid():
    assert breaches(example()) == []


@pytest.mark.every(6)
@pytest.mark.parametrize("path", PLACES, ids=str)
def test_every_key_is_needed_and_no_other_is_known(path):
    for key in list(at(example(), path)):
        if (path, key) in OPTIONAL:
            continue
        document = example()
        del at(document, path)[key]
        assert breaches(document), f"{path}: {key} may be missing"
    document = example()
    at(document, path)["unknown"] = 1
    assert breaches(document), f"{path} may have other keys"


@pytest.mark.parametrize("value", [float("nan"), "0.5", True], ids=repr)
def test_numbers_are_numbers(value):
    document = example()
    document["evidence"][0]["effect"] = value
    if value != value:
        with pytest.raises(ValueError, match="not JSON compliant"):
            AuditReport(document).to_json()
    else:
        assert breaches(document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict", "verdict"), "fair"),
        (("verdicts", 0, "null"), "something"),
        (("verdicts", 0, "p_value"), 1.5),
        (("about", "audited"), "people"),
        (("fingerprints", "data"), "short"),
        (("shadows", 0, "of"), 0),
        (("groups", 0, "n"), -1),
        (("schema",), "skdisc-audit/1"),
    ],
)
def test_values_are_checked(path, value):
    document = example()
    at(document, path[:-1])[path[-1]] = value
    assert breaches(document)


def test_the_schema_is_package_data():
    root = Path(__file__).resolve().parents[2]
    assert "schemas/*.json" in (root / "setup.cfg").read_text(encoding="utf-8")
    text = (root / "skdisc/auditing/schemas/audit-2.json").read_text(encoding="utf-8")
    assert json.loads(text) == AuditReport.schema()
