"""Cases of reports, tables and pictures of results."""

import warnings
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fuzzing._answers import wrong_in_result
from fuzzing._arguments import small_settings
from fuzzing._case import FuzzCase
from fuzzing._detector_cases import HashedRows, names_of
from fuzzing._hazards import MARKUP, hostile_table, pick
from skdisc import plotting, report
from skdisc._registry import all_detectors
from skdisc.auditing import Audit

_MILD = (
    *("NaN", "None", "text among others", "all missing", "constant", "huge numbers", "unicode"),
    *("denormal numbers", "signed zeros", "uint64", "int64", "categories unused", "nullable"),
    *("ordered categories", "all different", "booleans only", "odd name", "three rows", "array"),
    *("index of one label", "other dtypes", "int8"),
)
_DISPLAYS = [n for n in plotting.__all__ if hasattr(getattr(plotting, n), "from_result")]
_OF = {  # displays and plots of the results of one detector
    "GapDisplay": "DisparityPursuit",
    "ShadowsDisplay": "DisparityPursuit",
    "MonitorDisplay": "DisparityMonitor",
    "OaxacaDisplay": "OaxacaBlinder",
    "EffectivenessCostDisplay": "FACTS",
    "WorldsDisplay": "CounterfactualFairness",
    "LatticeDisplay": "DivExplorer",
    "WaterfallDisplay": "DivExplorer",
    "plot_case_counts": "SituationTesting",
    "plot_complainant": "SituationTesting",
    "plot_groups": "SituationTesting",
    "plot_flipsets": "FlipTest",
    "plot_transparency": "FlipTest",
}
_NUMBERS = [1, 0, -1, 3, 99, 1.5, "a", None, np.nan, True]


def report_case(number: int, rng: np.random.Generator) -> FuzzCase:
    """Return the case of one report, table or picture of a result."""
    table = hostile_table(rng, kinds=("X",), only=_MILD)
    what = pick(rng, ["text", "html", "markdown", "write", "compare", "tables", "notebook"])
    what = pick(rng, [what, what, "plot", "audit"]) if rng.random() < 0.7 else "plot"
    if what == "plot":
        return _plot_case(number, rng, table)
    if what == "audit":
        return _audit_case(number, rng, table)
    name = pick(rng, sorted(all_detectors()))
    how = {"max_rows": pick(rng, _NUMBERS)} if rng.random() < 0.5 else {}
    how |= {"show_people": pick(rng, [True, False, "yes"])} if rng.random() < 0.5 else {}
    path = pick(rng, ["a.html", "a.json", "a.md", "a.txt", "a", "gone/a.html", ".", "a.odt"])

    def run():
        result = _result(name, table)
        with TemporaryDirectory() as folder:
            return _WRITERS[what](result, how, Path(folder) / path)

    call = f"{what}({how}, {path}) of {name}; {table.hazards}"
    names = names_of(table, {"max_rows", "show_people", "path", "results", "file", "folder"})
    return FuzzCase(number, call, run, names)


def _result(name, table, **more):
    """Return the result of a detector with its smallest settings."""
    cls = all_detectors()[name]
    settings = small_settings(cls) | {"protected": table.protected} | more
    return cls(**settings).fit(table.X, table.y, HashedRows()).result_


def _marked(text):
    """Return what of a column's markup a page passes on."""
    return [f"markup of a column: {m}" for m in MARKUP if m in text]


def _written(result, how, path):
    how.pop("max_rows", None)
    report.write(result, path, **how)
    text = path.read_text(encoding="utf-8")
    return (_marked(text) if path.suffix == ".html" else []) + ([] if text else ["empty file"])


def _tables(result, how, path):
    found = wrong_in_result(result) + wrong_in_result(result.without_people())
    for kind in ("findings", "pairs", "subgroups", *result.tables):
        if kind == "pairs" and hasattr(result.findings, "subgroups"):
            continue
        if kind == "subgroups" and not hasattr(result.findings, "subgroups"):
            continue
        result.to_frame(kind).to_csv(StringIO())
    return found


def _compared(result, how, path):
    made = report.compare_cases([result, result])
    return [] if {"rates"} <= set(made) else ["no rates"]


_WRITERS = {
    "text": lambda result, how, path: [] if report.to_text(result, **how) else ["empty"],
    "html": lambda result, how, path: _marked(report.to_html(result, **how)),
    "markdown": lambda result, how, path: _marked(report.to_markdown(result, **how)),
    "write": _written,
    "compare": _compared,
    "tables": _tables,
    "notebook": lambda result, how, path: _marked(result._repr_html_()),
}


def _plot_case(number, rng, table):
    """Return the case of one picture."""
    known = [n for n in (*_DISPLAYS, *_OF) if n in _DISPLAYS or n in _OF]
    plot = pick(rng, known)
    name = _OF.get(plot) or pick(rng, sorted(all_detectors()))
    if rng.random() < 0.1:  # of a result that it does not take
        name = pick(rng, sorted(all_detectors()))
    given = _plot_arguments(plot, table, rng)

    def run():
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot

        warnings.filterwarnings("ignore", "Glyph|.*font")
        known = all_detectors()[name]._get_param_names()
        more = {n: True for n in ("store_neighbors", "explain") if n in known}
        result = _result(name, table, **more)
        try:
            if plot == "plot_groups":
                plotting.plot_groups([result], **given)
            elif plot in _DISPLAYS:
                getattr(plotting, plot).from_result(result, **given)
            else:
                getattr(plotting, plot)(result, **given)
            for figure in map(pyplot.figure, pyplot.get_fignums()):
                figure.canvas.draw()
        finally:
            pyplot.close("all")
        return []

    shown = {k: v for k, v in given.items() if k != "X"}
    call = f"{plot}({shown}) of {name}; {table.hazards}"
    names = names_of(table, {*given, "result", "results", plot, name})
    return FuzzCase(number, call, run, names)


def _plot_arguments(plot, table, rng):
    column = pick(rng, [*list(getattr(table.X, "columns", [0])), "gone"])
    needed = {
        "plot_flipsets": {"X": table.X, "column": column},
        "plot_groups": {"row": pick(rng, [0, 1, 99, -1, "a"]), "column": column},
    }
    free = {
        "ForestDisplay": "max_rows",
        "ShadowsDisplay": "max_rows",
        "MonitorDisplay": "max_groups",
        "LatticeDisplay": "rank",
        "WaterfallDisplay": "rank",
        "EffectivenessCostDisplay": "rank",
        "plot_complainant": "case_id",
        "WorldsDisplay": "bins",
    }
    given = dict(needed.get(plot, {}))
    if plot in free and rng.random() < 0.5:
        given[free[plot]] = pick(rng, _NUMBERS)
    return given


def _audit_case(number, rng, table):
    """Return the case of an audit with one detector, and of one of its outputs."""
    name = pick(rng, ["DivExplorer", "GroupDisparity", "SituationTesting", "Themis"])
    to = pick(rng, ["to_html", "to_markdown", "to_text", "to_json", "to_csv", "to_junit"])

    def run():
        own = {name: small_settings(all_detectors()[name])}
        audit = Audit(protected=table.protected, detectors=[name], settings=own)
        told = audit.fit(table.X, table.y, HashedRows()).report_
        text = getattr(told, to)()
        return _marked(text) if to == "to_html" else []

    call = f"Audit(detectors=[{name!r}]).{to}; {table.hazards}"
    return FuzzCase(number, call, run, names_of(table, {"detectors", "settings", name}))
