"""Public data sets, each with its protected columns and its favorable outcome."""

import io
from os import PathLike
from typing import Any

import pandas as pd
from sklearn.utils import Bunch
from sklearn.utils._param_validation import StrOptions, validate_params

from skdisc._space._subgroup import Predicate
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import FilePath
from skdisc.datasets._store import find_csv, registry

_COMMON = {
    "data_home": [str, PathLike, None],
    "download_if_missing": ["boolean"],
    "return_X_y": ["boolean"],
    "as_frame": ["boolean"],
}
_SECTIONS = """
    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder of the data; None stands for the environment variable SKDISC_DATA, or else
        ~/skdisc_data.
    download_if_missing : bool, default=True
        Download the data once, from a pinned version of a public source, if they are missing.
    return_X_y : bool, default=False
        Return only the data and the target.
    as_frame : bool, default=True
        Return pandas objects; otherwise arrays.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (as published), ``frame`` (both; None for arrays), ``details`` (the
        other published columns), ``feature_names``, ``favorable`` (the favorable value of the
        target), ``protected`` (names of columns), ``privileged`` (maps a column to the `Predicate`
        of the people with more favorable outcomes), ``DESCR``.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded, do not have the known checksum, or cannot
        be stored. The message names the file and the folder to put it into.
"""


def _fetcher(name):
    """Return a decorator that makes the fetcher of a data set: the function prepares its table."""

    def decorate(prepared):
        def fetch(
            *,
            data_home: FilePath | None = None,
            download_if_missing: bool = True,
            return_X_y: bool = False,
            as_frame: bool = True,
        ) -> Bunch | tuple[Any, Any]:
            table = prepared(_table(name, data_home, download_if_missing))
            return _bunch(name, table, return_X_y, as_frame, fetch)

        fetch.__name__ = fetch.__qualname__ = prepared.__name__
        fetch.__doc__ = prepared.__doc__
        check = validate_params(_COMMON, prefer_skip_nested_validation=True)
        return check(with_sections(_SECTIONS)(fetch))

    return decorate


@_fetcher("adult")
def fetch_adult(table):
    """Adult: people in the US census of 1994, and whether they earn more than 50,000 dollars.

    Notes
    -----
    48,842 people from both published files; ``details["split"]`` names the file. Unknown values are
    "?". The privileged races are White and Asian-Pac-Islander, which have the highest rates.

    References
    ----------
    UCI Machine Learning Repository. doi:10.24432/C5XW20
    """
    return table


@_fetcher("compas")
def fetch_compas(table):
    """COMPAS: defendants in Broward County, and whether they were charged again (1) or not (0).

    Notes
    -----
    6,172 people selected as by ProPublica: screened within 30 days of the arrest, with a known
    outcome and a score, and not for an ordinary traffic offense. The scores are in ``details``.
    Columns that identify people are removed. The privileged race is Caucasian, compared with
    African-American, as in ProPublica's analysis. Asian, Hispanic and other people have higher
    rates, but their groups are small.

    References
    ----------
    J. Angwin, J. Larson, S. Mattu, L. Kirchner: Machine bias. ProPublica (2016).
    https://github.com/propublica/compas-analysis
    """
    within = table["days_b_screening_arrest"].between(-30, 30)
    has_outcome = (table["is_recid"] != -1) & table["score_text"].notna()
    return table[within & has_outcome & (table["c_charge_degree"] != "O")].reset_index(drop=True)


@_fetcher("german")
def fetch_german(table):
    """German credit: applicants, and whether they were a good (1) or a bad (2) risk.

    Notes
    -----
    1,000 people. ``personal_status`` includes the sex: A92 stands for women; A91, A93 and A94 stand
    for men. The columns ``age`` (privileged: over 25) and ``foreign_worker`` (privileged: A202, no)
    are also protected.

    References
    ----------
    UCI Machine Learning Repository, Statlog (German Credit Data). doi:10.24432/C5NC77
    """
    return table


@_fetcher("bank")
def fetch_bank(table):
    """Bank marketing: people called by a Portuguese bank, and whether they took a deposit.

    Notes
    -----
    45,211 people. Unknown values are "unknown". ``duration`` is known only after the call. Old
    people (over 60) and young people accept more often than others; the privileged age is over 60.

    References
    ----------
    S. Moro, R. Laureano, P. Cortez: Using data mining for bank direct marketing. ESM 2011. UCI
    Machine Learning Repository. doi:10.24432/C5K306
    """
    return table


@validate_params(
    {"scenario": [StrOptions({"lsac", "cst"})], **_COMMON}, prefer_skip_nested_validation=True
)
@with_sections(_SECTIONS)
def fetch_law_school(
    scenario: str = "lsac",
    *,
    data_home: FilePath | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = True,
) -> Bunch | tuple[Any, Any]:
    """Law school: students in the US, and whether they passed the bar or would be admitted.

    Parameters
    ----------
    scenario : {"lsac", "cst"}, default="lsac"
        "lsac": 21,791 students; the target is whether they passed the bar at the first attempt.
        "cst": 21,790 students; the target is the admission rule of the paper on counterfactual
        situation testing, 0.6 UGPA + 0.4 LSAT >= 20.8, which uses neither sex nor race.

    Notes
    -----
    In "lsac", ``sex`` is 1 for women and 2 for men, and all races are kept. In "cst", both columns
    hold words, and race is White or NonWhite.

    References
    ----------
    L. F. Wightman: LSAC national longitudinal bar passage study (1998). J. M. Alvarez,
    S. Ruggieri: Counterfactual situation testing. JAIR 82 (2025), section 4.2.
    """
    name = "law_school" if scenario == "lsac" else "law_school_cst"
    table = _table(name, data_home, download_if_missing)
    if scenario == "cst":
        admitted = 0.6 * table["UGPA"] + 0.4 * table["LSAT"] >= 20.8
        table = table.assign(admitted=admitted.astype(int))
    else:
        table = table.rename(columns={table.columns[0]: "row"}).astype({"first_pf": int})
    return _bunch(name, table, return_X_y, as_frame, fetch_law_school)


@_fetcher("acs_income")
def fetch_acs_income(table):
    """ACSIncome: people in the US survey of 2018, and whether they earn more than 50,000 dollars.

    Notes
    -----
    665,800 people from the published test and validation parts; ``details["split"]`` names the
    part. Codes are those of the survey, except that ``RAC1P`` starts from zero (0 White, 1 Black, 5
    Asian). The privileged races are White and Asian. Converting a download needs the extra ``io``.

    References
    ----------
    F. Ding, M. Hardt, J. Miller, L. Schmidt: Retiring Adult. NeurIPS (2021). arXiv:2108.04884
    """
    return table


@_fetcher("ssl")
def fetch_ssl(table):
    """Strategic Subject List: people scored by the Chicago police, and whether the score is low.

    Notes
    -----
    398,531 people with race, sex and age band, reconstructed from counts; the score is in
    ``details``. Scores below 345 count as low (1), as in the FACTS paper. The eight predictors of
    the score, which the FlipTest paper uses, are not published in this file. The sex "Other" (57
    people) is too small a group to compare. Other small groups have rates close to those of White
    people.

    References
    ----------
    City of Chicago, Strategic Subject List. L. Kavouras et al.: Fairness aware counterfactuals for
    subgroups. NeurIPS (2023). arXiv:2306.14978
    """
    table = table.loc[table.index.repeat(table["count"])].drop(columns="count")
    return table.assign(low_score=(table["ssl_score"] < 345).astype(int)).reset_index(drop=True)


@_fetcher("ad_campaign")
def fetch_ad_campaign(table):
    """Ad campaign: people who were shown an advertisement, and whether they clicked on it.

    Notes
    -----
    1,443,140 synthetic people. As in the FACTS paper, unknown values are kept ("Unknown", also of
    ``gender``), and all features except the protected one are categorical. The prediction of the
    published model is in ``details``. The privileged gender is M because nearly all published
    findings are against women; whether men click more often was not checked. There is no known
    checksum of the archive; instead, the numbers of rows, clicks and predicted clicks are compared
    with the published ones.

    References
    ----------
    IBM Data Asset eXchange, Bias in Advertising. L. Kavouras et al.: Fairness aware counterfactuals
    for subgroups. NeurIPS (2023), appendix C.4. arXiv:2306.14978
    """
    features = registry()["ad_campaign"]["features"]
    return table.astype({n: "category" for n in features if n != "gender"})


def _table(name, data_home, download_if_missing):
    """Return a data set as a DataFrame."""
    raw = find_csv(name, data_home, download_if_missing)
    return pd.read_csv(io.BytesIO(raw), low_memory=False)


def _bunch(name, table, return_X_y, as_frame, fetcher):
    """Return a data set in the form that the caller requested."""
    entry = registry()[name]
    target_name, hidden = entry["target"], [entry["target"], *entry.get("details", ())]
    features = entry.get("features") or [c for c in table if c not in hidden]
    data, target = table[features], table[target_name]
    frame, details = table[[*features, target_name]], table.drop(columns=[*features, target_name])
    if not as_frame:
        data, target, frame = data.to_numpy(), target.to_numpy(), None
    if return_X_y:
        return data, target
    privileged = [Predicate.from_dict(p) for p in entry["privileged"]]
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        details=details,
        feature_names=list(features),
        favorable=entry["favorable"],
        protected=[p.column for p in privileged],
        privileged={p.column: p for p in privileged},
        DESCR=f"{fetcher.__doc__}\nArchive of record: {entry['archive']}.\n",
    )
