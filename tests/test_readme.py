"""The README's example runs as it stands and prints what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["README.md", "doc/audit.md"])
def test_examples_print_what_the_page_says(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    pairs = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S)
    assert pairs
    for code, output in pairs:
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
        )
        assert run.stderr == ""
        assert run.stdout == output
