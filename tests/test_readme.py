"""The README's example runs as it stands and prints what it says; its table names detectors."""

import re
import subprocess
import sys
from pathlib import Path

from skdisc import all_detectors

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_example_prints_what_the_readme_says():
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.S).groups()
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout == output


def test_table_of_detectors_names_detectors():
    """The complete list is that of ``skdisc detectors``, which needs no editing."""
    named = re.findall(r"^\| `\w+\.(\w+)` \|", README, re.M)
    assert len(named) > 20
    assert len(set(named)) == len(named)
    assert set(named) <= set(all_detectors())
