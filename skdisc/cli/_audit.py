"""The command `skdisc audit`: a file in, an `AuditReport` out."""

import argparse
import math
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from skdisc import BlackBox, report
from skdisc._blackbox._default_models import DEFAULT_MODELS, default_model
from skdisc._counts._counted_table import CountedTable, SourceRows
from skdisc._space._bins import Bins
from skdisc._task._limits import Limits
from skdisc._utils._favorable import folded, spelled_alike
from skdisc._utils._files import check_writable, read_text
from skdisc._utils._inputs import counts_of_values
from skdisc._utils._interruption import INTERRUPTED, held, release
from skdisc._utils._model_files import read_model
from skdisc._utils._safe_text import clean
from skdisc._utils._validation import plain
from skdisc._utils._warnings import ignoring
from skdisc.auditing import Audit, AuditReport
from skdisc.auditing._beside._plan_file import plan_sha256, read_plan
from skdisc.auditing._document import EXIT_CODES as EXIT_CODES_OF
from skdisc.auditing._fingerprints import in_canonical_order, model_fingerprint
from skdisc.auditing._notices import copies
from skdisc.auditing._numbers import DECISION, VALUE
from skdisc.auditing._pay._templates import OF_RATES, TEMPLATES
from skdisc.cli._arguments import (
    check_complete,
    check_favorable,
    column_named,
    columns_named,
    distinct_values,
    labels_named,
    option_of,
    texts_in,
)
from skdisc.cli._clock import began, seconds_left
from skdisc.cli._counted import DATA, is_counted, outcomes_of, refuse_rows
from skdisc.cli._notes import note_of
from skdisc.cli._numbers import add_numbers, numbers_of, output_of, with_hours
from skdisc.cli._pay import add_pay, is_of_pay, pay_of
from skdisc.cli._rule import FIELDS, add_rule, rule_of
from skdisc.cli._say import say
from skdisc.cli._table import add_reading, lines_of, read_in, reading_of, refuse_nothing, source_in
from skdisc.cli._thresholds import are_of_risk, decisions_at, note_on_cut, scores_in, thresholds_of
from skdisc.multiclass import OneVsRest
from skdisc.report._first_page import LANGUAGES, exit_code

EXIT_CODES = (
    "exit codes: 0 no disparity found by any question, 1 disparity found, also after correction "
    "for the number of questions, 2 usage, 3 insufficient evidence for some question and no "
    "disparity found, or a public report of pay, which gives no verdict, 4 failure, 130 interrupted"
)
_N_BINS = 4  # of each number, as in `Audit`
_FILES = ("model", "meta", "plan")
_NOT_ANSWERS = {"data", "run", "report", "language", "details", "show_people", "cache"}
_NOT_ANSWERS |= {"jobs", "verbose", "fail_on"}
_LIMITS = {  # fields of `Limits`, with the options that set them
    "tests": "max_tests",
    "queries": "max_queries",
    "found": "max_found",
    "rows": "max_rows",
    "seconds": "time_budget",
}


_ONE_OF_BOTH = (
    "--favorable names the favorable value of the target; where there is none, --one-vs-rest "
    "audits each class against the rest, and --number compares numbers such as pay. Pass one."
)


class _JoinedColumns(argparse.Action):
    """An option with names that can be repeated: as if all were passed at once."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Add the names to those before."""
        before = getattr(namespace, self.dest, "")
        setattr(namespace, self.dest, f"{before},{values}" if before else values)


def add_audit(commands: argparse._SubParsersAction) -> None:
    audit = commands.add_parser(
        "audit", help="audit a table, with or without a model", epilog=EXIT_CODES
    )
    audit.set_defaults(run=_audit)
    add_audit_options(audit)


def add_audit_options(audit: argparse.ArgumentParser) -> None:
    """Add the options of an audit to a parser."""
    _add_data(audit)
    _add_questions(audit)
    _add_output(audit)
    audit.add_argument("--plan", metavar="FILE", help="plan that the audit keeps to")


def _add_data(audit):
    """Add the options that name the data and the model."""
    add = audit.add_argument
    add("data", metavar="DATA", help=DATA)
    add("--by-parts", action="store_true", help="count the table part by part, also a small file")
    add("--target", default="", metavar="COL", help="column of the labels")
    add(
        "--favorable",
        metavar="VALUE",
        help="favorable value of the target; several: A,B; of numbers high or low",
    )
    add_numbers(audit)
    add_pay(audit)
    add(
        "--one-vs-rest",
        action="store_true",
        help="audit each class of the target against the rest, in place of --favorable",
    )
    add(
        "--favorable-exact",
        action="store_true",
        help="values that differ from --favorable by case or blanks count as unfavorable",
    )
    add("--protected", required=True, metavar="A,B", help="protected columns")
    add(
        "--ignore",
        action=_JoinedColumns,
        default="",
        metavar="COLS",
        help="columns to leave out; repeatable",
    )
    add_preparation(audit)
    add("--weights", default="", metavar="COL", help="column of sample weights")
    add("--groups", default="", metavar="COL", help="column of clusters, such as households")
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
    add(
        "--threshold",
        default="",
        metavar="CUTS",
        help="scores of --predictions, or of --model, at or above it are favorable decisions; "
        "several (0.3,0.5) are audited one by one, with one level for all",
    )
    add_model(audit)
    add_reading(audit)


def add_preparation(command: argparse.ArgumentParser) -> None:
    """Add the options that change rows and values; see `preparation`."""
    add = command.add_argument
    add(
        "--fold",
        action=_JoinedColumns,
        default="",
        metavar="COLS",
        help="columns whose values that differ by case or blanks alone are one value; repeatable",
    )
    add("--drop-copies", action="store_true", help="leave out rows that are copies of others")


def add_model(command: argparse.ArgumentParser) -> None:
    """Add the options that say which files of models are trusted."""
    add = command.add_argument
    add("--trust", default="", metavar="TYPES", help="types in a .skops file to trust")
    add("--trust-pickle", action="store_true", help="load a pickle, which executes its code")


def _add_questions(audit):
    """Add the options that say what is asked."""
    add = audit.add_argument
    add(
        "--detectors",
        default="auto",
        metavar="NAMES",
        help="auto (one test for each question), all, or names (%(default)s)",
    )
    add(
        "--adjust-for",
        default="",
        metavar="COLS",
        help="legitimate columns; default: all but the protected one that is asked about. A "
        "protected column named here counts in questions about the others",
    )
    add(
        "--metric",
        default="selection_rate",
        metavar="NAMES",
        help="rates that subgroups are compared by, or all (%(default)s)",
    )
    add("--direction", choices=("lower", "higher", "both"), help="sides that detectors report")
    add("--redundancy", type=float, metavar="D", help="least change by each condition of a group")
    add("--confirm", type=float, metavar="SHARE", help="share of rows held out to test findings")
    add(
        "--bins",
        action="append",
        default=[],
        metavar="BINS",
        help=f"number of bins of each number ({_N_BINS}), or edges for one column: 'age=25,60'; "
        "an edge belongs to the bin below; repeatable",
    )
    add_rule(audit, FIELDS)
    _add_limits(audit)


def _add_limits(audit):
    """Add the limits of a search."""
    add = audit.add_argument
    add("--max-tests", type=int, metavar="N", help="inputs or groups tested by a detector")
    add("--max-queries", type=int, metavar="N", help="rows that a search sends to the model")
    add("--max-found", type=int, metavar="N", help="cases that a detector finds")
    add(
        "--max-rows",
        type=_rows,
        metavar="N",
        help="rows that slow detectors examine: of more, they draw a sample, and say so; all: they "
        "draw none, of wide tables and of files that are counted, either",
    )
    add("--time-budget", type=float, metavar="S", help="seconds for the whole command")
    add(
        "--refits",
        type=int,
        metavar="N",
        help="models trained to tell a disparity from chance in training, with --fit",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed (%(default)s)")
    add("--jobs", type=int, metavar="N", help="threads for large queries of the model")


def _rows(text):
    """Return a number of rows, or "all"."""
    try:
        return text if text == "all" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or all, got {text!r}") from None


def _add_output(audit):
    """Add the options of reports."""
    add = audit.add_argument
    add(
        "--report",
        metavar="FILE",
        help="write the answers: .html, .md, .txt, .json, .xml (JUnit), .docx or .pdf",
    )
    add(
        "--language",
        choices=LANGUAGES,
        default="en",
        help="of the first page: en, de or fr; what stands below it is in English (default: en)",
    )
    add(
        "--fail-on",
        choices=["any", "equal-columns"],
        default="any",
        help="what the exit code 1 is for: any disparity, or those that remain where legitimate "
        "columns are equal, so that what these account for passes with 0 (default: any)",
    )
    add("--details", metavar="FILE", help="write results by detector: .html, .md or .json")
    add("--show-people", action="store_true", help="all groups and people in --details")
    add(
        "--public",
        action="store_true",
        help="a report for everybody: nothing follows about fewer than --min-cell people",
    )
    add("--template", choices=("general", *OF_RATES, *TEMPLATES), default="general")
    add("--meta", metavar="FILE", help="TOML file: system, period, population, auditor, …")
    add("--min-cell", type=int, default=10, metavar="N", help="people of a group that is described")
    add("--robustness", action="store_true", help="how verdicts move with settings; up to 9 audits")
    add("--cache", metavar="FOLDER", help="keep results, to go on after an interruption")
    add("--verbose", action="store_true", help="report progress on standard error")


def _audit(arguments):
    """Audit a table."""
    _check_outputs(arguments)
    if arguments.public:
        _check_public(arguments)
    refuse_nothing(arguments.data)
    if arguments.refits is not None and not arguments.fit:
        raise ValueError("--refits is about a model that --fit trains. Pass both, or leave it out.")
    if arguments.favorable and arguments.one_vs_rest:
        raise ValueError(_ONE_OF_BOTH)
    needs_rows = arguments.fit or arguments.weights or arguments.groups or arguments.robustness
    needs_rows = needs_rows or arguments.number or arguments.hours or arguments.output != DECISION
    counts = arguments.counts is not None and not needs_rows
    if counts or is_counted(arguments.data, arguments.by_parts):
        whole = "--public" if arguments.public else ""
        if is_of_pay(arguments):
            whole = f"--template {arguments.template}"
        if whole:
            raise ValueError(
                f"{whole} needs all rows, but the table is counted: audit a single file of rows."
            )
        return _audit_counts(arguments)
    frame, notes = read_in(arguments.data, reading_of(arguments))
    try:
        return _audit_rows(arguments, frame, notes)
    except BaseException:
        for line in lines_of(notes):  # which the page would have; they may say what is wrong
            say(line)
        raise


def _check_public(arguments):
    """Raise ValueError for options that print more than a public report may."""
    reasons = {
        "details": "results by detector are not public",
        "show_people": "it describes people",
        "robustness": "audits with other settings compare other groups",
        "fit": "halves of the rows, drawn with several seeds, would tell about single people",
        "weights": "weighted rates are no numbers of people",
        "groups": "clusters are sets of few people",
        "one_vs_rest": "it makes several reports",
    }
    for name, reason in reasons.items():
        if getattr(arguments, name):
            raise ValueError(f"--public goes without {option_of(name)}: {reason}.")


def _audit_rows(arguments, frame, notes):
    """Audit the rows of a table, in the order of their file; return the exit code."""
    names = list(frame.columns)
    roles, protected = _roles(arguments, names)
    is_pay = is_of_pay(arguments)
    ends = roles["--target"] + roles["--predictions"]
    ends = ends or [column_named("--base", arguments.base, names)]
    output, is_automatic = VALUE, True
    if not is_pay:
        output, is_automatic = output_of(arguments, frame[ends[0]])
    if output == DECISION and not (arguments.favorable or arguments.one_vs_rest):
        raise ValueError(_ONE_OF_BOTH)
    hours = roles["--hours"][0] if roles["--hours"] else None
    noticed = []
    if not (arguments.groups or arguments.drop_copies or arguments.weights):
        # Before columns are left out: without an identifier, copies look like people who are alike.
        # And before rows are ordered by their values: then members of a household are no neighbors.
        rows = labeled(frame, ends, [])[0] if arguments.drop_unlabeled else frame
        noticed = copies(rows.drop(columns=ends), rows[ends[0]])
    frame = in_canonical_order(frame)
    frame, notes = prepared(frame, ends, notes, hours=hours, **preparation(arguments))
    notes = [*notes, *noticed]
    _check_filled(protected, [c for c in protected if frame[c].isna().all()])
    for option in ("--target", "--predictions", "--weights", "--groups"):
        for name in roles[option]:
            check_complete(option, frame[name])
    decided = roles["--predictions"]
    favorable = arguments.favorable or None
    cuts = thresholds_of(arguments.threshold) if arguments.threshold else []
    if cuts:
        _check_thresholds(arguments, output)
    labeled_columns = [] if cuts else decided
    # Probabilities in a column have a direction, and no label.
    has_labels = output == DECISION or (output != VALUE and arguments.model)
    if not arguments.one_vs_rest and has_labels and arguments.favorable:
        favorable = labels_named(
            "--favorable", arguments.favorable, frame[ends[0]], *map(frame.get, labeled_columns)
        )
        outcomes = map(frame.get, labeled_columns)
        favorable = _all_spellings(arguments, favorable, frame[ends[0]], *outcomes)
        for name in labeled_columns if output == DECISION else ():
            check_favorable("--predictions", favorable, frame[name])
    role_columns = {c for several in roles.values() for c in several}
    X = frame.drop(columns=role_columns - set(roles["--hours"] if is_pay else []))
    extra = {
        name: frame[roles[option][0]]
        for option, name in (("--weights", "sample_weight"), ("--groups", "groups"))
        if roles[option]
    }
    y = numbers_of(frame, roles["--target"], hours, is_pay)
    model = None
    if labeled_columns and output == DECISION:
        model = BlackBox(decisions=frame[decided[0]])
    elif decided and output != DECISION:
        y = frame[decided[0]]
    if arguments.model:
        model = model_of(arguments)
    if arguments.fit:
        X, y, model, extra = trained(vars(arguments), X, y, extra)
    if cuts:
        scores = scores_in(frame, decided)
        of_risk = scores is not None and are_of_risk(scores, y.isin(favorable))
        decided_at = {
            cut: (
                decisions_at(cut, y, favorable, model, scores),
                note_on_cut(cut, scores, of_risk=of_risk),
            )
            for cut in cuts
        }
        inputs = X, y, decided_at, extra
        return _each_cut(arguments, inputs, protected, favorable, names, roles, notes)
    if arguments.one_vs_rest:
        return _each_class(arguments, (X, y, model, extra), protected, names, roles, notes)
    audit = _built(arguments, protected, favorable, names)
    audit.set_params(output=DECISION if is_automatic else output)
    if arguments.public:
        hours = roles["--hours"] if not is_pay else []
        audit._more_columns = frame[[*roles["--ignore"], *hours]]
        for line in lines_of(notes):  # on the screen only: they are about rows
            say(line)
        notes = []
    source = _source(arguments, roles, favorable, notes)
    answers = audit.fit(X, y, model, **extra).report_
    if arguments.robustness and not answers.document["about"]["interrupted"]:
        _try_settings(audit, X, y, model, extra)
    return finish(answers, arguments, source)


def _each_class(arguments, inputs, protected, names, roles, notes):
    """Audit each class against the rest; return the exit code of all together."""
    if arguments.robustness or arguments.details:
        raise ValueError("--one-vs-rest goes without --robustness and --details.")
    X, y, model, extra = inputs
    decided = y if model is None else getattr(model, "decisions", None)
    classes = None if decided is None else sorted(map(plain, pd.unique(decided)), key=str)
    audit = _built(arguments, protected, None, names)
    if arguments.time_budget is not None:  # what reading and training have left, for all classes
        audit.set_params(limits__seconds=seconds_left(arguments.time_budget))
    audits = OneVsRest(audit, classes=classes)
    audits.fit(X, y, model, **extra)
    codes = set()
    for i, (label, answers) in enumerate(audits.results_.items(), start=1):
        say(f"Class {clean(str(label))} against the rest\n")
        source = _source(arguments, roles, [label], notes) | {"one_vs_rest": True}
        codes.add(finish(answers, _numbered(arguments, i), source))
        say()
    classes_found = ", ".join(clean(str(c)) for c in audits.found_) or "none"
    say(f"All classes together: {audits.verdict_}. Classes with a disparity: {classes_found}.")
    if INTERRUPTED in codes:
        _print_left("classes", [clean(str(c)) for c in audits.classes_left_])
        return INTERRUPTED
    if arguments.fail_on == "equal-columns":
        return next((code for code in (1, 3) if code in codes), 0)
    return EXIT_CODES_OF[audits.verdict_]


def _check_thresholds(arguments, output):
    """Raise ValueError for options that thresholds do not go with."""
    if output != DECISION:
        raise ValueError(
            f"--threshold makes decisions of scores, and --output {output} compares numbers. Leave "
            "one of both out."
        )
    if not (arguments.model or arguments.predictions):
        raise ValueError("--threshold cuts scores: name their column by --predictions, or --model.")
    for name in ("one_vs_rest", "robustness", "details", "public"):
        if getattr(arguments, name):
            raise ValueError(f"--threshold goes without {option_of(name)}.")


def _each_cut(arguments, inputs, protected, favorable, names, roles, notes):
    """Audit the decisions at each threshold; return the exit code of all together."""
    X, y, decided_at, extra = inputs
    level, codes, cuts_found = rule_of(arguments).significance / len(decided_at), [], []
    cuts = [f"{cut:g}" for cut in decided_at]
    for i, (cut, (box, note)) in enumerate(decided_at.items(), start=1):
        audit = _built(arguments, protected, favorable, names)
        audit.set_params(rule__significance=level)
        if arguments.time_budget is not None:
            seconds = seconds_left(arguments.time_budget) / (len(decided_at) - i + 1)
            audit.set_params(limits__seconds=seconds)
        answers = audit.fit(X, y, box, **extra).report_
        source = _source(arguments, roles, favorable, [*notes, note]) | {"threshold": cut}
        say(f"Threshold {cut:g}\n")
        one = _numbered(arguments, i) if len(decided_at) > 1 else arguments
        codes.append(finish(answers, one, source))
        cuts_found += [f"{cut:g}"] * (codes[-1] == 1)
        say()
        if codes[-1] == INTERRUPTED:
            break
    if len(decided_at) > 1:
        say(f"All thresholds together: a disparity at {', '.join(cuts_found) or 'none'}.")
    _print_left("thresholds", cuts[len(codes) :])
    return next((code for code in (INTERRUPTED, 1, 3) if code in codes), 0)


def _numbered(arguments, i):
    """Return the options with a number in the name of the report."""
    numbered = argparse.Namespace(**vars(arguments))
    if arguments.report is not None:
        path = Path(arguments.report)
        numbered.report = str(path.with_name(f"{path.stem}-{i}{path.suffix}"))
    return numbered


def _print_left(kind, left):
    """Print which classes or thresholds an interrupted audit did not come to, if any."""
    if left:
        say(f"Interrupted: {kind} that were not audited: {', '.join(left)}.")


def _try_settings(audit, X, y, model, extra):
    """Put into the report how its verdicts move with settings, unless that is interrupted."""
    seconds = None if audit.limits is None else audit.limits.seconds
    if seconds is not None and not seconds_left(seconds):
        say("The verdicts under other settings were not asked: --time-budget was spent.\n")
        return
    try:
        audit.robustness(X, y, model, **extra)
    except KeyboardInterrupt:
        say("The verdicts under other settings were interrupted, and are left out.\n")
        audit.report_.document["verdict"]["exit_code"] = INTERRUPTED


def _audit_counts(arguments):
    """Audit a table that is counted, part by part."""
    refuse_rows(arguments)
    if not arguments.favorable:
        raise ValueError(_ONE_OF_BOTH)
    release()  # counting a large table takes its time
    source = source_in(arguments.data, reading_of(arguments))
    notes = getattr(source, "notes", [])
    for line in lines_of(notes):
        say(line)
    roles, protected = _roles(arguments, source.columns)
    source = source.only([c for c in source.columns if c not in roles["--ignore"]])
    decided = roles["--predictions"]
    model = model_of(arguments) if arguments.model else None
    rows = SourceRows.read(source, roles["--target"][0], decided[0] if decided else model)
    folder = None if arguments.cache is None else Path(arguments.cache) / "counts"
    schema = rows.schema(protected, checkpoint=folder)
    _check_filled(protected, [c.name for c in schema.columns if not c.values])
    favorable = labels_named(
        "--favorable", arguments.favorable, *outcomes_of(schema), of_rows=False
    )
    favorable = _all_spellings(arguments, favorable, *outcomes_of(schema))
    audit = _built(arguments, protected, favorable, rows.columns)
    table = CountedTable.of(
        rows,
        protected,
        pos_label=favorable,
        schema=schema,
        checkpoint=folder,
        random_state=audit.random_state,
    )
    answers = audit.fit(table).report_
    provenance = _source(arguments, roles, favorable, notes) | {"counted": True}
    return finish(answers, arguments, provenance)


def _all_spellings(arguments, favorable, *columns):
    """Return the favorable labels in all their spellings, unless only the exact ones are meant."""
    if arguments.favorable_exact:
        return favorable
    return spelled_alike(favorable, distinct_values(columns))


def preparation(arguments):
    """Return what the options say about the rows and values of a table."""
    a = arguments
    options = {"drop_unlabeled": a.drop_unlabeled, "drop_copies": a.drop_copies}
    options["fold"] = texts_in(a.fold)
    return {name: value for name, value in options.items() if value}


def prepared(frame, ends, notes, *, drop_unlabeled=False, drop_copies=False, fold=(), hours=None):
    """Return a table as options change it, and notes on that.

    `ends`: the labels, and the decisions if there are any. `notes`: notes so far. `drop_unlabeled`
    and `drop_copies`: whether rows without a label, and copies of other rows, are left out. `fold`:
    columns whose values that differ by case or blanks alone are one value: the most frequent.
    `hours`: column of hours, which must be above 0 or are left out with `drop_unlabeled`.
    """
    if hours is not None:
        frame, notes = with_hours(frame, hours, notes, drop=drop_unlabeled)
    if drop_unlabeled:
        frame, notes = labeled(frame, ends, notes)
    if drop_copies:
        copied = frame.duplicated()
        n = int(copied.sum())
        seen = "one dropped copy" if n == 1 else "dropped copies"
        frame = frame[~copied].reset_index(drop=True)
        notes = [*notes, note_of("--drop-copies", None, seen, "left out", n=f"{n:,}")]
    for name in columns_named("--fold", ",".join(fold), list(frame.columns)):
        of_text = {v: folded(v) for v in frame[name].dropna().unique() if isinstance(v, str)}
        most = {}
        for value in frame[name].value_counts().index:
            most.setdefault(of_text.get(value), value)
        changed = {v: most[text] for v, text in of_text.items() if v != most[text]}
        n = int(frame[name].isin(list(changed)).sum())
        frame = frame.assign(**{name: frame[name].replace(changed)}) if changed else frame
        notes = [*notes, note_of("--fold", name, "folded", "made one", n=f"{n:,}")]
    return frame, notes


def labeled(frame, ends, notes):
    """Return the rows that have a label and a decision, and notes that say how many have none."""
    is_labeled = frame[ends].notna().all(axis=1)
    n = int((~is_labeled).sum())
    if not n:
        return frame, notes
    if n == len(frame):
        raise ValueError(f"{ends[0]!r} is missing in every row.")
    seen = "one without label" if n == 1 else "without label"
    note = note_of("--drop-unlabeled", ends[0], seen, "left out", n=f"{n:,}")
    return frame[is_labeled].reset_index(drop=True), [*notes, note]


def _roles(arguments, names):
    """Return the columns of each option but --protected, by option, and the protected ones."""
    roles = {"--target": []}
    if arguments.target or arguments.template not in TEMPLATES:
        roles["--target"] = [column_named("--target", arguments.target, names)]
    for option in ("--ignore", "--predictions", "--weights", "--groups", "--hours"):
        text = getattr(arguments, option.removeprefix("--"))
        roles[option] = columns_named(option, text, names)
    protected = columns_named("--protected", arguments.protected, names)
    clash = [c for c in protected if any(c in several for several in roles.values())]
    if clash:
        options = ", ".join(o for o, several in roles.items() if clash[0] in several)
        raise ValueError(f"--protected {clash[0]!r} is also named by {options}.")
    return roles, protected


def _check_filled(protected, empty):
    """Raise ValueError if a protected column has no values."""
    missing = [c for c in protected if c in empty]
    if missing:
        raise ValueError(f"--protected {missing[0]!r} is missing in every row.")


def model_of(arguments):
    """Return the model of a file that is trusted as the options say."""
    trusted = [t for t in arguments.trust.split(",") if t]
    return read_model(arguments.model, trust_pickle=arguments.trust_pickle, trusted=trusted)


def trained(options, X, y, extra):
    """Train a model on one half of the rows; return the other half and the model.

    ``options`` are those of the command: fit, the kind of model, seed and refits.
    """
    kind, seed = options["fit"], options["seed"]
    check_complete("--target", y)
    empty = [c for c in X if X[c].isna().all()]
    if empty:
        say(f"Dropped, because they are empty: {clean(', '.join(map(str, empty)))}.")
        X = X.drop(columns=empty)
    groups = extra.get("groups")
    train, rest = _halves(y, groups, seed)
    X_train, X, y_train, y = X.iloc[train], X.iloc[rest], y.iloc[train], y.iloc[rest]
    groups = None if groups is None else groups.iloc[train]
    with ignoring(ConvergenceWarning):  # the network intentionally stops early
        model = BlackBox.trained(
            default_model(kind, seed),
            X_train,
            y_train,
            groups=groups,
            n_refits=options.get("refits"),
        )
    say(f"Trained {kind} on {len(X_train):,} rows; the other {len(X):,} rows are audited.\n")
    return X, y, model, {name: values.loc[X.index] for name, values in extra.items()}


def _halves(y, groups, seed):
    """Return the rows to train on, and those to audit; a cluster is in one of the halves."""
    if groups is not None:
        split = GroupShuffleSplit(1, test_size=0.5, random_state=seed)
        return next(split.split(y, groups=groups))
    stratify = y if counts_of_values(y).min() > 1 else None
    positions = np.arange(len(y))
    return train_test_split(positions, test_size=0.5, random_state=seed, stratify=stratify)


def _built(arguments, protected, favorable, names):
    """Return the Audit of the options."""
    a = arguments
    detectors = texts_in(a.detectors) or "auto"
    settings = {n: getattr(a, n) for n in ("direction", "redundancy")}
    limits = {field: getattr(a, option) for field, option in _LIMITS.items()}
    limits = Limits(**{field: math.inf if n == "all" else n for field, n in limits.items()})
    audit = Audit(
        protected=protected,
        pos_label=favorable,
        detectors=detectors[0] if detectors in (["auto"], ["all"]) else detectors,
        outcome_scale=a.outcome_scale,
        adjust_for=columns_named("--adjust-for", a.adjust_for, names) or "others",
        metric=a.metric if a.metric == "all" else [m.strip() for m in a.metric.split(",")],
        n_bins=_bins(a.bins, names),
        settings={n: v for n, v in settings.items() if v is not None} or None,
        confirm=a.confirm,
        rule=rule_of(arguments),
        limits=limits if limits.changed() else None,
        template=a.template,
        pay=pay_of(arguments, names),
        disclosure="public" if a.public else "internal",
        meta=_meta(a.meta),
        min_cell=a.min_cell,
        cache=a.cache,
        random_state=a.seed,
        n_jobs=a.jobs,
        verbose=a.verbose,
    )
    audit._started = began()
    return audit


def _bins(texts, names):
    """Return the bins of numbers that options name: `n_bins` of an Audit."""
    edges, n = {}, _N_BINS
    for text in texts:
        column, equals, values = text.rpartition("=")
        try:
            if equals:
                (name,) = columns_named("--bins", column.strip(), names)
                edges[name] = sorted({float(v) for v in values.split(",")})
            else:
                n = int(text)
        except (TypeError, ValueError) as error:
            if "there is no column" in str(error) or "not a column" in str(error):
                raise
            raise ValueError(
                f"--bins {text!r} is neither a number of bins nor of the form 'age=25,60'."
            ) from None
    return Bins(n, edges=edges) if edges else n


def _meta(path):
    """Return the fields of a TOML file as text, or None without a file."""
    if path is None:
        return None
    try:
        fields = tomllib.loads(read_text(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"--meta {path!r} cannot be read: {error}.") from error
    return {name: str(value) for name, value in fields.items()}


def _source(arguments, roles, favorable, notes):
    """Return which columns and values of the file were read, and how, for verification."""
    columns = {o.removeprefix("--"): several for o, several in roles.items()}
    source = {n: str(columns[n][0]) if columns[n] else None for n in columns if n != "ignore"}
    if source["hours"] is None:
        del source["hours"]
    source |= {"fit": arguments.fit, "seed": arguments.seed, "refits": arguments.refits}
    source["model_file"] = None if arguments.model is None else Path(arguments.model).name
    source["favorable"] = [favorable] if isinstance(favorable, str) else favorable or []
    source["ignore"] = list(map(str, columns["ignore"]))
    reading = reading_of(arguments).to_dict() | preparation(arguments)
    if reading:
        source["reading"] = reading
    if notes:
        source["notes"] = [note.to_dict() for note in notes]
    return source


def _command(arguments):
    """Return the command of an audit, without folders and what its answers do not depend on."""
    parser = argparse.ArgumentParser()
    add_audit_options(parser)
    lines = ["skdisc audit DATA"]
    for name, value in vars(arguments).items():
        if name in _NOT_ANSWERS or value == parser.get_default(name):
            continue
        for one in value if isinstance(value, list) else [value]:
            one = Path(one).name if name in _FILES else one
            text = "" if one is True else f"={shlex.quote(str(one))}"
            lines.append(f"{option_of(name)}{text}")
    return " \\\n    ".join(lines) + "\n"


def _check_outputs(arguments):
    """Raise before the audit if what it says could not be written."""
    check_report(arguments.report)
    if arguments.details is not None:
        report.check_format(arguments.details)
        check_writable(arguments.details)


def check_report(path):
    """Raise ValueError if the answers cannot be written to this file."""
    if path is not None:
        AuditReport.check_format(path)
        check_writable(path)


def finish(answers, arguments, source):
    """Write the answers, then print them; return the exit code."""
    if getattr(arguments, "model", None):
        answers.document["fingerprints"]["model"] = model_fingerprint(arguments.model)
    if source is not None:
        options_shown = {note["option"] for note in source.get("notes", [])}
        notices = [n for n in answers.document["notices"] if n["option"] not in options_shown]
        answers.document |= {"source": source, "code": _command(arguments), "notices": notices}
        if arguments.plan is not None:
            plan = read_plan(arguments.plan, "options")
            answers.document["plan"]["sha256"] = plan_sha256(plan)
    with held() as interruptions:
        _write(answers, arguments)
    if interruptions:
        return INTERRUPTED
    code = answers.document["verdict"]["exit_code"]
    if code != INTERRUPTED and getattr(arguments, "fail_on", "any") == "equal-columns":
        code = exit_code(answers.document["answers"])
    return code


def _write(answers, arguments):
    """Write the answers where the options say, and print them."""
    language = getattr(arguments, "language", "en")
    if arguments.report is not None:
        answers.save(arguments.report, language)
    details = getattr(arguments, "details", None)
    if details is not None:
        several = answers.results if arguments.show_people else answers.details
        report.write(list(several.values()), details, show_people=arguments.show_people)
    say(answers.to_text(language=language))
    for name, path in (("Report", arguments.report), ("Details", details)):
        if path is not None:
            say(f"\n{name}: {path}")
