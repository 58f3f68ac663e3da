"""Mutation score of the lowest layers: which small changes of their source do their tests notice?

    python benchmarks/mutants.py --n 300 --seed 0
    python benchmarks/mutants.py --only _stats/_means.py --n 40

Mutants are drawn at random: one operator, comparison, constant or condition of one function is
changed, in memory. Each meets the tests of the folder that mirrors its own (not the slow ones), in
a process of its own, up to the first failure. Mutants that change nothing anybody could see are
listed in EQUIVALENT, with the reason, and leave the score. `_torch.py` needs torch.
"""

import argparse
import ast
import contextlib
import copy
import importlib
import importlib.machinery
import os
import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("_stats", "_utils", "_space", "_blackbox", "_neighbors")
LIMIT = 180  # seconds of CPU for the tests of one mutant
CLOCK = 1800  # seconds for them by the clock: they may wait for other work, or for ever
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
EQUIVALENT = {  # (file, line of source, what it became): why nobody can see it
}


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
            yield node, "value", None, node.value + 1
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


def tests_of(path):
    """Return the folder of tests that mirrors that of a file."""
    return ROOT / "tests" / path.relative_to(ROOT / "skdisc").parts[0]


def survives(path, tree):
    """Run the tests of a mutant in a child process; return whether none failed in time."""
    child = os.fork()
    if not child:
        _run(path, tree)
    ends = time.monotonic() + CLOCK
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run(path, tree):
    """Load the mutant in place of its file, run the tests, and leave the process."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    code, load = compile(tree, str(path), "exec"), importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        return code if self.path == str(path) else load(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code
    status = 1
    with contextlib.suppress(BaseException), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        plain = "--assert=plain"  # else pytest compiles the modules itself, without the change
        quick = ["-x", "-q", plain, "-m", "not slow", "-p", "no:cacheprovider"]
        quick += ["--hypothesis-profile=few"]
        status = int(pytest.main([*quick, str(tests_of(path))]))
    os._exit(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--start", type=int, default=0, help="leave out the first mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a path, such as _stats/_means.py")
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    for name in ("pandas", "scipy.stats", "sklearn.ensemble", "sklearn.pipeline", "joblib"):
        importlib.import_module(name)  # once, before the processes part
    mutants, total = drawn(args.start + args.n, args.seed, args.only)
    killed, equivalent, alive = 0, 0, []
    for name in sorted({path.relative_to(ROOT / "skdisc").parts[0] for path, _ in mutants}):
        path = ROOT / "skdisc" / name / "__init__.py"
        if not survives(path, ast.parse(path.read_text())):
            sys.exit(f"the tests of {name} fail without any change")
    for path, at in mutants[args.start :]:
        tree, line, before, after = mutated(path.read_text(), at)
        where = path.relative_to(ROOT / "skdisc").as_posix()
        if (where, before, after) in EQUIVALENT:
            equivalent += 1
        elif survives(path, tree):
            alive.append(where)
            print(f"survived: {where}:{line}  {before}  ->  {after}", flush=True)
        else:
            killed += 1
    n = killed + len(alive)
    print(f"{killed} of {n} killed: {killed / max(n, 1):.1%}; {equivalent} equivalent, of {total}")


if __name__ == "__main__":
    main()
