"""The tests on the page about testing fail as it says, with messages that show people."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DRAWS = """
from hypothesis import settings

settings.register_profile("of the page", derandomize=True)
settings.load_profile("of the page")
"""
PAGE = Path(__file__).parents[2] / "doc" / "testing.md"


@pytest.mark.slow
def test_what_the_tests_print(tmp_path):
    pytest.importorskip("hypothesis")
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    (said,) = re.findall(r"^```text\n(.*?)^```", text, re.S | re.M)
    (tmp_path / "test_bank.py").write_text(code, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(DRAWS, encoding="utf-8")  # the page shows these people
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = [sys.executable, "-m", "pytest", *options, "test_bank.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert "10 failed" in done.stdout
    printed = {line[8:].strip() for line in done.stdout.splitlines() if line.startswith("E       ")}
    people = [line.strip() for line in said.splitlines() if re.search(r"^\s+\d .* [FM]\b", line)]
    assert len(people) >= 10
    assert set(people) <= printed
    assert said.count("test_") >= 10
