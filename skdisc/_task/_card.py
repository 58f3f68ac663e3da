"""Card: what a detector finds, needs and claims, for the command line and the documentation."""

from dataclasses import dataclass

# What several detectors say alike, as arguments of Card: comparisons of protected groups with a
# reference, of groups within contexts, and shares of people with a case.
OF_GROUPS = {
    "family": "protected groups of `relevant_size`, each beside its reference",
    "decides": "gap",
}
OF_CONTEXTS = {
    "family": "all groups in contexts of `relevant_size` or more",
    "bounded": "gap to the rest of the context",
    "decides": "gap",
}
OF_CASES = {
    "claims": "More than `relevant_share` of the people have a case: an input whose decision "
    "changes with protected values only.",
    "does_not_say": "Anything about discrimination through other columns.",
    "family": "one",
    "bounded": "share of people with a case",
    "decides": "`relevant_share`",
}


@dataclass(frozen=True)
class Card:
    """What a detector finds, needs and claims: its rows in the tables of the documentation.

    Outside of the package, what follows `worse` may be left out.

    Parameters
    ----------
    finds : {"individual", "group", "subgroup"}
        The subject of a finding.
    where : str
        Where the detector searches for discrimination: "model", "data" or "model or data".
    access : str
        The access to the model that it needs: "labels", "predict", "probabilities", "gradient".
    statistic : str
        The statistic that it computes.
    output : str
        The content of its results.
    published : str
        Performance reported by its authors.
    reference : str
        Author and year of the publication.
    worse : {-1, 1}, default=-1
        The sign of the effect of a group that is treated worse: -1 for effects on favorable
        outcomes, 1 for effects on errors or harm.
    summary, needs : str
        What it finds and what it needs, in a few words each.
    claims, does_not_say : str
        What "disparity found" claims, and what that is most often mistaken for.
    other_null : str
        Another null hypothesis that it has by its settings, and by which; "" if there is none.
    family, bounded, decides : str
        What "no disparity found" is about: the groups, the quantity whose upper end is taken in
        each, and what is compared with which field of the rule.
    """

    finds: str
    where: str
    access: str
    statistic: str
    output: str
    published: str
    reference: str
    worse: int = -1
    summary: str = ""
    needs: str = ""
    claims: str = ""
    does_not_say: str = ""
    other_null: str = ""
    family: str = ""
    bounded: str = ""
    decides: str = ""
