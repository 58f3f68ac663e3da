"""Card: what a detector finds and needs, for the command line and the documentation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """One row of the table of detectors.

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
    """

    finds: str
    where: str
    access: str
    statistic: str
    output: str
    published: str
    reference: str
    worse: int = -1
