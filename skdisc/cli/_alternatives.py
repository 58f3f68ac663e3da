"""The command `skdisc alternatives`: a search for a model that is as good and less unequal."""

import argparse

from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline

from skdisc._blackbox._default_models import DEFAULT_MODELS, default_model
from skdisc._utils._files import check_writable
from skdisc._utils._warnings import ignoring
from skdisc.cli._arguments import (
    check_complete,
    check_favorable,
    column_named,
    columns_named,
    labels_named,
    option_of,
)
from skdisc.cli._audit import add_model, add_preparation, model_of, preparation, prepared
from skdisc.cli._say import say
from skdisc.cli._table import add_reading, lines_of, read_in, reading_of
from skdisc.exceptions import SkdiscWarning
from skdisc.model_selection import AlternativeReport, AlternativeSearch
from skdisc.model_selection._alternatives._question import METRICS, SCORES
from skdisc.preprocessing import ProxySelector
from skdisc.repair import DisparateImpactRemover, Reweigher

SHOWN, NONE_SHOWN = 1, 3
_DEFAULTS = AlternativeSearch().get_params(deep=False)
_SAME = ("metric", "scale", "scoring", "margin", "min_gain", "claim", "claim_size", "significance")
_THRESHOLDS = (0.4, 0.45, 0.55, 0.6)


def add_alternatives(commands: argparse._SubParsersAction) -> None:
    """Add the command to those of the parser."""
    command = commands.add_parser(
        "alternatives",
        help="search for a model that is as good and less unequal, and test it",
        epilog="exit codes: 1 an alternative is shown, 3 none is shown, 2 usage, 4 failure, 130 "
        "interrupted",
    )
    command.set_defaults(run=_alternatives)
    add = command.add_argument
    add("data", metavar="DATA", help="CSV (also .gz), Parquet, spreadsheet, …")
    add("--target", required=True, metavar="COL", help="column of the labels")
    add("--favorable", metavar="VALUE", help="favorable value of the target; several: A,B")
    add("--protected", required=True, metavar="A,B", help="columns whose gaps must become smaller")
    add("--watched", default="", metavar="A,B", help="other protected columns, which are reported")
    add("--ignore", default="", metavar="COLS", help="columns to leave out")
    add("--groups", default="", metavar="COL", help="column of clusters, such as households")
    add_preparation(command)
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--model",
        metavar="FILE",
        help="the present model, a .skops file; it must not have seen these rows",
    )
    source.add_argument("--fit", choices=DEFAULT_MODELS, help="the present model is trained here")
    add_model(command)
    for name, choices in (
        ("metric", METRICS),
        ("scale", ("difference", "ratio")),
        ("scoring", tuple(SCORES)),
        ("claim", ("model", "recipe")),
    ):
        add(f"--{name}", choices=choices, default=_DEFAULTS[name], help="(%(default)s)")
    for name, what in (
        ("margin", "by how much the score may be worse"),
        ("min_gain", "by how much more the gap must be smaller"),
        ("claim_size", "share of the people who are kept for the claim"),
        ("significance", "largest probability of a false claim"),
    ):
        help_text = f"{what} (%(default)s)"
        add(option_of(name), type=float, default=_DEFAULTS[name], metavar="X", help=help_text)
    add("--seeds", type=int, default=3, metavar="N", help="other seeds to try (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="seed of the models (%(default)s)")
    add("--jobs", type=int, metavar="N", help="candidates that are fitted at once")
    add("--log", metavar="FILE", help=".json file that counts searches on the same people")
    add("--report", metavar="FILE", help="write the answer: .html, .md, .txt or .json")
    add("--title", metavar="TEXT", help="what the data are, such as name, version and date")
    add("--verbose", action="store_true", help="report progress on standard error")
    add_reading(command)


def _alternatives(arguments):
    """Search, and print what is shown; return the exit code."""
    a = arguments
    if a.report is not None:
        AlternativeReport.check_format(a.report)
        check_writable(a.report)
    frame, notes = read_in(a.data, reading_of(a))
    names = list(frame.columns)
    target = column_named("--target", a.target, names)
    frame, notes = prepared(frame, [target], notes, **preparation(a))
    check_complete("--target", frame[target])
    favorable = None
    if a.favorable is None:
        check_favorable("--target", None, frame[target])
    else:
        favorable = labels_named("--favorable", a.favorable, frame[target])
    protected = columns_named("--protected", a.protected, names)
    groups = columns_named("--groups", a.groups, names)
    if len(groups) > 1:
        raise ValueError(f"--groups takes one column, got {len(groups)}: {a.groups}.")
    if a.seeds < 0:
        raise ValueError(f"--seeds must be at least 0, got {a.seeds}.")
    left_out = {target, *groups, *columns_named("--ignore", a.ignore, names)}
    clash = [c for c in protected if c in left_out]
    if clash:
        raise ValueError(f"--protected {clash[0]!r} is also the target, ignored, or the clusters.")
    X = frame.drop(columns=list(left_out))
    X = X.drop(columns=[c for c in X if X[c].isna().all()])
    present, again = _models(a)
    search = AlternativeSearch(
        present,
        candidates(present, again, protected, favorable, a.seed, 0 if again is None else a.seeds),
        protected=protected,
        watched=columns_named("--watched", a.watched, names) or None,
        pos_label=favorable,
        random_state=a.seed,
        n_jobs=a.jobs,
        log=a.log,
        verbose=a.verbose,
        **{name: getattr(a, name) for name in _SAME},
    )
    with ignoring(ConvergenceWarning), ignoring(SkdiscWarning):  # the report says what failed
        search.fit(X, frame[target], groups=frame[groups[0]] if groups else None)
    for line in lines_of(notes):
        say(line)
    report = search.report_ if a.title is None else search.report_.titled(a.title)
    if a.report is not None:
        report.save(a.report)
    say(report.to_text())
    if a.report is not None:
        say(f"\nReport: {a.report}")
    return SHOWN if search.claim_ else NONE_SHOWN


def _models(arguments):
    """Return the present model, and what is fitted again for candidates, or None."""
    if arguments.fit:
        model = default_model(arguments.fit, arguments.seed)
        return model, model
    model = model_of(arguments)
    again = clone(model) if isinstance(model, BaseEstimator) else None
    return FrozenEstimator(model), again


def candidates(
    present: BaseEstimator,
    again: BaseEstimator | None,
    protected: list,
    favorable: list | None,
    seed: int,
    n_seeds: int,
) -> dict[str, BaseEstimator]:
    """Return what is tried: seeds, columns, weights, repaired columns and thresholds.

    `again`: what other models are made of; None if the present one cannot be fitted again.
    """
    tried = {}
    if again is not None:
        seeds = [k for k in again.get_params() if k.endswith("random_state")]
        for number in range(1, n_seeds + 1 if seeds else 1):
            model = clone(again).set_params(**dict.fromkeys(seeds, seed + number))
            tried[f"seed {seed + number}"] = model
        without = DisparateImpactRemover(protected, amount=0.0, unseen="pool")
        tried["without the protected columns"] = make_pipeline(without, clone(again))
        for association in (0.05, 0.02):
            select = ProxySelector(protected, association=association, influence=None)
            name = f"without columns associated by more than {association:g}"
            tried[name] = make_pipeline(select, clone(again))
        for amount in (0.5, 1.0):
            repair = DisparateImpactRemover(protected, amount=amount, unseen="pool")
            tried[f"numbers repaired by {amount:g}"] = make_pipeline(repair, clone(again))
        tried["reweighed"] = Reweigher(clone(again), protected=protected)
    if hasattr(present, "predict_proba") and (favorable is None or len(favorable) == 1):
        label = favorable[0] if favorable else None
        for threshold in _THRESHOLDS:
            moved = FixedThresholdClassifier(present, threshold=threshold, pos_label=label)
            tried[f"threshold {threshold:.2f}"] = moved
    return tried
