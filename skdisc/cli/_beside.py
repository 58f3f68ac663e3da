"""Commands beside `skdisc audit`: what stands before an audit, and between two."""

import argparse
from pathlib import Path

import pandas as pd

from skdisc._verdicts._relevant import NUMBER, RATE, relevant_gap
from skdisc._verdicts._rule import Rule
from skdisc.auditing import Audit
from skdisc.auditing._fingerprints import data_fingerprint
from skdisc.cli._audit import add_model
from skdisc.cli._rule import add_rule, rule_of
from skdisc.cli._say import say
from skdisc.cli._verify import lacking, passed, report_in, rows_in


def add_compare(commands: argparse._SubParsersAction) -> None:
    """Add the command that compares two audits."""
    compare = commands.add_parser(
        "compare",
        help="compare two audits",
        epilog="exit codes: 0 no disparity that was not found before, 1 a disparity, 2 usage",
    )
    compare.set_defaults(run=_compare)
    compare.add_argument("before", metavar="BEFORE", help="report of an audit, .json or .html")
    compare.add_argument("after", metavar="AFTER", help="report of a later audit, .json or .html")
    compare.add_argument(
        "--data",
        metavar="FILE",
        help="the table of both audits, if they are of two models and the same people: intervals "
        "of changes are then paired",
    )
    compare.add_argument(
        "--models",
        nargs=2,
        metavar=("BEFORE", "AFTER"),
        help="files of both models, if they were audited",
    )
    add_model(compare)


def _compare(arguments):
    """Compare two audits."""
    before, after = (_read(path) for path in (arguments.before, arguments.after))
    people = {} if arguments.data is None else _people(before, after, arguments)
    comparison = before.compare(after, **people)
    say(comparison.to_text())
    return int(comparison.found_anew)


def _people(before, after, arguments):
    """Return the people of two audits, and what was decided about them in either."""
    people, decisions = [], []
    for i, report in enumerate((before, after)):
        document, source = report.document, report.document.get("source")
        if source is None or source.get("counted"):
            raise ValueError("--data needs reports of skdisc audit about the rows of a table.")
        frame = rows_in(arguments.data, source)
        if missing := lacking(frame, source):
            raise ValueError(f"--data {arguments.data!r}: {missing[0]}.")
        outcome = document["about"].get("outcome") or {}
        if outcome.get("output") == "probability" and source["model_file"]:
            raise ValueError("--data pairs decisions and numbers, not probabilities of models.")
        report_arguments = argparse.Namespace(**vars(arguments))
        report_arguments.model = (
            arguments.models[i] if arguments.models and source["model_file"] else None
        )
        X, y, model, extra = passed(document, source, frame, report_arguments)
        roles = {"weight": extra.get("sample_weight"), "groups": extra.get("groups")}
        if data_fingerprint(X, **roles) != document["fingerprints"]["data"]:
            path = (arguments.before, arguments.after)[i]
            raise ValueError(f"--data {arguments.data!r} has other rows than {path!r} is about.")
        people.append(X)
        decisions.append(_decided(X, y, model))
    if not people[0].equals(people[1]):
        raise ValueError(
            "The audits are of different rows or columns (leave decisions of the other model out "
            "by --ignore). Audits of different people are compared without --data."
        )
    return {"X": X, "decisions": decisions, "y": y}


def _decided(X, y, model):
    """Return the decisions that were audited: as passed, of a model, or the labels."""
    if model is None:
        return y
    decisions = getattr(model, "decisions", None)
    return getattr(model, "model", model).predict(X) if decisions is None else decisions


def _read(path):
    """Return the report in a file."""
    try:
        return report_in(Path(path))[0]
    except OSError as error:
        raise ValueError(f"{path!r} cannot be read: {error}.") from error
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path!r} cannot be compared: {error}") from error


def add_power(commands: argparse._SubParsersAction) -> None:
    """Add the command that says what an audit could show."""
    power = commands.add_parser("power", help="what an audit of so many people could show")
    power.set_defaults(run=_power)
    add = power.add_argument
    add("n", type=int, metavar="N", help="number of people")
    add(
        "--shares",
        action="append",
        required=True,
        metavar="ATTRIBUTE:GROUP=SHARE,...",
        help="shares of the groups of an attribute, as in sex:F=0.4,M=0.6; may be repeated",
    )
    add("--rate", type=float, default=0.5, metavar="R", help="favorable share (%(default)s)")
    add(
        "--spread",
        type=float,
        metavar="S",
        help="of numbers such as pay, in place of --rate: their standard deviation as a share of "
        "the mean, among people who are equal in the legitimate columns; gaps are shares, too",
    )
    add("--questions", type=int, metavar="N", help="default: three for each attribute")
    add("--power", type=float, default=0.8, metavar="P", help="(%(default)s)")
    add_rule(power, ("significance", "relevant_gap", "relevant_size"))
    add("--context", type=float, default=1.0, metavar="SHARE", help="people of a context (all)")
    add("--contexts", type=int, default=1, metavar="N", help="number of contexts (%(default)s)")


def _power(arguments):
    """Print what an audit could show."""
    a = arguments
    lines = power_lines(
        rule_of(a),
        a.n,
        dict(map(_shares, a.shares)),
        a.rate,
        power=a.power,
        n_questions=a.questions,
        context=a.context,
        n_contexts=a.contexts,
        spread=a.spread,
    )
    for line in lines:
        say(line)
    return 0


def power_lines(
    rule: Rule, n: int, shares: dict, rate: float, **options: float | None
) -> list[str]:
    """Return lines on what an audit of n people could show.

    `n`: number of people. `shares`: the share of each group of an attribute. `rate`: share of
    favorable outcomes; of numbers it does not matter. `**how`: further arguments of `Audit.power`.
    Raises ValueError if shares do not add up to 1, or a number is not allowed.
    """
    audit = Audit(rule=rule)
    relevant_size, lines = audit.relevant_size, []
    is_rate = options.get("spread") is None
    kind, mean, average = (RATE, rate, "rate") if is_rate else (NUMBER, 1.0, "mean")
    gap = relevant_gap(audit.relevant_gap, kind=kind, mean=mean).size
    table = audit.power(n, shares, rate, **options)
    power = options.get("power", 0.8)
    for row in table.itertuples():
        lines += [
            f"{row.attribute} = {row.group}: {row.people:,.0f} people",
            f"    shows a lower {average} with power {power:g} {_from(row.gap_below)}",
            f"    shows a higher {average} with power {power:g} {_from(row.gap_above)}",
            f"    if there is no gap, shows that none is above {row.excludes:.3f}",
            f"    in a context where it has {100 * relevant_size:.3g} % of all people, that none "
            f"is above {row.excludes_in_context:.3f}",
        ]
    needed = table["side_needed"].iloc[0]
    lines.append(
        f"The gap that matters is {gap:g}: about {needed:,.0f} people on each side, or as good as "
        "that, would show whether a larger one exists."
    )
    return lines


def _from(gap):
    return "at no gap" if pd.isna(gap) else f"from a gap of {gap:.3f}"


def _shares(text):
    """Return the attribute and the shares of its groups that a text names."""
    attribute, colon, groups = text.partition(":")
    pairs = [g.rpartition("=") for g in groups.split(",")]
    try:
        shares = {name.strip(): float(share) for name, _, share in pairs}
    except ValueError:
        shares = {}
    if not (colon and shares and all(shares)):
        raise ValueError(f"--shares {text!r} is not of the form sex:F=0.4,M=0.6.")
    return attribute.strip(), shares
