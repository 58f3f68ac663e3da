"""The command `skdisc which`: from a question to a call."""

import argparse
import sys

from skdisc.cli._say import say

HAVE = {
    "decisions": "a table of decisions, or of labels",
    "model": "a model that can be asked about new people",
    "stream": "decisions that keep arriving",
}
ABOUT = {
    "everything": "one answer to everything: an audit",
    "groups": "protected groups, such as women",
    "subgroups": "smaller groups, such as women in one town",
    "people": "single people",
}
WANT = {  # what else is asked, by what it is about; each with the input it needs
    "groups": {
        "rates": ("their rates, by any measure", "any"),
        "pay": ("their pay, or other numbers", "any"),
        "pay_gap": ("the report of pay that a law asks for", "decisions"),
        "hidden": ("their rates, where the protected column is not there", "any"),
        "explained": ("what legitimate columns explain of their gap", "any"),
        "outcomes": ("what became of those who were selected", "any"),
        "risk": ("decisions about people of equal risk, whose outcomes are known", "any"),
        "thresholds": ("the risk above which they are selected, from rates in many places", "any"),
        "order": ("their places in a ranking", "any"),
        "certificate": ("a certificate that a model is fair to them", "model"),
        "repair": ("a model with smaller gaps", "any"),
    },
    "subgroups": {
        "causes": ("the few groups behind all differences", "any"),
        "all": ("all groups that differ", "any"),
        "errors": ("where a model errs most", "any"),
        "calibration": ("whether a score means the same in all groups", "model"),
        "recourse": ("who has fewer ways to change a decision", "model"),
    },
    "people": {
        "use": ("whether decisions use the protected column, and for how many", "model"),
        "cases": ("as many cases as possible, to train against", "model"),
        "alike": ("people decided unlike others who are similar", "any"),
        "world": ("people who would be decided otherwise as another person from birth", "any"),
    },
}
CALLS = {
    "everything": "skdisc.Audit(protected=[...]).fit(X, y{model}).report_",
    "stream": "skdisc.monitoring.DisparityMonitor(protected=[...]).partial_fit(X, y)",
    "rates": "skdisc.group.GroupDisparity(protected=[...]).fit(X, y{model}).result_",
    "pay": "skdisc.Audit(protected=[...], output='value').fit(X, y{model}).report_",
    "pay_gap": "skdisc.Audit(protected=['sex'], template='pay_transparency', pay={{...}}).fit(X)"
    ".report_",
    "hidden": "skdisc.group.ProxyDisparity(protected=['p_...']).fit(X, y{model}).result_",
    "explained": "skdisc.group.OaxacaBlinder(protected=...).fit(X, y{model}).result_",
    "outcomes": "skdisc.group.OutcomeTest(protected=...).fit(X, y{decisions}).result_",
    "risk": "skdisc.group.RiskAdjustedRegression(protected=...).fit(X, y{decisions}).result_",
    "thresholds": "skdisc.group.ThresholdTest(protected=..., place=...).fit"
    "(X, y{decisions}).result_",
    "order": "skdisc.group.RankingDisparity(protected=...).fit(X, y{model}).result_",
    "certificate": "skdisc.group.VeriFair(protected=...).fit(X, y{model}).result_",
    "repair": "skdisc.repair.Reweigher(estimator, protected=...).fit(X, y)",
    "causes": "skdisc.subgroup.DisparityPursuit(protected=[...]).fit(X, y{model}).result_",
    "all": "skdisc.subgroup.DivExplorer(protected=[...]).fit(X, y{model}).result_",
    "errors": "skdisc.subgroup.SliceLine(protected=[...]).fit(X, y{model}).result_",
    "calibration": "skdisc.subgroup.MulticalibrationAudit(protected=...).fit(X, y{model}).result_",
    "recourse": "skdisc.subgroup.FACTS(protected=...).fit(X, y{model}).result_",
    "use": "skdisc.individual.Themis(protected=[...]).fit(X, y{model}).result_",
    "cases": "skdisc.individual.KOSEI(protected=[...]).fit(X, y{model}).result_",
    "alike": "skdisc.individual.SituationTesting(protected=...).fit(X, y{model}).result_",
    "world": "skdisc.individual.CounterfactualFairness(do={...}).fit(X, y{model}).result_",
}


def add_which(commands: argparse._SubParsersAction) -> None:
    which = commands.add_parser("which", help="from a question to the call that answers it")
    which.set_defaults(run=_which)
    which.add_argument("--have", choices=HAVE, help="what there is to audit")
    which.add_argument("--about", choices=ABOUT, help="what the question is about")
    questions = [name for questions_about in WANT.values() for name in questions_about]
    which.add_argument("--want", choices=questions, help="what is asked about it")


def _which(arguments):
    """Ask what is not given as an option, and print the call."""
    have = arguments.have or _choice("What do you have?", HAVE)
    if have == "stream":
        say(CALLS["stream"])
        return 0
    about = arguments.about or _choice("What is your question about?", ABOUT)
    name = about
    if about in WANT:
        offered = {k: text for k, (text, needs) in WANT[about].items() if needs in ("any", have)}
        name = arguments.want or _choice("What do you want to know?", offered)
        if name not in offered:
            raise ValueError(
                f"--want {name} does not go with --have {have} --about {about}. "
                f"Possible: {', '.join(offered)}."
            )
    replacements = {"{model}": "", "{decisions}": ", skdisc.BlackBox(decisions=...)"}
    call = CALLS[name]
    for mark, text in replacements.items():
        call = call.replace(mark, ", model" if have == "model" else text)
    say(call)
    return 0


def _choice(question, choices):
    """Return the name of the choice that the user makes."""
    if not sys.stdin.isatty():
        raise ValueError(
            f"{question} There is no terminal to answer on; pass --have, --about and --want "
            f"(here: {', '.join(choices)})."
        )
    say(question)
    for i, text in enumerate(choices.values(), start=1):
        say(f"  {i}  {text}")
    while True:
        answer = input("Number: ").strip()
        if answer.isdigit() and 1 <= int(answer) <= len(choices):
            return list(choices)[int(answer) - 1]
        say(f"Please type a number from 1 to {len(choices)}.")
