"""Card: what a detector finds, where, and what it needs; data for the documentation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """One row of the table of detectors.

    Parameters
    ----------
    finds : {"individual", "group", "subgroup"}
        What a finding is about.
    where : str
        Where the discrimination is looked for: "model", "data" or "model or data".
    access : str
        What is needed of the model: "labels", "predict", "probabilities", "gradient".
    statistic : str
        What is measured.
    output : str
        What comes back.
    published : str
        Performance that its authors report.
    reference : str
        Where it was published.
    worse : {-1, 1}, default=-1
        The sign that an effect has where the group is treated worse: -1 where it is of favourable
        outcomes, 1 where it is of harm.
    """

    finds: str
    where: str
    access: str
    statistic: str
    output: str
    published: str
    reference: str
    worse: int = -1
