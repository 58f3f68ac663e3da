"""``import skdisc`` is silent, light and leaves no trace."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.extras()  # in the environment with torch and SDV, too

OPTIONAL = [
    *("dask", "distributed", "duckdb", "hypothesis", "ibis", "jinja2", "matplotlib", "mlxtend"),
    *("numba", "ot", "plotly", "polars", "pyarrow", "sdv", "skops", "sqlalchemy"),
    "torch",
]

TRACES = """
import json, locale, logging, os, sys, warnings
import numpy, pandas, sklearn

def traces():
    return {
        "warnings.filters": repr(warnings.filters),
        "warnings.showwarning": repr(warnings.showwarning),
        "numpy random state": repr(numpy.random.get_state()),
        "python random state": repr(__import__("random").getstate()),
        "numpy errors": repr(numpy.geterr()),
        "numpy print options": repr(numpy.get_printoptions()),
        "sklearn configuration": repr(sklearn.get_config()),
        "pandas options": repr({name: pandas.get_option(name) for name in OPTIONS}),
        "root log": repr((logging.root.level, logging.root.handlers, logging.root.filters)),
        "environment": repr(sorted(os.environ.items())),
        "locale": repr(locale.setlocale(locale.LC_ALL)),
        "hooks": repr((sys.excepthook, sys.displayhook, sys.path_hooks, sys.meta_path)),
        "working directory and path": repr((os.getcwd(), sys.path)),
    }

OPTIONS = ["display.max_rows", "display.width", "display.precision"]
before = traces()
import skdisc
after = traces()
print(json.dumps([name for name in before if before[name] != after[name]]))
"""


def run(code, *options):
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def packages(statement):
    """Top-level names of all modules loaded after ``statement``, in a process of its own."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = run(code)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_is_silent():
    done = run("import skdisc", "-W", "error")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_import_loads_no_optional_package():
    new = packages("import skdisc") - packages("import sklearn, pandas")
    assert new.isdisjoint(OPTIONAL)


@pytest.mark.slow
def test_import_needs_no_optional_package():
    block = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL}))"
    names = "[getattr(skdisc, name) for name in skdisc.__all__]"
    done = run(f"import sklearn, pandas; {block}; import skdisc; {names}", "-W", "error")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_import_leaves_no_trace():
    done = run(TRACES)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("culprit", "trace"),
    [
        ("import warnings; warnings.simplefilter('ignore')", "warnings.filters"),
        ("numpy.random.seed(0)", "numpy random state"),
        ("sklearn.set_config(display='text')", "sklearn configuration"),
        ("logging.basicConfig()", "root log"),
    ],
)
def test_a_trace_would_be_found(culprit, trace):
    done = run(TRACES.replace("import skdisc", culprit))
    assert json.loads(done.stdout) == [trace], done.stderr
