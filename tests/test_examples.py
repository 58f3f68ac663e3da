"""Every page of the gallery runs from beginning to end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.slow  # all together
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path, request):
    if "fetch_" in path.read_text(encoding="utf-8"):
        request.getfixturevalue("named_data_dir")
    done = subprocess.run(
        [sys.executable, path],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_there_are_examples():
    assert len(EXAMPLES) >= 12
