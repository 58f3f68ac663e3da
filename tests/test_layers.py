"""The arrows of the package point downward: imports are read from the source, not believed."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "skdisc"

LAYERS = (
    "_space _subgroup _case _model _budget _stats _exact _result _validation exceptions _optional "
    "_answers _card _column _missing _domain _finding _findings _group_findings _case_findings "
    "_frames _hashing _bins _items _keys _kinds _notes _progress _recipes _resolve _task "
    "_gradient _rows _torch _weights _doubts",
    "measures _nearest _neighbors causal datasets",
    "base",
    "individual subgroup group",
    "repair benchmark testing plotting report _registry _files _choices",
    "cli _benchmark_commands __main__",
)
LEVEL = {unit: level for level, units in enumerate(LAYERS) for unit in units.split()}
TOP = len(LAYERS) - 1
APART = {"individual", "subgroup", "group"}  # these never look sideways
SEES_ONLY_GROUND = {"plotting"}  # draws results and knows no detector
GROUND = {"numpy", "scipy", "pandas", "sklearn", "joblib"} | sys.stdlib_module_names
FREE_NAMES = {"__version__"}  # what the package's own __init__ gives to every layer
LEVEL_0_MAY = "numpy, scipy, pandas, sklearn, joblib and the standard library"


def modules_imported(tree, package):
    """Yield ``(line, dotted name)`` of everything that a file imports, wherever it stands in it.

    ``package`` is the dotted package of the file; relative imports are resolved against it.
    For ``from a import b`` the name is ``a.b``: b may be a module.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute("." * node.level + (node.module or ""), package)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and called_name(node) in {"import_module", "__import__"}:
            name = node.args[0].value if node.args and is_text(node.args[0]) else ""
            if name:
                yield node.lineno, absolute(name, package)


def absolute(name, package):
    dots = len(name) - len(name.lstrip("."))
    parts = package.split(".")
    kept = parts[: len(parts) - dots + 1] if dots else []
    return ".".join([*kept, *filter(None, [name[dots:]])])


def called_name(call):
    return getattr(call.func, "id", getattr(call.func, "attr", None))


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def wrong_arrow(unit, name, package):
    """Say what is wrong when ``unit`` imports ``name``; None when nothing is."""
    top, _, rest = name.partition(".")
    level = LEVEL[unit]
    if top != package:
        foreign = level == 0 and top not in GROUND
        return f"imports {name}; level 0 may import {LEVEL_0_MAY} only" if foreign else None
    target = rest.partition(".")[0]
    if target in FREE_NAMES or target == unit:
        return None
    if target not in LEVEL:
        allowed = level == TOP
        return None if allowed else f"imports {name}, which is no module of a layer: name its home"
    if LEVEL[target] > level:
        return f"imports {target}: upward, from level {level} to level {LEVEL[target]}"
    if unit in APART and target in APART:
        return f"imports {target}: sideways; what both need moves down"
    if unit in SEES_ONLY_GROUND and LEVEL[target] > 0:
        return f"imports {target} of level {LEVEL[target]}; {unit} sees level 0 only"
    return None


def violations(root):
    """Check every file of the package at ``root`` against the table of layers."""
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        unit = parts[0].removesuffix(".py")
        if parts == ("__init__.py",):  # the package itself may refer to everything
            continue
        where = "/".join((root.name, *parts))
        if unit not in LEVEL:
            found.append(f"{where} is in no layer: give it one in tests/test_layers.py")
            continue
        package = ".".join((root.name, *parts[:-1]))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in modules_imported(tree, package):
            if wrong := wrong_arrow(unit, name, root.name):
                found.append(f"{where}:{line} {wrong}")
    return found


def test_arrows_point_downward():
    assert list(PACKAGE.rglob("*.py")), f"no source under {PACKAGE}"
    found = violations(PACKAGE)
    assert not found, "\n" + "\n".join(found)


def plant(tmp_path, file, source):
    """Write a package ``skdisc`` of one file."""
    path = tmp_path / "skdisc" / file
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    return tmp_path / "skdisc"


@pytest.mark.parametrize(
    ("file", "source", "message"),
    [
        ("_stats.py", "from .base import BaseDetector", ":1 imports base: upward"),
        ("_stats.py", "from skdisc.measures import x", ":1 imports measures: upward"),
        ("_stats.py", "import skdisc.cli", ":1 imports cli: upward, from level 0 to level 5"),
        ("_stats.py", "from . import base", ":1 imports base: upward"),
        ("_stats.py", "def f():\n    from skdisc import base", ":2 imports base: upward"),
        ("base.py", "import importlib as i\ni.import_module('.cli', 'skdisc')", ":2 imports cli"),
        ("base.py", "__import__('skdisc.group')", ":1 imports group: upward"),
        ("individual/_sg.py", "from ..subgroup import Lattice", ":1 imports subgroup: sideways"),
        ("subgroup/_walk.py", "from .. import group", ":1 imports group: sideways"),
        ("group/a/b.py", "from ...individual._sg import s", ":1 imports individual: sideways"),
        ("measures/_tests.py", "from ..cli import main", ":1 imports cli: upward"),
        ("plotting/_bars.py", "from ..subgroup import S", "plotting sees level 0 only"),
        ("_stats.py", "import matplotlib.pyplot", ":1 imports matplotlib.pyplot; level 0 may"),
        ("_model.py", "from imblearn.base import x", ":1 imports imblearn.base.x; level 0 may"),
        ("_stats.py", "from skdisc import BlackBox", "skdisc.BlackBox, which is no module"),
        ("report/_html.py", "import skdisc", ":1 imports skdisc, which is no module"),
        ("base.py", "from skdisc._stray import x", "skdisc._stray.x, which is no module"),
        ("_stray.py", "", " is in no layer"),
        ("extras/__init__.py", "", " is in no layer"),
    ],
)
def test_wrong_arrows_are_found(tmp_path, file, source, message):
    (found,) = violations(plant(tmp_path, file, source))
    assert found.startswith(f"skdisc/{file}")
    assert message in found


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("__init__.py", "from .cli import main\nfrom ._stray import x"),
        ("_stats.py", "import os\nimport numpy as np\nfrom scipy import stats"),
        ("_stats.py", "from . import _space\nfrom skdisc._keys import join"),
        ("_result.py", "from skdisc import __version__"),
        ("individual/_adf.py", "from ._search import s\nfrom ..base import B\nimport torch"),
        ("subgroup/__init__.py", "from ._walk import Walk\nfrom .. import _space, measures"),
        ("plotting/_bars.py", "import matplotlib\nfrom .._result import AuditResult"),
        ("_registry.py", "from importlib import import_module\nimport_module('skdisc.group')"),
        ("report/_html.py", "from . import _summary\nfrom .._files import write"),
        ("cli.py", "import skdisc\nfrom skdisc import BlackBox\nfrom . import individual"),
        ("__main__.py", "from .cli import main"),
    ],
)
def test_right_arrows_pass(tmp_path, file, source):
    assert violations(plant(tmp_path, file, source)) == []
