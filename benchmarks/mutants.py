"""Mutation score of the lowest layers: which small changes of their source do their tests notice?

    python benchmarks/mutants.py --n 300 --seed 0
    python benchmarks/mutants.py --only _stats/_means.py --n 40
    python benchmarks/mutants.py --again survivors.txt --tests tests/_stats/test_means.py

The last line runs what an earlier run printed as surviving, against some files of tests.


Mutants are drawn at random: one operator, comparison, constant or condition of one function is
changed, in memory. The tests of the folder that mirrors the package (not the slow ones) run once
without a change, which tells the statements that each executes. A mutant meets the tests that
execute its statement, the quickest first, in a process of its own, up to the first failure.
Mutants that change nothing anybody could see are listed in `equivalent_mutants.py`, with the
reason, and leave the score. `_torch.py` needs torch.
"""

import argparse
import ast
import builtins
import contextlib
import copy
import importlib
import importlib.machinery
import json
import os
import resource
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from equivalent_mutants import EQUIVALENT

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
REACHED = "_reached_statement"
PACKAGES = ("_stats", "_utils", "_space", "_blackbox", "_neighbors")
LIMIT = 30  # seconds of CPU for the tests of one mutant, beside thrice their usual time
CLOCK = 1800  # seconds for them by the clock: they may wait for other work, or for ever
_NOT_RUN = (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
NAMES |= {"any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "left": "right"}


def sites(tree):
    """Yield (node, field, index, new value) for every place that can be changed."""
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    skip = {id(c) for n in ast.walk(tree) for c in _not_code(n)}
    for node in ast.walk(tree):
        if id(node) in skip or id(node) in docs:
            continue
        if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPS:
            yield node, "op", None, SWAPS[type(node.op)]()
        elif isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                if type(op) in SWAPS:
                    yield node, "ops", i, SWAPS[type(op)]()
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, "value", None, not node.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            more = node.value + 1
            yield node, "value", None, more if more != node.value else 2 * node.value
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            is_not = isinstance(node.op, ast.Not)
            yield node, "op", None, _Same() if is_not else ast.UAdd()
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield node, "test", None, ast.UnaryOp(ast.Not(), node.test)
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield node, "attr", None, NAMES[node.attr]
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield node, "id", None, NAMES[node.id]


class _Same:
    """Takes the place of ``not``: the condition itself."""


def _not_code(node):
    """Yield what is no behavior: annotations, messages of errors, and their parts."""
    parts = []
    if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
        parts = [node.annotation]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
        parts = [node.returns]
    elif isinstance(node, ast.JoinedStr):
        parts = [node]
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        parts = node.exc.args
    for part in parts:
        yield from ast.walk(part)


def mutated(source, at):
    """Return the tree with the change of number `at`, and the line before and after."""
    tree = ast.parse(source)
    node, field, i, new = list(sites(tree))[at]
    before = copy.deepcopy(node)
    if isinstance(new, _Same):
        node.op = ast.Not()
        node.operand = ast.UnaryOp(ast.Not(), node.operand)  # not not x
    elif i is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[i] = new
    ast.fix_missing_locations(tree)
    texts = []
    for part in (before, node):
        if isinstance(part, (ast.If, ast.While)):
            part = part.test
        texts.append(ast.unparse(part).splitlines()[0][:70])
    return tree, node.lineno, *texts


def drawn(n, seed, only):
    """Return n mutants as (file, number), drawn among all places of the packages."""
    files = [p for name in PACKAGES for p in sorted((ROOT / "skdisc" / name).rglob("*.py"))]
    files = [
        p
        for p in files
        if p.name not in ("__init__.py", "_torch.py") and (not only or only in str(p))
    ]
    every = [(p, i) for p in files for i in range(len(list(sites(ast.parse(p.read_text())))))]
    order = np.random.default_rng(seed).permutation(len(every))
    return [every[i] for i in order[:n]], len(every)


def statement_of(path, line):
    """Return the line where the statement around a line begins; None outside of functions."""
    functions = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, FUNCTIONS)]
    bodies = [s for f in functions for b in _bodies(f) for s in b if s.lineno <= line]
    return max((s.lineno for s in bodies if line <= s.end_lineno), default=None)


def _bodies(function):
    """Return all lists of statements inside a function."""
    names = ("body", "orelse", "finalbody")
    found = [getattr(n, name, None) for n in ast.walk(function) for name in names]
    return [body for body in found if isinstance(body, list)]


def marked(path):
    """Return the code of a file that says before each statement of a function that it comes."""
    tree = ast.parse(path.read_text())
    functions = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]
    for body in {id(b): b for f in functions for b in _bodies(f)}.values():
        body[:] = [part for s in body for part in (_mark(path, s), s)]
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def _mark(path, statement):
    call = ast.parse(f"{REACHED}(({str(path)!r}, {statement.lineno}))").body[0]
    return ast.copy_location(call, statement)


class Recorder:
    """A pytest plugin: the CPU time of each test, and the statements that it executes."""

    def __init__(self):
        self.reached, self.tests = set(), {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.reached.clear()
        start = time.process_time()
        done = yield
        self.tests[item.nodeid] = time.process_time() - start, sorted(self.reached)
        return done


class Chosen:
    """A pytest plugin: only some tests, in their order."""

    def __init__(self, names):
        self.rank = {name: i for i, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = sorted(
            (i for i in items if i.nodeid in self.rank), key=lambda i: self.rank[i.nodeid]
        )


def recorded(package):
    """Run the tests of a package in a child process; return {test: (seconds, statements)}."""
    read, write = os.pipe()
    if not (child := os.fork()):
        recorder = Recorder()
        setattr(builtins, REACHED, recorder.reached.add)
        _load({str(p): marked(p) for p in (ROOT / "skdisc" / package).rglob("*.py")})
        status = _pytest([str(ROOT / "tests" / package)], recorder)
        with os.fdopen(write, "w") as out:
            json.dump([status, recorder.tests], out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as text:
        status, tests = json.load(text)
    os.waitpid(child, 0)
    if status:
        sys.exit(f"the tests of {package} fail without any change")
    return tests


def is_equivalent(where, line, before, after):
    """Return whether EQUIVALENT names a change of a line."""
    known = EQUIVALENT.get(where, ())
    return any(
        line.strip().startswith(begin) and change == f"{before} -> {after}"
        for begin, change, _ in known
    )


def tests_for(path, line, tests):
    """Return {test: seconds} of the tests that execute a statement, the quickest first."""
    first = statement_of(path, line)
    # what runs when the file is imported is nobody's: then every test that uses the file
    found = {
        name: seconds
        for name, (seconds, reached) in tests.items()
        if any(p == str(path) and first in (n, None) for p, n in reached)
    }
    return dict(sorted(found.items(), key=lambda pair: pair[::-1]))


def survives(path, tree, tests):
    """Run tests ({name: seconds}) of a mutant in a child; return whether none failed in time."""
    limit = LIMIT + int(3 * sum(tests.values()))
    if not (child := os.fork()):
        _run(path, tree, list(tests), limit)
    ends = time.monotonic() + CLOCK
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(status)
            if status in _NOT_RUN:
                sys.exit(f"pytest ran no test of {path}: exit status {status}")
            return status == pytest.ExitCode.OK
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run(path, tree, names, limit):
    """Load the mutant in place of its file, run the tests, and leave the process."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    _load({str(path): compile(tree, str(path), "exec")})
    status = 1
    with contextlib.suppress(BaseException):
        files = list(dict.fromkeys(str(ROOT / name.partition("::")[0]) for name in names))
        are_named = any("::" in name for name in names)
        status = _pytest(files, *[Chosen(names)] * are_named)
    os._exit(status)


def _load(codes):
    """Let Python load these codes in place of their files."""
    load = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        return codes.get(self.path) or load(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code


def _pytest(paths, *plugins):
    """Run tests without a word; return pytest's exit status."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        plain = "--assert=plain"  # else pytest compiles the modules itself, without the change
        quick = ["-x", "-q", plain, "-m", "not slow", "-p", "no:cacheprovider"]
        quick += ["--hypothesis-profile=few", f"--rootdir={ROOT}"]
        return int(pytest.main([*quick, *paths], plugins=plugins))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--start", type=int, default=0, help="leave out the first mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a path, such as _stats/_means.py")
    parser.add_argument("--again", type=Path, help="only what survived, as an earlier run printed")
    parser.add_argument("--tests", nargs="+", help="files of tests to run instead")
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    for name in ("pandas", "scipy.stats", "sklearn.ensemble", "sklearn.pipeline", "hypothesis"):
        importlib.import_module(name)  # once, before the processes part
    mutants, total = drawn(args.start + args.n, args.seed, args.only)
    known = args.again.read_text() if args.again else ""
    records, counts = {}, Counter()
    for path, at in mutants[args.start :]:
        tree, line, before, after = mutated(path.read_text(), at)
        where = path.relative_to(ROOT / "skdisc").as_posix()
        said = f"survived: {where}:{line}  {before}  ->  {after}"
        if args.again and said + "\n" not in known:
            continue
        if is_equivalent(where, path.read_text().splitlines()[line - 1], before, after):
            counts["equivalent"] += 1
            continue
        tests = dict.fromkeys(args.tests or (), LIMIT)
        if not tests:
            package = where.partition("/")[0]
            if package not in records:
                records[package] = recorded(package)
            tests = tests_for(path, line, records[package])
        if tests and not survives(path, tree, tests):
            counts["killed"] += 1
        else:
            counts["alive"] += 1
            print(said if tests else f"no test reaches it\n{said}", flush=True)
    n = counts["killed"] + counts["alive"]
    print(f"{counts['killed']} of {n} killed: {counts['killed'] / max(n, 1):.1%}; ", end="")
    print(f"{counts['equivalent']} equivalent, of {total}")


if __name__ == "__main__":
    main()
