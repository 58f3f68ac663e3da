"""What the names and values of a table suggest about it: choices that are made beforehand.

Each is shown with its reason, and can be changed. What is not clear is left to the user.
"""

import re
import unicodedata

from skdisc._utils._favorable import folded
from skdisc.app._looking import is_counted
from skdisc.app._study import EQUAL, IGNORE, PROTECTED, Study
from skdisc.auditing._numbers import MANY
from skdisc.auditing._pay._templates import EU, MEN_WORDS, WOMEN_WORDS

_PARTS = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-Z])")
_MOST_VALUES = 10  # of a decision
_MOST_GROUPS = 50  # of a protected column that is not a number


def _named(words):
    return frozenset(words.split())


# Words of English, German, French and Spanish, without accents.
_AGE = "age"
_KINDS = {  # of what may be protected
    "sex": _named("sex sexe sexo gender geschlecht genero"),
    _AGE: _named("age alter altersgruppe altersklasse edad"),
    "origin or race": _named(
        "race rasse minority ethnicity ethnic ethnie ethnizitat etnia hautfarbe "
        "herkunft native origin origine origen nationality nationalitat nationalite nacionalidad "
        "citizenship staatsangehorigkeit migrationshintergrund migrant birthplace geburtsland"
    ),
    "religion": _named("religion konfession"),
    "disability": _named(
        "disability disabled behinderung schwerbehinderung schwerbehindert handicap"
    ),
}
# Things, whose age and origin are not those of people.
_OF_THINGS = _named("car vehicle account house building company firm contract loan policy")
# Decisions that people want.
_HIRED = _named(
    "hired hire granted approved approval accepted admitted admission promoted promotion selected "
    "shortlisted invited offered awarded passed eingestellt einstellung zusage zugesagt bewilligt "
    "bewilligung genehmigt angenommen befordert beforderung zugelassen zulassung eingeladen "
    "embauche embauchee recrute accorde accepte admis promu retenu contratado aprobado concedido "
    "admitido"
)
# And those that they do not want.
_REJECTED = _named(
    "rejected rejection denied denial declined refused refusal dismissed fired absage abgelehnt "
    "ablehnung abgesagt entlassen gekundigt kundigung refuse rejete licencie rechazado"
)
# And those of which a name tells nothing more.
_DECIDED = _named("decision outcome result entscheidung ergebnis resultat decided resultado")
# Pay, and its parts.
_PAY = _named(
    "pay salary wage wages earnings compensation gehalt lohn entgelt vergutung verdienst salaire "
    "remuneration salario sueldo"
)
_TOTAL = _named("total gesamt")
_BASE = _named("base basic grund")
_VARIABLE = _named("variable bonus bonuses complementary zulage zulagen pramie prime")
_VAGUE = _named("variable complementary")  # which alone say nothing of pay
_NO_AMOUNT = _named(
    "percent pct percentage rate share target eligible prozent satz quote taux porcentaje"
)
# Workers of the same work, or of work of equal value.
_CATEGORY = _named(
    "grade band category entgeltgruppe gehaltsgruppe lohngruppe besoldungsgruppe tarifgruppe "
    "vergutungsgruppe gehaltsband kategorie categorie categoria grado"
)
# Pay that was not paid by this employer.
_NOT_PAID = _named("desired expected wanted wunsch previous former last requested")
_HOURS = _named("hours stunden wochenstunden arbeitsstunden heures horas")
# Where people live.
_ADDRESS = _named(
    "address adresse anschrift wohnadresse postanschrift street strasse hausnummer rue calle "
    "direccion domicilio zip zipcode postcode postal plz postleitzahl wohnort neighborhood "
    "neighbourhood stadtteil quartier barrio residence"
)
_OF_NO_PLACE = _named("email mail ip mac web url")  # addresses of another kind
_NUMBERS_OF_ROWS = _named("id nr no number nummer numero row index key person case applicant")
_NOT = _named("not no nicht non pas")
_YES = _named("yes y ja j oui o si true t 1 1.0")
_NO = _named("no n nein non false f 0 0.0")


def _words(name):
    """Return the set of words in a name or a value, without case and accents."""
    text = unicodedata.normalize("NFKD", _CAMEL.sub(" ", str(name)))
    text = "".join(c for c in text if not unicodedata.combining(c))
    return {word.casefold() for word in _PARTS.findall(text)}


def _by_name(seen):
    """Return what is seen in the columns, by their names."""
    return {column["name"]: column for column in seen["columns"]}


def guess(study: Study, seen: dict) -> bool:
    """Make the next choices about a file; return whether what is seen may change with them.

    Parameters
    ----------
    study : Study
        Its `to_guess` names what is still to be guessed, and what is guessed is taken from it.
    seen : dict
        What `look` has seen with the choices so far.
    """
    names = tuple(seen["names"])
    if study.guessed != names:  # a file that was never seen, or is read otherwise now
        study.guessed, study.to_guess = names, list(_GUESSES)
    while study.to_guess:
        what = study.to_guess.pop(0)
        before = study.looked_at()
        _GUESSES[what](study, seen)
        if study.looked_at() != before:
            return True
    return False


def guess_again(study: Study) -> None:
    """Take back what was guessed about the last outcome, and guess about the new one."""
    for name, reason in list(study.because.items()):
        if reason in _OF_OUTCOME:
            del study.because[name]
            study.roles.pop(name, None)
    if "template" in study.why:
        study.question.pop("template", None)
    for what in ("target", "favorable", "includes", "template"):
        study.why.pop(what, None)
    study.to_guess = ["pay", "favorable", "outcome"]


def _guess_columns(study, seen):
    """Guess the outcome, the protected columns and those of addresses, by their names."""
    columns = _by_name(seen)
    if not study.target:
        _guess_target(study, columns)
    named = {name: _protected_kind(column) for name, column in columns.items()}
    named = {n: kind for n, kind in named.items() if kind and n != study.target}
    # Each further question takes longer, and weakens the answers to the others.
    are_others = any(kind != _AGE for kind in named.values())
    for name, kind in named.items():
        if not (kind == _AGE and are_others) and name not in study.roles:
            _take(study, name, PROTECTED, f"its name says {kind}")
    for name in columns:
        words = _words(name)
        is_place = words & _ADDRESS and not words & (_OF_NO_PLACE | _OF_THINGS)
        if is_place and name != study.target and name not in study.roles:
            _take(study, name, IGNORE, _WHERE_PEOPLE_LIVE)


def _protected_kind(column):
    """Return what the name of a column says about people that may matter; '' if nothing."""
    words = _words(column["name"])
    if words & _OF_THINGS or (column["kind"] != "number" and column["distinct"] > _MOST_GROUPS):
        return ""
    return next((kind for kind, several in _KINDS.items() if words & several), "")


def offered(study: Study, seen: dict) -> list[dict]:
    """Return the columns that are likely to be protected.

    Returns
    -------
    list of dict
        ``i``, the place of the column; ``name``; ``why``, a reason, or ''.
    """
    offers = []
    for i, column in enumerate(seen["columns"]):
        name, kind = column["name"], _protected_kind(column)
        is_protected = study.roles.get(name) == PROTECTED
        if name != study.target and (kind or is_protected):
            ask = "" if is_protected else "; tick it to ask about it, too"
            why = study.because.get(name, f"its name says {kind}{ask}" if kind else "")
            offers.append({"i": i, "name": name, "why": why})
    return offers


def _guess_target(study, columns):
    """Guess the outcome, if a single column is likely to be it."""
    few = {n: c for n, c in columns.items() if _is_decision(c)}
    many = {n: c for n, c in columns.items() if c["kind"] == "number" and c["distinct"] > MANY}
    pay = [n for n in many if _PAY & _words(n) and not _NOT_PAID & _words(n)]
    pay = [n for n in pay if not _VARIABLE & _words(n)]
    likely = (
        [n for n in few if _HIRED & _words(n)],
        [n for n in few if _REJECTED & _words(n)],
        [n for n in few if _DECIDED & _words(n)],
        [n for n in pay if _TOTAL & _words(n)],
        [n for n in pay if _BASE & _words(n)],
        pay,
    )
    names = next((several for several in likely if several), [])
    if len(names) != 1:
        return
    study.target, study.is_number = names[0], names[0] in many
    what = "pay" if study.is_number else "a decision"
    study.why["target"] = f"chosen because its name says {what}"


def _is_decision(column):
    """Return whether a column has as few values as a decision."""
    most = 2 if column["kind"] == "number" else _MOST_VALUES
    return 2 <= column["distinct"] <= most


def _guess_pay(study, seen):
    """Guess roles of columns beside pay: hours of work, and parts of pay."""
    if not _is_about_pay(study):
        return
    words = _words(study.target)
    for answer, several in (("yes", _TOTAL), ("no", _BASE)):
        if words & several:
            study.includes = answer
            study.why["includes"] = f"chosen because of the name {study.target}"
    for column in seen["columns"]:
        name, words = column["name"], _words(column["name"])
        if name == study.target or name in study.roles or column["kind"] != "number":
            continue
        if words & _HOURS and not study.columns("hours"):
            _take(study, name, "hours", _HOURS_OF_PAY)
        elif words & _VARIABLE or (words & _PAY and words & (_TOTAL | _BASE)):
            _take(study, name, IGNORE, _PART_OF_PAY)
    if study.includes and _parts_of_pay(study, seen)["variable"] and not table_lacks(study, seen):
        take_table(study, seen)
        study.why["template"] = _WHY_TABLE[study.includes]


def _is_about_pay(study):
    """Return whether the outcome is a number that is pay by its name."""
    return study.is_number and bool(_PAY & _words(study.target))


def _is_variable_pay(words):
    """Return whether the words of a name say variable pay, as an amount that was paid."""
    says_variable = words & _VARIABLE and words & (_PAY | _VARIABLE - _VAGUE)
    return bool(says_variable) and not words & (_NO_AMOUNT | _NOT_PAID)


def _parts_of_pay(study, seen):
    """Return the columns that the table of pay takes beside the outcome: by role, their names."""
    parts = {"variable": [], "base": [], "category": []}
    for column in seen["columns"]:
        name, words = column["name"], _words(column["name"])
        is_free = study.roles.get(name, EQUAL) in (EQUAL, IGNORE, *parts)
        if name == study.target or not is_free or words & _NOT_PAID:
            continue
        is_amount = column["kind"] == "number" and float((column["ends"] or [0, 0])[1]) > 1
        is_amount &= not words & _NO_AMOUNT
        if is_amount and _is_variable_pay(words):
            parts["variable"].append(name)
        elif is_amount and words & _PAY and words & _BASE and study.includes == "yes":
            parts["base"].append(name)
        elif words & _CATEGORY and 2 <= column["distinct"] <= _MOST_GROUPS:
            parts["category"].append(name)
    return parts


def has_table(study: Study, seen: dict) -> bool:
    """Return whether base, variable and total pay may be asked about in one run."""
    if study.is_of_pay:
        return True
    return _is_about_pay(study) and bool(_parts_of_pay(study, seen)["variable"])


def table_lacks(study: Study, seen: dict) -> str:
    """Return why the table of pay cannot have variable pay, and what to do; '' if it can."""
    variable = _parts_of_pay(study, seen)["variable"]
    columns = _by_name(seen)
    if len(variable) > 1:
        return (
            f"{' and '.join(variable)} are several columns, and the table of pay takes one: add a "
            "column with their sum to the file, and leave these out of it."
        )
    if is_counted(study.path):
        return "The table of pay needs all rows at once, and this file is counted part by part."
    if not _column_of_sex(study, columns):
        return (
            "The table of pay compares women and men, and no protected column has words for both, "
            "such as female and male."
        )
    for name in (study.target, *variable, *study.columns("hours")):
        if n := columns[name]["missing"]:
            return (
                f"{name} is missing in {n:,} rows, and the table of pay needs it in all: write 0 "
                "for people who received nothing, and leave out those of whom nobody knows it."
            )
        if float((columns[name]["ends"] or [0])[0]) < 0:
            return f"{name} is negative in some rows, which the table of pay refuses: correct them."
    return ""


def _column_of_sex(study, columns):
    """Return the protected column that tells women and men apart; None if there is none."""
    for name in study.columns(PROTECTED):
        texts = {str(text).strip().lower() for text in columns[name]["examples"]}
        if texts & WOMEN_WORDS and texts & MEN_WORDS:
            return name
    return None


def take_table(study: Study, seen: dict) -> None:
    """Ask for the table of pay, with the columns that it takes by their names."""
    study.question["template"] = EU
    for role, names in _parts_of_pay(study, seen).items():
        if len(names) == 1 and not study.columns(role):
            _take(study, names[0], role, _ROLES_OF_TABLE[role])
    sex = _column_of_sex(study, _by_name(seen))
    if sex:  # the table is about the first protected column
        study.roles = {sex: PROTECTED} | study.roles


def leave_table(study: Study) -> None:
    """Ask for no table of a law, and give back what was taken for it."""
    study.question.pop("template", None)
    study.why.pop("template", None)
    for name, reason in list(study.because.items()):
        if reason == _ROLES_OF_TABLE["category"]:
            study.set_role(name, EQUAL)
            del study.because[name]
        elif reason in _ROLES_OF_TABLE.values():
            _take(study, name, IGNORE, _PART_OF_PAY)


def not_in_pay(study: Study) -> list[str]:
    """Return columns of variable pay that are no part of the pay that is compared."""
    if not _is_about_pay(study) or _words(study.target) & (_TOTAL | _VARIABLE):
        return []
    return [
        name
        for name in study.guessed or ()
        if name != study.target
        and study.roles.get(name, EQUAL) in (EQUAL, IGNORE)
        and _is_variable_pay(_words(name))
    ]


def _guess_favorable(study, seen):
    """Guess which value of the outcome people want."""
    if not study.target or study.is_number or study.favorable or not seen["values"]:
        return
    texts = [value["text"] for value in seen["values"]]
    yes = [t for t in texts if folded(t) in _YES]
    no = [t for t in texts if folded(t) in _NO]
    good = [t for t in texts if _HIRED & _words(t) and not _NOT & _words(t)]
    bad = [t for t in texts if _REJECTED & _words(t)]
    is_bad = bool(_REJECTED & _words(study.target))
    if len(good) == 1:
        chosen, why = good[0], "its words say that people want it"
    elif is_bad and len(no) == 1:
        chosen, why = no[0], f"{study.target} is what people do not want"
    elif len(yes) == 1 and not is_bad:
        chosen, why = yes[0], "it says yes"
        if not _HIRED & _words(study.target):
            why = "it usually says yes; check it"
    elif len(bad) == 1 and len(texts) == 2:
        (chosen,) = (t for t in texts if t not in bad)
        why = "the other value is what people do not want"
    else:
        return
    study.favorable = chosen
    study.why["favorable"] = f"chosen because {why}"


def _guess_outcome(study, seen):
    """Leave out columns that are the outcome in other words."""
    columns = _by_name(seen)
    for note in seen["notices"]:
        name = note["column"]
        is_outcome = note["seen"].startswith(_ONE_OUTCOME) and columns[name]["distinct"] == 2
        if is_outcome and study.roles.get(name, EQUAL) == EQUAL:
            _take(study, name, IGNORE, _IS_OUTCOME)


def _guess_changes(study, seen):
    """Guess what to do about what was noticed, where hardly anything else can be meant."""
    columns = _by_name(seen)
    numbers = {n["column"] for n in seen["notices"] if "as identifiers do" in n["seen"]}
    for name in sorted(numbers):
        is_free = study.roles.get(name, EQUAL) == EQUAL
        if is_free and _is_number_of_rows(name, columns[name]):
            _take(study, name, IGNORE, "each row has a value of its own, as numbers of rows do")
    for note in seen["notices"]:
        option, *value = (note["advice"] or {"argv": [""]})["argv"]
        if option == "--missing" and re.fullmatch(r"-9+|-1|9{2,}", value[0].rpartition("=")[2]):
            _change(study, option, value[0], "far from all other numbers, as codes are")
        elif option == "--fold":
            _change(study, option, value[0], "they differ by case or blanks alone")
        elif option == "--drop-copies" and numbers:
            _change(study, option, "", f"even their {min(numbers)} is the same")


def _is_number_of_rows(name, column):
    """Return whether a column in which all rows differ tells nothing about people."""
    if column["kind"] != "number":
        return True
    first, last = map(float, column["ends"])
    is_series = last - first + 1 == column["distinct"]
    return is_series or bool(_NUMBERS_OF_ROWS & _words(name))


def _take(study, name, role, reason):
    """Give a column a role, with the reason."""
    study.set_role(name, role)
    study.because[name] = reason


def _change(study, option, value, reason):
    """Do what a notice advises, with the reason."""
    study.apply(option, value)
    study.why[value or option.removeprefix("--")] = reason


_ONE_OUTCOME = "each of its values goes with one outcome, in all rows"
_IS_OUTCOME = "each of its two values goes with one outcome: it is the outcome in other words"
_WHERE_PEOPLE_LIVE = (
    "its name says an address: where people live may stand in for their origin, and decisions "
    "should hardly depend on it; hold it equal if they may"
)
_HOURS_OF_PAY = "its name says hours: pay is compared per hour"
_PART_OF_PAY = "its name says a part of pay, which must not be held equal; tables of laws add it"
_ROLES_OF_TABLE = {
    "variable": "its name says variable pay: the table adds it to base pay",
    "base": "its name says base pay: the table has it beside total pay",
    "category": "its name says a category of workers: the table has a line for each",
}
_WHY_TABLE = {
    "no": "chosen because the file has base and variable pay: the table has both and their total",
    "yes": "chosen because the file has total and variable pay: the table has all parts of pay",
}
_OF_OUTCOME = (_IS_OUTCOME, _HOURS_OF_PAY, _PART_OF_PAY, *_ROLES_OF_TABLE.values())
_GUESSES = {
    "columns": _guess_columns,
    "pay": _guess_pay,
    "favorable": _guess_favorable,
    "outcome": _guess_outcome,
    "changes": _guess_changes,
}
