"""Rules of the source that no other tool checks."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "skdisc").rglob("*.py"))
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
MACHINE_PATH = re.compile(
    r"""(?:^|[\s'"`(=:,])(?:/(?:home|root|Users|tmp|work|workspace|mnt|private|media)/\w|[A-Z]:\\Users)""",
    re.MULTILINE,
)


def is_print(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print"


def is_stub(node):
    """Return whether a statement raises NotImplementedError; what a library raises is caught."""
    raised = getattr(node, "exc", None)
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(node, ast.Raise) and getattr(raised, "id", None) == "NotImplementedError"


def breaches(name, text):
    """List what a source file of the package does against the rules."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := UNFINISHED.search(line):
            found.append(f"line {number}: {match[0]}")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if (ast.get_docstring(node) or "").startswith("Say "):
                found.append(f"line {node.lineno}: {node.name} returns or raises, it does not say")
        elif isinstance(node, ast.ClassDef):
            if not node.name.startswith("_") and not ast.get_docstring(node):
                found.append(f"line {node.lineno}: class {node.name} has no docstring")
        elif is_stub(node):
            found.append(f"line {node.lineno}: NotImplementedError")
        elif is_print(node) and not name.startswith("cli/"):
            found.append(f"line {node.lineno}: print")
    return found


def inside(path):
    return path.relative_to(ROOT / "skdisc").as_posix()


def test_source_keeps_the_rules():
    assert SOURCES
    found = [
        f"{path.relative_to(ROOT).as_posix()} {breach}"
        for path in SOURCES
        for breach in breaches(
            path.relative_to(ROOT / "skdisc").as_posix(), path.read_text(encoding="utf-8")
        )
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("_a.py", "x = 1\nclass A:\n    pass\n", "line 2: class A has no docstring"),
        (
            "_a.py",
            'def f(x):\n    """Say whether x."""\n',
            "line 1: f returns or raises, it does not say",
        ),
        ("_a.py", "x = 1\nprint(x)\n", "line 2: print"),
        ("_a.py", "raise NotImplementedError\n", "line 1: NotImplementedError"),
        ("_a.py", "x = 1\nraise NotImplementedError('x')\n", "line 2: NotImplementedError"),
        ("_a.py", "x = 1  # TODO\n", "line 1: TODO"),
    ],
)
def test_breaches_are_found(name, text, message):
    assert breaches(name, text) == [message]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("_a.py", "class _A:\n    pass\n"),
        ("_a.py", 'class A:\n    """An A."""\n'),
        ("_a.py", "pprint(x)\nx = NotImplemented\n"),
        ("_a.py", "try:\n    f()\nexcept NotImplementedError:\n    x = 1\n"),
        ("cli/_main.py", "print(1)\n"),
    ],
)
def test_good_source_passes(name, text):
    assert breaches(name, text) == []


def text_files():
    """Yield path and text of the files under version control; of all files where there is none."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not hidden(path.relative_to(ROOT))]
    for path in filter(Path.is_file, paths):
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # not text
            continue


def hidden(path):
    return any(part.startswith(".") and part != ".ci" for part in path.parts)


def test_no_path_of_one_machine():
    found = [
        f"{path.as_posix()}:{text.count(chr(10), 0, match.end()) + 1} {match[0].strip()}"
        for path, text in text_files()
        for match in MACHINE_PATH.finditer(text)
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("folder", ["home", "root", "tmp", "work"])
def test_a_path_of_one_machine_is_found(folder):
    assert MACHINE_PATH.search(f"x = 1\npath = '/{folder}/data.csv'")
    assert not MACHINE_PATH.search(f"https://example.org/{folder}/data.csv")
