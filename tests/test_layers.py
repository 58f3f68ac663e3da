"""The arrows of the package point downward: imports are read from the source, not believed."""

import ast
import sys
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "skdisc"

LAYERS = (
    "_utils _stats exceptions",
    "_space _verdicts _blackbox _neighbors _expectations",
    "_task _results _counts causal measures datasets",
    "base report plotting preprocessing",
    "individual subgroup group monitoring",
    "_registry repair extending multiclass",
    "auditing testing",
    "benchmark model_selection",
    "app cli __main__",
)
LEVEL = {unit: level for level, units in enumerate(LAYERS) for unit in units.split()}
TOP = len(LAYERS) - 1
APART = {"individual", "subgroup", "group", "monitoring"}  # these never look sideways
ROOMS = {  # inside a room, a file or folder imports its own entry and earlier ones only
    "individual": ("_base _prober _case_share _group_comparison", "_search", "*"),
    "subgroup": ("_lattice", "_estimation", "_base", "*"),
    "group": ("_pairwise", "*"),
    "measures": (
        "_formula",
        "_conditional _dependence",
        "*",
        "_disparities",
        "_scorer",
        "_constrained_scorer",
    ),
    "datasets": (
        "_copula",
        "_bayesian_network",
        "_convert _scenario",
        "_store",
        "_fetch",
        "_synthetic",
        "*",
    ),
    "benchmark": (
        "_match _known_truth _score _tables _figures",
        "_benchmark_result",
        "_run",
        "_tune",
        "_protocols",
        "_replication",
        "_article",
    ),
}
PAPERS = {"individual", "subgroup", "group"}  # here the files under "*" never import each other
SEES_ONLY = {"plotting": {"_results", "_utils", "_stats", "_space"}}  # draws results only
GROUND = {"numpy", "scipy", "pandas", "sklearn", "joblib", "threadpoolctl"}
GROUND |= sys.stdlib_module_names
FREE_NAMES = {"__version__"}  # what the package's own __init__ gives to every layer
GROUND_UNITS = {u for units in LAYERS[:2] for u in units.split()} | {"_task", "_results"}
GROUND_MAY = "numpy, scipy, pandas, sklearn, joblib, threadpoolctl and the standard library"


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


def wrong_arrow(parts, name, package):
    """Return what is wrong when the file at ``parts`` imports ``name``; None when nothing is."""
    unit = parts[0].removesuffix(".py")
    top, _, rest = name.partition(".")
    level = LEVEL[unit]
    if top != package:
        foreign = unit in GROUND_UNITS and top not in GROUND
        return f"imports {name}; {unit} may import {GROUND_MAY} only" if foreign else None
    target, _, inside = rest.partition(".")
    if target in FREE_NAMES:
        return None
    if target == unit:
        return wrong_in_room(unit, parts[1].removesuffix(".py"), inside) if parts[1:] else None
    if target not in LEVEL:
        allowed = level == TOP
        return None if allowed else f"imports {name}, which is no module of a layer: name its home"
    if LEVEL[target] > level:
        hint = "; inside the package import a name from where extending.py takes it"
        told = f"imports {target}: upward, from level {level} to level {LEVEL[target]}"
        return told + hint * (target == "extending")
    if unit in APART and target in APART:
        return f"imports {target}: sideways; what both need moves down"
    if unit in SEES_ONLY and target not in SEES_ONLY[unit]:
        return f"imports {target}; {unit} sees {', '.join(sorted(SEES_ONLY[unit]))} only"
    return None


def wrong_in_room(room, source, inside):
    """Return what is wrong when ``source`` imports ``inside`` of its own room."""
    target = inside.partition(".")[0]
    if source in (target, "__init__") or not target.startswith("_"):
        return None
    rank = {n: i for i, names in enumerate(ROOMS.get(room, ("*",))) for n in names.split()}
    for name in (source, target):
        if name not in rank and "*" not in rank:
            return f"{room}.{name} is in no order: give it a place in ROOMS"
    mine, theirs = (rank.get(name, rank.get("*")) for name in (source, target))
    if theirs > mine:
        return f"imports {room}.{target}: upward in its room"
    are_papers = room in PAPERS and mine == theirs == rank["*"]
    if are_papers and common_prefix(source, target, room) is None:
        return f"imports {room}.{target}: a paper imports a paper; what both need moves down"
    return None


def common_prefix(a, b, room):
    """Return the class of the room whose name begins both file names, None if there is none."""
    found = [name for name in public_names(room) if starts(a, name) and starts(b, name)]
    return max(found, key=len, default=None)


def public_names(room):
    """Return ``__all__`` of a room, read from the source."""
    tree = ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    return names


def starts(file, name):
    """Return whether the file name begins with the class name, cases and underscores ignored."""
    return file.replace("_", "").lower().startswith(name.lower())


def violations(root):
    """Check every file of the package at ``root`` against the tables of layers and rooms."""
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
            if wrong := wrong_arrow(parts, name, root.name):
                found.append(f"{where}:{line} {wrong}")
    return list(dict.fromkeys(found))


def test_arrows_point_downward():
    assert list(PACKAGE.rglob("*.py")), f"no source under {PACKAGE}"
    found = violations(PACKAGE)
    assert not found, "\n" + "\n".join(found)


def plant(tmp_path, *files):
    """Write a package ``skdisc`` of some files, each ``(name, source)``."""
    for name, source in files:
        path = tmp_path / "skdisc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return tmp_path / "skdisc"


@pytest.mark.parametrize(
    ("file", "source", "message"),
    [
        ("_stats/_a.py", "from ..base import B", ":1 imports base: upward"),
        ("_stats/_a.py", "from skdisc.measures import x", ":1 imports measures: upward"),
        ("_stats/_a.py", "import skdisc.cli", ":1 imports cli: upward, from level 0 to level 8"),
        ("_stats/_a.py", "def f():\n    from skdisc import base", ":2 imports base: upward"),
        ("_utils/_a.py", "from skdisc._space._column import C", "from level 0 to level 1"),
        ("_space/_a.py", "from skdisc._results._case import C", "from level 1 to level 2"),
        ("base.py", "import importlib as i\ni.import_module('.cli', 'skdisc')", ":2 imports cli"),
        ("base.py", "__import__('skdisc.group')", ":1 imports group: upward"),
        ("base.py", "from skdisc import extending", "import a name from where extending.py takes"),
        ("individual/_sg.py", "from ..subgroup import Lattice", ":1 imports subgroup: sideways"),
        ("subgroup/_walk.py", "from .. import group", ":1 imports group: sideways"),
        ("group/a/b.py", "from ...individual._sg import s", ":1 imports individual: sideways"),
        ("measures/_tests.py", "from ..cli import main", ":1 imports cli: upward"),
        ("plotting/_bars.py", "from ..subgroup import S", "imports subgroup: upward"),
        ("plotting/_bars.py", "from skdisc.measures import m", "plotting sees _results"),
        ("_stats/_a.py", "import matplotlib.pyplot", ":1 imports matplotlib.pyplot; _stats may"),
        ("_blackbox/_a.py", "from imblearn.base import x", ":1 imports imblearn.base.x; _black"),
        ("_stats/_a.py", "from skdisc import BlackBox", "skdisc.BlackBox, which is no module"),
        ("report/_html.py", "import skdisc", ":1 imports skdisc, which is no module"),
        ("base.py", "from skdisc._stray import x", "skdisc._stray.x, which is no module"),
        ("_stray.py", "", " is in no layer"),
        ("extras/__init__.py", "", " is in no layer"),
        ("individual/_base.py", "from skdisc.individual._search._loop import r", "upward in its"),
        ("individual/_search/_a.py", "from skdisc.individual._sg import S", "upward in its room"),
        ("subgroup/_lattice/_a.py", "from .._estimation._top_k import f", "upward in its room"),
        ("subgroup/_divexplorer.py", "from ._slices._base import t", "a paper imports a paper"),
        ("individual/_kosei.py", "from skdisc.individual._sg._queue import Q", "a paper imports"),
        ("measures/_formula/_a.py", "from skdisc.measures._tests import t", "upward in its room"),
        ("benchmark/_match.py", "from skdisc.benchmark import _run", "upward in its room"),
    ],
)
def test_wrong_arrows_are_found(tmp_path, file, source, message):
    (found,) = violations(plant(tmp_path, (file, source)))
    assert found.startswith(f"skdisc/{file}")
    assert message in found


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("__init__.py", "from .cli import main\nfrom ._stray import x"),
        ("_stats/_a.py", "import os\nimport numpy as np\nfrom scipy import stats"),
        ("_space/_a.py", "from . import _b\nfrom skdisc._utils._json import join"),
        ("_results/_a.py", "from skdisc import __version__"),
        ("individual/_adf.py", "from ._search import s\nfrom ..base import B\nimport torch"),
        ("individual/_sg/_sg.py", "from skdisc.individual._sg._queue import Queue"),
        ("individual/_prevalence/_themis.py", "from ._exact_tree import E\nfrom .._base import B"),
        ("subgroup/__init__.py", "from ._walk import Walk\nfrom .. import _space, measures"),
        ("subgroup/_divexplorer.py", "from ._divexplorer_shapley import s\nfrom ._base import B"),
        ("group/_group_disparity.py", "from ._group_disparity_table import x"),
        ("plotting/_bars.py", "import matplotlib\nfrom .._results._case import Case"),
        ("_registry.py", "from importlib import import_module\nimport_module('skdisc.group')"),
        ("report/_html.py", "from . import _summary\nfrom .._utils._files import write"),
        ("cli/_main.py", "import skdisc\nfrom skdisc import BlackBox, individual"),
        ("__main__.py", "from .cli import main"),
    ],
)
def test_right_arrows_pass(tmp_path, file, source):
    assert violations(plant(tmp_path, (file, source))) == []


SAME_NAME_ALLOWED = {"__init__.py", "_base.py", "_report.py"}


def repeated_names(root):
    """List classes with one name, and files with one name in a room and its folders."""
    found, classes = [], {}
    for path in sorted(root.rglob("*.py")):
        where = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name.lstrip("_"), []).append(f"{where}:{node.lineno}")
    for name, places in classes.items():
        if len(places) > 1:
            found.append(f"class {name}: {', '.join(places)}")
    for room in (d for d in sorted(root.iterdir()) if d.is_dir()):
        files = {}
        for path in sorted(room.rglob("*.py")):
            if path.name not in SAME_NAME_ALLOWED:
                files.setdefault(path.name, []).append(path.relative_to(root).as_posix())
        found += [f"file {', '.join(same)}" for same in files.values() if len(same) > 1]
    return found


def test_names_are_unique():
    found = repeated_names(PACKAGE)
    assert not found, "\n" + "\n".join(found)


def test_files_of_tests_have_names_of_their_own():
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert not [name for name, times in names.items() if times > 1]  # pytest imports one of them


def test_a_repeated_name_is_found(tmp_path):
    root = plant(
        tmp_path,
        ("_space/_a.py", "class Plan: pass"),
        ("group/_b.py", "class A:\n    class _Plan: pass"),
        ("group/_facts/_b.py", ""),
        ("group/_facts/_base.py", ""),
        ("group/_base.py", ""),
    )
    assert repeated_names(root) == [
        "class Plan: _space/_a.py:1, group/_b.py:2",
        "file group/_b.py, group/_facts/_b.py",
    ]


SHARED_FOLDERS = {
    "individual": {
        "_base",
        "_prober",
        "_case_share",
        "_group_comparison",
        "_search",
        "_prevalence",
    },
    "subgroup": {"_base", "_lattice", "_estimation", "_learned", "_patterns", "_slices"},
    "group": {"_pairwise", "_decomposition", "_outcome_tests"},
}


def unnamed(root):
    """List files of the papers' rooms that begin with no class of the room."""
    return [
        f"{room}/{path.name} begins with no name of {room}.__all__"
        for room, shared in SHARED_FOLDERS.items()
        for path in sorted((root / room).glob("_*"))
        if path.stem not in {"__init__", "__pycache__", *shared}
        and not any(starts(path.stem, name) for name in public_names(room))
    ]


def test_prefix():
    assert unnamed(PACKAGE) == []


def test_a_file_named_after_a_role_is_found(tmp_path):
    root = plant(tmp_path, ("individual/_hunt.py", ""), ("subgroup/_bias_scan/_starts.py", ""))
    assert unnamed(root) == ["individual/_hunt.py begins with no name of individual.__all__"]
