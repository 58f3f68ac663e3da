"""One file in the app and what was chosen about it, as options of the command line."""

import re
import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path

from skdisc.app._looking import HEADS, is_counted
from skdisc.auditing._pay._templates import EU, LOGIB, TEMPLATES

PROTECTED, EQUAL, IGNORE = "protected", "", "ignore"
ROLES = {  # of a column, in words
    EQUAL: "held equal",
    PROTECTED: "protected",
    IGNORE: "left out",
    "predictions": "decision already made",
    "weights": "weight of the row",
    "groups": "cluster, such as a household",
    "counts": "number of people of the row",
}
PAY_ROLES = {  # of a number as the outcome, and of the reports of pay that laws ask for
    "hours": "hours of work",
    "category": "category of workers",
    "base": "base pay",
    "variable": "variable pay",
}
LOGIB_WORDS = {  # the parts of Logib's model
    "training": "years of training",
    "experience": "potential years of experience",
    "service": "years of service",
    "level": "level of requirements",
    "position": "professional position",
}
_OF_LAWS = ("category", "base", "variable")  # roles that only the table of a law uses
_ONE = ("predictions", "weights", "groups", "counts", *PAY_ROLES)  # roles of a single column
READING = ("encoding", "sep", "decimal", "sheet")
QUESTION = ("relevant_gap", "relevant_size", "template", "language", "time_budget")


@dataclass
class Study:
    """What was chosen about a file.

    Parameters
    ----------
    key : str
        In addresses.
    name : str
        Of the file, as the browser told it; it is shown, and never opened.
    path : Path
        Where the file is.
    folder : Path or None
        The folder to delete with it; None for a file of the user.

    Attributes
    ----------
    reading, question : dict of str to str
        Options and their values.
    missing, derive : list of str
        Values of the repeatable options.
    text, fold : list of str
        Columns.
    roles : dict of column to role
        Columns held equal are left out.
    bins : dict of column to str
        Edges.
    target, favorable : str
    is_number : bool
        Whether the outcome is a number, such as pay.
    includes : {"", "yes", "no"}
        Whether the outcome includes variable pay; "" if nobody has said so.
    logib : dict of str to str
        Columns of Logib's model of pay, by what they are.
    flags : list of str
        Options without a value.
    plan : Path or None
        A plan that was written, for the options in `planned`.
    because, why : dict of str to str
        Reasons of what the app has chosen itself: of roles, by column, and of all else, by what it
        is.
    guessed : tuple of str or None
        The columns of the table about which the app has guessed.
    to_guess : list of str
        What is still to be guessed.
    chosen : set of str
        Columns whose role the user has chosen.
    used : float
        When a page about it was asked for.
    """

    key: str
    name: str
    path: Path
    folder: Path | None = None
    reading: dict = field(default_factory=dict)
    question: dict = field(default_factory=dict)
    missing: list = field(default_factory=list)
    derive: list = field(default_factory=list)
    text: list = field(default_factory=list)
    fold: list = field(default_factory=list)
    roles: dict = field(default_factory=dict)
    bins: dict = field(default_factory=dict)
    target: str = ""
    favorable: str = ""
    is_number: bool = False
    includes: str = ""
    logib: dict = field(default_factory=dict)
    flags: list = field(default_factory=list)
    plan: Path | None = None
    planned: list = field(default_factory=list)
    because: dict = field(default_factory=dict)
    why: dict = field(default_factory=dict)
    guessed: tuple | None = None
    to_guess: list = field(default_factory=list)
    chosen: set = field(default_factory=set)
    used: float = field(default_factory=time.monotonic)

    def options(self, *, of_look: bool = False) -> list[str]:
        """Return the options of `skdisc audit`, in one order.

        Parameters
        ----------
        of_look : bool, default=False
            Whether they say what to look at; the outcome is then a column in any case.
        """
        named = ["base"] * self.is_base + ["target"] * (of_look or not self.is_base)
        pairs = [*((name, self.target) for name in named), ("favorable", self.favorable)]
        pairs += [(role, ",".join(self.columns(role))) for role in (PROTECTED, IGNORE, *_ONE)]
        pairs += [("fold", ",".join(self.fold)), *self._reading()]
        pairs += [("bins", f"{name}={edges}") for name, edges in self.bins.items()]
        pairs += [(name, self.question.get(name, "")) for name in QUESTION]
        logib = ",".join(f"{key}={name}" for key, name in self.logib.items())
        pairs += [("compare-with", f"{LOGIB}:{logib}" if logib and self.is_of_pay else "")]
        is_plain_number = self.is_number and (of_look or not self.is_of_pay)
        flags = [f"--{name}" for name in self.flags] + ["--number"] * is_plain_number
        return _options(pairs) + flags + ["--by-parts"] * is_counted(self.path)

    def _reading(self):
        """Return how the file is read, as pairs of an option and its value."""
        pairs = [("text", ",".join(self.text))]
        pairs += [(name, self.reading.get(name, "")) for name in READING]
        pairs += [("missing", text) for text in self.missing]
        return pairs + [("derive", text) for text in self.derive]

    def read_as(self) -> list[str]:
        """Return the file and the options that say how it is read."""
        return [str(self.path), *_options(self._reading())]

    def search_options(
        self,
        *,
        fit: str,
        protected: str,
        margin: str,
        claim: str,
        watched: list[str],
        fold_target: bool,
    ) -> list[str]:
        """Return the options of `skdisc alternatives` about the same rows and columns.

        Parameters
        ----------
        fit, protected, margin, claim : str
            Values of the options.
        watched : list of str
            The other protected columns.
        fold_target : bool
            Whether spellings of the outcome are made one.
        """
        ignore = [*self.columns(IGNORE), *self.columns("predictions")]
        fold = [*self.fold, *[self.target] * (fold_target and self.target not in self.fold)]
        pairs = [("target", self.target), ("favorable", self.favorable), ("fit", fit)]
        pairs += [("protected", protected), ("watched", ",".join(watched))]
        pairs += [("ignore", ",".join(ignore)), ("groups", ",".join(self.columns("groups")))]
        pairs += [("margin", margin), ("claim", claim), ("fold", ",".join(fold))]
        flags = [f"--{name}" for name in self.flags if name in ("drop-copies", "drop-unlabeled")]
        return _options([*pairs, *self._reading()]) + flags

    @property
    def is_of_pay(self) -> bool:
        """Whether the table of a law on pay is asked for."""
        return self.question.get("template") in TEMPLATES

    @property
    def asks_for_parts(self) -> bool:
        """Whether it must be said if the outcome includes variable pay."""
        return bool(self.columns("variable")) and not self.columns("base")

    @property
    def is_base(self) -> bool:
        """Whether the outcome is base pay, to which variable pay is added."""
        return self.is_of_pay and self.asks_for_parts and self.includes == "no"

    @property
    def compared(self) -> str:
        """What is compared, in words."""
        names = " + ".join([self.target, *self.columns("variable") * self.is_base])
        return f"total pay ({names})" if self.is_of_pay else names

    @property
    def lacks_law(self) -> str:
        """What the roles of parts of pay still need, a sentence, or ''."""
        if not self.is_of_pay:
            for role in _OF_LAWS:
                for name in self.columns(role):
                    return (
                        f"{name} is marked as {PAY_ROLES[role]}, which only the table of a law "
                        "uses: choose a table under “What gap matters, law, language, plan”, or "
                        "choose another role for the column on the page of columns."
                    )
        elif self.asks_for_parts and not self.includes:
            (name,) = self.columns("variable")
            return (
                f"Does {self.target} include {name}? Say so under “What gap matters, law, "
                "language, plan”: total pay depends on it."
            )
        return self._lacks_logib()

    def _lacks_logib(self):
        """Return what Logib's model still needs, or what it does not go with, a sentence, or ''."""
        if not self.logib or not self.is_of_pay:
            return ""
        lacking = [words for key, words in LOGIB_WORDS.items() if key not in self.logib]
        if lacking:
            return (
                f"Logib's model needs a column for each of its parts; {lacking[0]} has none. "
                "Choose one, or none for all parts."
            )
        if self.question["template"] != EU:
            return (
                "Logib's model stands beside the table of Directive (EU) 2023/970 only: choose "
                "that table, or no columns for the model."
            )
        if "public" in self.flags or self.columns("weights") or self.columns("groups"):
            return (
                "Logib's model takes each row as one person, and its figures do not leave the "
                "house: choose no columns for it, or neither weights nor clusters nor a page that "
                "may leave the house."
            )
        return ""

    def may_be_in_logib(self, name: str) -> bool:
        """Return whether Logib's model may have a column: one that is held equal, or category."""
        is_free = self.roles.get(name, EQUAL) in (EQUAL, "category")
        return is_free and name != self.target and "," not in name

    def words_of_roles(self) -> dict[str, str]:
        """Return the roles that a column may have, in words."""
        return ROLES | (PAY_ROLES if self.is_number else {})

    def argv(self) -> list[str]:
        """Return the file and the options of `skdisc audit`, with a plan that still holds."""
        options = self.options()
        plan = self.plan is not None and self.planned == options
        return [str(self.path), *options, *([f"--plan={self.plan}"] if plan else [])]

    def looked_at(self) -> list[str]:
        """Return the file and the options that say what is seen in it before an audit."""
        return [str(self.path), *self.options(of_look=True)]

    def in_words(self, text: str) -> str:
        """Return a message with the name that the user knows in place of that of the kept file."""
        for kept in (str(self.path), self.path.name, *HEADS):
            text = text.replace(repr(kept), repr(self.name)).replace(f'"{kept}"', repr(self.name))
        return text.replace(str(self.path), self.name)

    def columns(self, role: str) -> list[str]:
        """Return the columns of a role.

        Roles of the outcome, and those of pay while the outcome is no number, only wait.
        """
        if role in PAY_ROLES and not self.is_number:
            return []
        return [
            name
            for name, column_role in self.roles.items()
            if column_role == role and name != self.target
        ]

    def columns_equal(self) -> list[str]:
        """Return the columns that are held equal."""
        roles = {role for role in (*ROLES, *PAY_ROLES) if role}
        roles -= {"category"} if self.is_of_pay else set()  # the answers hold it equal, too
        taken = {name for role in roles for name in self.columns(role)}
        return [n for n in self.guessed or () if n != self.target and n not in taken]

    def set_role(self, name: str, role: str) -> None:
        """Give a column a role; one that only a single column can have leaves the other."""
        if role not in ROLES and role not in PAY_ROLES:
            raise ValueError(f"There is no role {role!r}.")
        if role in _ONE:
            self.roles = {
                column: column_role
                for column, column_role in self.roles.items()
                if column_role != role
            }
        self.roles.pop(name, None)
        if role != EQUAL:
            self.roles[name] = role

    def apply(self, option: str, value: str = "") -> None:
        """Set what a notice advises.

        Raises
        ------
        ValueError
            If no notice advises it.
        """
        if option == "--ignore":
            self.set_role(value, IGNORE)
        elif option == "--counts":
            self.set_role(value, "counts")
        elif option in ("--missing", "--text", "--fold"):
            several = getattr(self, option.removeprefix("--"))
            several += [value] * (value not in several)
        elif option in ("--drop-copies", "--favorable-exact"):
            name = option.removeprefix("--")
            self.flags += [name] * (name not in self.flags)
        else:
            raise ValueError(f"{option!r} is nothing that a notice advises.")


def _options(pairs):
    """Return options that have a value."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in pairs if value]


def command_line(verb: str, name: str, options: list[str], report: str) -> str:
    """Return the command about a file that writes a report, for a terminal."""
    lines = [f"skdisc {verb} {shlex.quote(name)}", *map(shlex.quote, _shown(options))]
    return " \\\n    ".join([*lines, f"--report={report}"])


def python_code(verb: str, name: str, options: list[str], report: str) -> str:
    """Return Python code that does the same as the command."""
    argv = [verb, name, *_shown(options), f"--report={report}"]
    lines = "".join(f"        {text!r},\n" for text in argv)
    return f"from skdisc.cli import main\n\nmain(\n    [\n{lines}    ]\n)"


def _shown(options):
    """Return options with names of files in place of those of the private folder."""
    return [_FOLDER.sub(r"\1", option) for option in options]


_FOLDER = re.compile(r"^(--(?:plan|log)=).*[/\\]")
