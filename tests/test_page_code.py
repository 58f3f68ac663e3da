"""The code of pages that consist of it runs, from top to bottom, without warnings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["questions.md", "migration.md", "facts.md"])
def test_code_runs(page, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "doc" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert len(blocks) >= 2
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["repair.md", "pursuit.md"])
def test_the_example_prints_what_its_page_says(page, capsys):
    text = (ROOT / "doc" / page).read_text(encoding="utf-8")
    code = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)[0]
    (printed,) = re.findall(r"^```text\n(.*?)^```", text, re.S | re.M)
    exec(compile(code, page, "exec"), {})
    assert capsys.readouterr().out == printed


def test_every_question_is_answered_by_code():
    text = (ROOT / "doc" / "questions.md").read_text(encoding="utf-8")
    for answer in text.split("\n## ")[1:]:
        assert "```python\n" in answer, answer.splitlines()[0]
        assert "](https://" in answer, answer.splitlines()[0]
