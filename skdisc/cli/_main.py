"""The command line: reads files, builds detectors, and writes reports."""

import argparse
import inspect
import sys
import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from skdisc import BlackBox, __version__, datasets, report
from skdisc._blackbox._default_models import DEFAULT_MODELS, default_model
from skdisc._registry import all_detectors
from skdisc._results._judgment import FOUND, UNSURE
from skdisc._utils._io import check_writable, read_model, read_table
from skdisc.cli._arguments import column_named, columns_named, detectors_named, labels_named
from skdisc.cli._benchmark import add_benchmark
from skdisc.exceptions import ModelError
from skdisc.report._together import holds_over_all

NOTHING_FOUND, DISPARITY_FOUND, USAGE, INSUFFICIENT, FAILURE = range(5)
DEFAULT = ("GroupDisparity", "DivExplorer", "KOSEI", "Themis")  # a first audit of any table
_EXIT_CODES = (
    "exit codes: 0 nothing found (groups that only differ from everyone are no claim about "
    "protected columns), 1 disparity found, also after correction for the number of detectors run, "
    "2 usage, 3 insufficient evidence (of one detector, or after that correction), 4 failure"
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments; None stands for those of the process.

    Returns
    -------
    int
        0 nothing found, 1 disparity found by a detector, also after Bonferroni's correction for the
        number of detectors, 2 usage, 3 insufficient evidence, 4 any other failure.

    Raises
    ------
    SystemExit
        With code 2 if the arguments cannot be parsed, and with 0 after ``--help``.
    """
    arguments = _parser().parse_args(_renamed(sys.argv[1:] if argv is None else argv))
    try:
        return arguments.run(arguments)
    except ModelError as error:
        return _report_error(error, FAILURE)
    except (ValueError, TypeError, ImportError) as error:
        return _report_error(error, USAGE)
    except Exception as error:
        return _report_error(f"{type(error).__name__}: {error}", FAILURE)


def _renamed(argv):
    """Replace the old spelling of an option, with a warning on standard error."""
    old, new = "--favourable", "--favorable"
    names = [text.partition("=") for text in argv]
    is_old = [name.startswith("--favou") and old.startswith(name) for name, *_ in names]
    if any(is_old):
        print(f"skdisc: FutureWarning: {old} is deprecated; use {new}.", file=sys.stderr)
    return [
        "".join((new, *value)) if outdated else name + "".join(value)
        for outdated, (name, *value) in zip(is_old, names, strict=True)
    ]


def _report_error(message, code):
    """Print an error to standard error and return the exit code."""
    print(f"skdisc: error: {message}", file=sys.stderr)
    return code


def _parser():
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="skdisc", description="Find discrimination in decisions.", epilog=_EXIT_CODES
    )
    parser.add_argument("--version", action="version", version=f"skdisc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    audit = commands.add_parser(
        "audit", help="audit a table, with or without a model", epilog=_EXIT_CODES
    )
    audit.set_defaults(run=_audit)
    _add_data(audit)
    _add_search(audit)
    demo = commands.add_parser("demo", help="audit a model trained on synthetic loan applications")
    demo.set_defaults(run=_demo)
    demo.add_argument(
        "--report",
        default="skdisc-demo.html",
        metavar="FILE",
        help="%(default)s by default; .html, .md or .json",
    )
    demo.add_argument("--seed", type=int, default=0, metavar="N")
    add_benchmark(commands, print)
    listing = commands.add_parser("detectors", help="list the detectors and what they need")
    listing.set_defaults(run=_detectors)
    return parser


def _add_data(audit):
    """Add the options that name the data and the model."""
    audit.add_argument("data", metavar="DATA", help="CSV (also .gz) or Parquet file")
    audit.add_argument("--target", required=True, metavar="COL", help="column of the labels")
    audit.add_argument(
        "--favorable",
        required=True,
        metavar="VALUE",
        help="favorable value of the target; several: A,B",
    )
    audit.add_argument("--protected", required=True, metavar="A,B", help="protected columns")
    audit.add_argument("--ignore", default="", metavar="COLS", help="columns to leave out")
    source = audit.add_mutually_exclusive_group()
    source.add_argument("--model", metavar="FILE", help="fitted model, a .skops file")
    source.add_argument(
        "--predictions", default="", metavar="COL", help="column of decisions already made"
    )
    source.add_argument(
        "--fit",
        choices=DEFAULT_MODELS,
        help="model to train on one half; the other half is audited",
    )
    audit.add_argument(
        "--trust", default="", metavar="TYPES", help="types in a .skops file to trust"
    )
    audit.add_argument(
        "--trust-pickle", action="store_true", help="load a pickle, which executes its code"
    )


def _add_search(audit):
    """Add the options of the detectors."""
    audit.add_argument(
        "--detectors",
        default="",
        metavar="NAMES",
        help=f"names or all; default: those of {', '.join(DEFAULT)} that can run",
    )
    audit.add_argument(
        "--metric",
        default="selection_rate",
        metavar="NAMES",
        help="rates for subgroups, or all (%(default)s)",
    )
    audit.add_argument(
        "--direction",
        choices=("lower", "higher", "both"),
        default="both",
        help="report groups with a lower or higher rate than others, or both (%(default)s)",
    )
    audit.add_argument(
        "--redundancy",
        type=float,
        default=0.02,
        metavar="D",
        help="drop a group if one of its conditions changes the effect by at most D (%(default)s)",
    )
    _add_limits(audit)
    audit.add_argument(
        "--significance",
        type=float,
        default=0.05,
        metavar="A",
        help="significance level (%(default)s)",
    )
    audit.add_argument("--seed", type=int, default=0, metavar="N", help="seed (%(default)s)")
    audit.add_argument(
        "--jobs", type=int, metavar="N", help="threads for large queries of the model"
    )
    audit.add_argument("--report", metavar="FILE", help="write a report: .html, .md or .json")
    audit.add_argument("--verbose", action="store_true", help="report progress on standard error")


def _add_limits(audit):
    """Add the limits of a budget."""
    audit.add_argument(
        "--max-tests", type=int, metavar="N", help="distinct inputs or groups tested"
    )
    audit.add_argument("--max-queries", type=int, metavar="N", help="rows sent to the model")
    audit.add_argument("--max-found", type=int, metavar="N", help="cases found")
    audit.add_argument("--time-budget", type=float, metavar="S", help="seconds per detector")
    audit.add_argument(
        "--refits",
        type=int,
        default=19,
        metavar="N",
        help="models trained to tell a disparity from chance in training, with --fit (%(default)s)",
    )


def _audit(arguments):
    """Audit a table."""
    _check_report(arguments.report)
    frame = read_table(arguments.data)
    names = list(frame.columns)
    target = column_named("--target", arguments.target, names)
    ignored = columns_named("--ignore", arguments.ignore, names)
    decided = columns_named("--predictions", arguments.predictions, names)
    protected = columns_named("--protected", arguments.protected, names)
    clash = [c for c in protected if c in [target, *ignored, *decided]]
    if clash:
        raise ValueError(
            f"--protected {clash[0]!r} is also named by --target, --predictions or --ignore."
        )
    empty = [c for c in protected if frame[c].isna().all()]
    if empty:
        raise ValueError(f"--protected {empty[0]!r} is missing in every row.")
    favorable = labels_named(
        "--favorable", arguments.favorable, frame[target], *map(frame.get, decided)
    )
    X, y = frame.drop(columns={target, *ignored, *decided}), frame[target]
    model = BlackBox(decisions=frame[decided[0]]) if decided else None
    if arguments.model:
        trusted = [t for t in arguments.trust.split(",") if t]
        model = read_model(arguments.model, trust_pickle=arguments.trust_pickle, trusted=trusted)
    if arguments.fit:
        X, y, model = _trained(arguments.fit, X, y, arguments.seed)
    can_ask = model is not None and not (isinstance(model, BlackBox) and model.model is None)
    gaps = [c for c in X if c not in protected and X[c].isna().any()]
    detectors, reasons = detectors_named("--detectors", arguments.detectors, DEFAULT, can_ask, gaps)
    print("".join(f"{reason}\n\n" for reason in reasons), end="")
    settings = _settings(arguments, protected, favorable)
    results = [_build(d, settings).fit(X, y, model).result_ for d in detectors]
    return _finish(results, arguments.report)


def _trained(kind, X, y, seed):
    """Train a model on one half of the rows; return the other half and the model."""
    if y.isna().any():
        raise ValueError(
            f"The target {y.name!r} is missing in {y.isna().sum()} rows. Drop these rows."
        )
    empty = [c for c in X if X[c].isna().all()]
    if empty:
        print(f"Dropped, because they are empty: {', '.join(map(str, empty))}.")
        X = X.drop(columns=empty)
    stratify = y if y.value_counts().min() > 1 else None
    X_train, X, y_train, y = train_test_split(
        X, y, test_size=0.5, random_state=seed, stratify=stratify
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the network intentionally stops early
        model = BlackBox.trained(default_model(kind, seed), X_train, y_train)
    print(f"Trained {kind} on {len(X_train):,} rows; the other {len(X):,} rows are audited.\n")
    return X, y, model


def _settings(arguments, protected, favorable):
    """Return the options as parameters of detectors."""
    metric = (
        arguments.metric
        if arguments.metric == "all"
        else [m.strip() for m in arguments.metric.split(",")]
    )
    settings = {
        "protected": protected,
        "pos_label": favorable,
        "metric": metric,
        "direction": arguments.direction,
        "redundancy": arguments.redundancy,
        "significance": arguments.significance,
        "n_refits": arguments.refits,
        "random_state": arguments.seed,
        "n_jobs": arguments.jobs,
        "verbose": arguments.verbose,
    }
    limits = ("max_tests", "max_queries", "max_found", "time_budget")
    return settings | {
        name: getattr(arguments, name) for name in limits if getattr(arguments, name) is not None
    }


def _build(detector, settings):
    """Make a detector with the settings that are among its parameters."""
    own = set(inspect.signature(detector).parameters)
    if detector.card.finds != "subgroup":
        own -= {"metric"}  # there it is a distance between people
    elif "array-like" not in detector._parameter_constraints.get("metric", ["array-like"]):
        one = [m for m in settings["metric"] if settings["metric"] != "all"][:1]
        settings = settings | {"metric": one[0]} if one else _without(settings, "metric")
    return detector(**{name: value for name, value in settings.items() if name in own})


def _without(settings, name):
    return {key: value for key, value in settings.items() if key != name}


def _check_report(path):
    """Raise before the audit if the report could not be written."""
    if path is not None:
        report.check_format(path)
        check_writable(path)


def _finish(results, path):
    """Print and write the report; return the exit code."""
    print(report.to_text(results))
    if path is not None:
        report.write(results, path)
        print(f"\nReport: {path}")
    if any(holds_over_all(r, results) for r in results):
        return DISPARITY_FOUND
    open_ones = any(r.verdict in (FOUND, UNSURE) for r in results)
    return INSUFFICIENT if open_ones else NOTHING_FOUND


def _demo(arguments):
    """Audit a model trained on synthetic loan applications."""
    _check_report(arguments.report)
    loans = datasets.make_loan(random_state=arguments.seed)
    halves = train_test_split(loans.data, loans.target, test_size=0.5, random_state=arguments.seed)
    X_train, X, y_train, y = halves
    model = BlackBox.trained(default_model("boosting", arguments.seed), X_train, y_train)
    print(
        f"{len(loans.data):,} synthetic loan applications. The bank's rule uses salary and balance "
        "only, but women\nearn and own less. A boosting model was trained on "
        f"{len(X_train):,} of the applications, with gender as\na feature; the others are "
        "audited.\n"
    )
    settings = {
        "protected": loans.protected,
        "pos_label": 1,
        "redundancy": 0.02,
    }
    settings["random_state"] = arguments.seed
    chosen = [all_detectors()[name] for name in DEFAULT]
    results = [_build(d, settings).fit(X, y, model).result_ for d in chosen]
    _finish(results, arguments.report)
    return 0


def _detectors(arguments):
    """List the detectors."""
    for name, detector in all_detectors().items():
        card = detector.card
        print(f"{name}  ({card.reference})")
        print(f"  finds {card.finds} discrimination in the {card.where}; needs {card.access}")
        print(f"  {card.statistic} -> {card.output}")
        print(f"  published results: {card.published}")
    return 0
