"""The tutorials run from top to bottom, and print what they say."""

import re
import shlex
from pathlib import Path

import pytest

from skdisc import cli

ROOT = Path(__file__).parents[1] / "doc"
PAGES = [*sorted((ROOT / "tutorials").glob("[!i]*.md")), ROOT / "how_to_read.md"]
VERDICTS = cli.NOTHING_FOUND, cli.DISPARITY_FOUND, cli.INSUFFICIENT


def printed(language, code, names, capsys):
    """Run a block and return what it prints."""
    capsys.readouterr()
    if language == "python":
        exec(compile(code, "a tutorial", "exec"), names)
        return capsys.readouterr().out
    for line in re.findall(r"^ *skdisc (.*)$", code, re.M):
        assert cli.main(shlex.split(line)) in VERDICTS, line
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_prints_what_it_says(page, tmp_path, monkeypatch, capsys, request):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    text = page.read_text(encoding="utf-8")
    if "fetch_" in text:
        request.getfixturevalue("named_data_dir")
    monkeypatch.chdir(tmp_path)
    names, said = {}, ""
    blocks = re.findall(r"^ *```(python|sh|text|toml)\n(.*?)^ *```$", text, re.S | re.M)
    assert len(blocks) >= 5
    for language, code in blocks:
        if language == "text":
            lines = [line.rstrip() for line in said.strip("\n").splitlines()]
            assert "\n".join(lines) == code.rstrip("\n")
        elif language == "toml":  # its first line names the file
            Path(re.match(r"# (\S+)", code)[1]).write_text(code, encoding="utf-8")
        else:
            said = printed(language, code, names, capsys)
