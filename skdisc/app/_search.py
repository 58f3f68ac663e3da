"""The last step of the app: whether a search for a less discriminatory model can follow an audit.

What it runs is the command `skdisc alternatives`.
"""

from skdisc._utils._safe_text import clean
from skdisc.app._study import PROTECTED, Study
from skdisc.model_selection import AlternativeSearch
from skdisc.model_selection._alternatives._sentence import reach_sentence
from skdisc.report._first_page import answers
from skdisc.report._first_page._answers import ACCOUNTED, OPEN, UNEQUAL

FITS = {  # kinds of models, values of --fit
    "logistic": "logistic regression",
    "boosting": "gradient boosting",
    "forest": "random forest",
}
CLAIMS = {  # values of --claim
    "model": "one model",
    "recipe": "how such models are made",
}
_FEW = 2_000  # people, below which the second is advised


def unequal(document: dict) -> list[str]:
    """Return the protected columns with a disparity, of the document of an audit."""
    states = (UNEQUAL, OPEN, ACCOUNTED)
    return [a["attribute"] for a in answers(document) if a["state"] in states]


def search_refused(study: Study, document: dict) -> str:
    """Return why no search follows an audit, a sentence; '' if what is asked and found allows one.

    Parameters
    ----------
    study : Study
        As it was when the audit began.
    document : dict
        That of the audit.
    """
    if not unequal(document):
        return "the audit found no disparity that a model could make smaller."
    if study.is_number:
        name = clean(study.target)
        return f"{name} is a number, and the search compares decisions that have two values."
    if "public" in study.flags:
        return (
            "this page may leave the house, and tells nothing about few people, whom a search "
            "counts. Run the audit without this choice first."
        )
    for role, what in (("weights", "weights of rows"), ("counts", "rows of several people")):
        if study.columns(role):
            return f"its tests know no {what}."
    if "--by-parts" in study.options():
        return (
            "the file is counted part by part, and a search holds all of it. With enough memory, "
            "use the command skdisc alternatives."
        )
    return ""


def outcome_refused(study: Study, seen: dict) -> str:
    """Return why there is no search for the outcome that was seen in the file; '' if there is one.

    Parameters
    ----------
    study : Study
    seen : dict
        What `look` has found.
    """
    if "error" in seen:
        return seen["error"]
    values = seen["values"]
    n = len(values)
    if "favorable-exact" in study.flags:
        n += sum(len(value["spellings"]) for value in values)
    if n != 2:
        several = f"{n} values" if n else "many values"
        name = clean(study.target)
        return f"{name} has {several}, and the search compares decisions that have two."
    return ""


def text_of(form: dict, name: str, default: str = "") -> str:
    """Return the first value of a field of a form."""
    return form.get(name, [default])[0].strip()


def search_options(study: Study, seen: dict, form: dict) -> list[str]:
    """Return the options of `skdisc alternatives` that a form asks for.

    Raises
    ------
    ValueError
        If something is chosen that is not offered.
    """
    chosen = {name: text_of(form, name) for name in ("fit", "protected", "claim")}
    protected = study.columns(PROTECTED)
    offered = {"fit": FITS, "protected": protected, "claim": CLAIMS}
    for name, value in chosen.items():
        if value not in offered[name]:
            raise ValueError(f"{name}: {clean(value)!r} is not offered. Use the page of the app.")
    other_columns = [name for name in protected if name != chosen["protected"]]
    spellings = any(value["spellings"] for value in seen["values"])
    return study.search_options(
        **chosen, margin=text_of(form, "margin"), watched=other_columns, fold_target=spellings
    )


def reach(n: int) -> dict:
    """Return what searches can show about n people.

    Returns
    -------
    dict
        ``sentences``, by value of --claim; ``claim``, the one that is advised; ``margin``, the
        default.
    """
    sentences = {claim: reach_sentence(n, AlternativeSearch(claim=claim)) for claim in CLAIMS}
    advised = "recipe" if n < _FEW else "model"
    return {"sentences": sentences, "claim": advised, "margin": AlternativeSearch().margin}
