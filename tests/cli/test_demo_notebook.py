"""The notebook of the demo: a valid file, whose code runs and comes to the answer of the demo."""

import json

import pytest

from skdisc import cli


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "--notebook", "demo.ipynb", "--seed", "1"]) == 0
    return json.loads((tmp_path / "demo.ipynb").read_text(encoding="utf-8"))


def test_format(notebook):
    assert notebook["nbformat"] == 4
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"markdown", "code"}
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert ("outputs" in cell) == (cell["cell_type"] == "code")


@pytest.mark.slow
def test_code_runs(notebook, tmp_path):
    pytest.importorskip("jinja2")
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(cell["source"], names)
    assert names["report"].verdict == "disparity found"
    assert (tmp_path / "audit.html").is_file()


def test_a_folder_that_is_not_there_is_said(tmp_path, capsys):
    assert cli.main(["demo", "--notebook", str(tmp_path / "no" / "demo.ipynb")]) != 0
    assert "no" in capsys.readouterr().err
