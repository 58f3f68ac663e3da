"""The command `skdisc plan`, and audits that keep to a plan."""

import argparse
import json

from skdisc.auditing._beside._plan_file import make_plan_file, plan_sha256, read_plan, write_plan
from skdisc.cli._arguments import option_of
from skdisc.cli._audit import add_audit_options
from skdisc.cli._say import say
from skdisc.cli._table import FILE

_OPEN = {  # options that a plan leaves open: where things are, and how fast
    *("data", "model", "trust", "trust_pickle", "jobs", "report", "details", "meta", "cache"),
    *("verbose", "plan", "source", "show_people", "robustness", "by_parts"),
    *FILE,
}


def add_plan(commands: argparse._SubParsersAction) -> None:
    """Add the command that writes a plan."""
    plan = commands.add_parser("plan", help="write the plan of an audit before the data are read")
    plan.set_defaults(run=_plan)
    add_audit_options(plan)
    for action in plan._actions:
        if action.dest in _OPEN:
            action.help = argparse.SUPPRESS
            action.required = False
            action.nargs = "?" if not action.option_strings else action.nargs
    plan.add_argument("--out", required=True, metavar="FILE", help="the plan, a .json file")


def _plan(arguments):
    """Write a plan."""
    local_options = [n for n, v in vars(arguments).items() if n in _OPEN and v]
    if local_options:
        raise ValueError(f"A plan leaves {local_options[0]} open: pass it to skdisc audit --plan.")
    not_planned = {*_OPEN, "run", "out"}
    options = {n: v for n, v in vars(arguments).items() if n not in not_planned}
    plan = make_plan_file("options", options)
    write_plan(plan, arguments.out)
    say(f"Plan: {arguments.out}\nSHA-256: {plan_sha256(plan)}")
    return 0


def with_plan(argv: list[str]) -> list[str]:
    """Return arguments of `skdisc audit` with the options of the plan that they name.

    Returns a list of str: as passed if they name no plan. Raises ValueError if an option
    contradicts the plan, or the plan cannot be read.
    """
    if argv[:1] != ["audit"] or not any(a.startswith("--pl") for a in argv):
        return argv
    passed = _options_passed(argv[1:])
    if "plan" not in passed:
        return argv
    options, more = read_plan(passed["plan"], "options")["options"], []
    _check_plan(options, passed["plan"])
    for name, value in passed.items():
        if name not in _OPEN and (name not in options or options[name] != value):
            planned = options.get(name)
            rule = "does not set it" if planned in (None, "") else f"says {json.dumps(planned)}"
            raise ValueError(
                f"{option_of(name)} {value} contradicts the plan, which {rule}. Keep to the plan, "
                f"or write another, before you look, by skdisc plan with {option_of(name)}."
            )
    for name, value in options.items():
        if name not in passed and value not in (None, "", [], False):
            several = value if isinstance(value, list) else [value]
            more += [option_of(name) + ("" if one is True else f"={one}") for one in several]
    return argv + more


def _check_plan(options, path):
    """Raise ValueError for a plan with anything but questions and settings, in their types.

    A plan comes from somebody else: it must not name files to read or to write, or types to trust.
    """
    parser = argparse.ArgumentParser(prog="skdisc audit")
    add_audit_options(parser)
    actions = {a.dest: a for a in parser._actions if a.dest not in _OPEN and a.dest != "help"}
    for name, value in options.items():
        if name not in actions:
            raise ValueError(
                f"The plan {str(path)!r} sets {name!r}, which no plan may set. A plan says what is "
                f"asked: {', '.join(actions)}."
            )
        is_list = isinstance(value, list)
        parts = value if is_list else [value]
        is_plain = all(isinstance(one, (str, int, float, type(None))) for one in parts)
        if is_list != isinstance(actions[name].default, list) or not is_plain:
            raise ValueError(f"The plan {str(path)!r} has {name} = {value!r:.80}: not a setting.")


def _options_passed(argv):
    """Return the options that are passed, without defaults."""
    parser = argparse.ArgumentParser(prog="skdisc audit", argument_default=argparse.SUPPRESS)
    add_audit_options(parser)
    for action in parser._actions:
        action.default, action.required = argparse.SUPPRESS, False
    return vars(parser.parse_args(argv))
