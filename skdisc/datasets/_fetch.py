"""Public data sets, each with its protected columns and its favourable outcome."""

import io
from functools import wraps
from os import PathLike

import pandas as pd
from sklearn.utils import Bunch
from sklearn.utils._param_validation import StrOptions, validate_params

from skdisc._space._subgroup import Predicate
from skdisc.datasets._store import find_csv, registry

_COMMON = {
    "data_home": [str, PathLike, None],
    "download_if_missing": ["boolean"],
    "return_X_y": ["boolean"],
    "as_frame": ["boolean"],
}
_PARAMETERS = """
    Parameters
    ----------{first}
    data_home : str, path-like or None, default=None
        Folder of the data; None: the environment variable SKDISC_DATA, else ~/skdisc_data.
    download_if_missing : bool, default=True
        Download the data once, from a pinned version of a public source, if it is not there.
    return_X_y : bool, default=False
        Return only the data and the target.
    as_frame : bool, default=True
        Return pandas objects; else arrays.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (as published), ``frame`` (both; None for arrays), ``details`` (the
        other published columns), ``feature_names``, ``favourable`` (the favourable value of the
        target), ``protected`` (names of columns), ``privileged`` (by column, a `Predicate`: the
        people with more favourable outcomes), ``DESCR``.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    OSError
        If the data is not there and cannot be downloaded, does not have the known checksum, or
        cannot be stored; the message names the file and where to put it.
"""


def _fetcher(**constraints):
    """Give a fetcher the common part of its docstring, and the check of its parameters."""

    def decorate(function):
        summary, _, notes = function.__doc__.partition("\n\n")
        first = ""
        if "scenario" in constraints:
            first, _, notes = notes.partition("\n\n")
            first = "\n" + first
        common = _PARAMETERS.format(first=first)
        function.__doc__ = f"{summary}\n{common}\n{notes}"
        check = validate_params({**constraints, **_COMMON}, prefer_skip_nested_validation=True)
        return wraps(function)(check(function))

    return decorate


@_fetcher()
def fetch_adult(*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True):
    """Adult: people of the US census of 1994, and whether they earn more than 50,000 dollars.

    Notes
    -----
    48,842 people; both published files, told apart by ``details["split"]``. An unknown value is
    "?". `privileged` race is White or Asian-Pac-Islander, whose rate is the higher of the two.

    References
    ----------
    UCI Machine Learning Repository. doi:10.24432/C5XW20
    """
    table = _table("adult", data_home, download_if_missing)
    return _bunch("adult", table, return_X_y, as_frame, fetch_adult)


@_fetcher()
def fetch_compas(*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True):
    """COMPAS: accused people in Broward County, and whether they were accused again (1) or not (0).

    Notes
    -----
    6,172 people: ProPublica's selection (screened within 30 days of the arrest, a known outcome,
    no ordinary traffic offence, a score). The scores are in ``details``; the columns that name
    people are left out. `privileged` is Caucasian, against African-American, as in ProPublica's
    analysis; the rates of Asian, Hispanic and other people are higher, their groups small.

    References
    ----------
    J. Angwin, J. Larson, S. Mattu, L. Kirchner: Machine bias. ProPublica (2016).
    https://github.com/propublica/compas-analysis
    """
    table = _table("compas", data_home, download_if_missing)
    within = table["days_b_screening_arrest"].between(-30, 30)
    known = (table["is_recid"] != -1) & table["score_text"].notna()
    table = table[within & known & (table["c_charge_degree"] != "O")].reset_index(drop=True)
    return _bunch("compas", table, return_X_y, as_frame, fetch_compas)


@_fetcher()
def fetch_german(*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True):
    """German credit: applicants, and whether they were a good (1) or a bad (2) risk.

    Notes
    -----
    1,000 people. ``personal_status`` holds the sex: A92 is a woman, A91, A93 and A94 are men.
    Protected are also ``age`` (privileged: over 25) and ``foreign_worker`` (privileged: A202, no).

    References
    ----------
    UCI Machine Learning Repository, Statlog (German Credit Data). doi:10.24432/C5NC77
    """
    table = _table("german", data_home, download_if_missing)
    return _bunch("german", table, return_X_y, as_frame, fetch_german)


@_fetcher()
def fetch_bank(*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True):
    """Bank marketing: people called by a Portuguese bank, and whether they took the deposit.

    Notes
    -----
    45,211 people. An unknown value is "unknown". ``duration`` is known only after the call. The
    old (over 60) and the young say yes more often than those between: `privileged` is over 60.

    References
    ----------
    S. Moro, R. Laureano, P. Cortez: Using data mining for bank direct marketing. ESM 2011. UCI
    Machine Learning Repository. doi:10.24432/C5K306
    """
    table = _table("bank", data_home, download_if_missing)
    return _bunch("bank", table, return_X_y, as_frame, fetch_bank)


@_fetcher(scenario=[StrOptions({"lsac", "cst"})])
def fetch_law_school(
    scenario="lsac", *, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True
):
    """Law school: students in the US, and whether they passed the bar, or would be admitted.

    scenario : {"lsac", "cst"}, default="lsac"
        "lsac": 21,791 students; the target is whether they passed the bar at the first try. "cst":
        21,790 students and the admission rule of counterfactual situation testing, 1 where
        0.6 UGPA + 0.4 LSAT >= 20.8, which looks at neither sex nor race.

    Notes
    -----
    In "lsac", ``sex`` is 1 for women and 2 for men, and all races are kept; in "cst" they are
    words, and race is White or NonWhite.

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


@_fetcher()
def fetch_acs_income(*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True):
    """ACSIncome: people of the US survey of 2018, and whether they earn more than 50,000 dollars.

    Notes
    -----
    665,800 people: the published test and validation parts, told apart by ``details["split"]``.
    Codes are those of the survey, ``RAC1P`` less one (0 White, 1 Black, 5 Asian); `privileged`
    race is White or Asian. Converting a download needs the extra ``io``.

    References
    ----------
    F. Ding, M. Hardt, J. Miller, L. Schmidt: Retiring Adult. NeurIPS (2021). arXiv:2108.04884
    """
    table = _table("acs_income", data_home, download_if_missing)
    return _bunch("acs_income", table, return_X_y, as_frame, fetch_acs_income)


@_fetcher()
def fetch_ssl(*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True):
    """Strategic Subject List: people whom the Chicago police scored, and whether the score is low.

    Notes
    -----
    398,531 people by race, sex and age band, from the list counted by these; the score is in
    ``details``. A score under 345 counts as low (1), as in FACTS. The eight predictors of the
    score, which FlipTest uses, are not in this file. ``sex`` is also "Other" (57 people), a group
    too small to compare. The rates of other small groups come close to those of White people.

    References
    ----------
    City of Chicago, Strategic Subject List. L. Kavouras et al.: Fairness aware counterfactuals for
    subgroups. NeurIPS (2023). arXiv:2306.14978
    """
    table = _table("ssl", data_home, download_if_missing)
    table = table.loc[table.index.repeat(table["count"])].drop(columns="count")
    table = table.assign(low_score=(table["ssl_score"] < 345).astype(int)).reset_index(drop=True)
    return _bunch("ssl", table, return_X_y, as_frame, fetch_ssl)


@_fetcher()
def fetch_ad_campaign(*, data_home=None, download_if_missing=True, return_X_y=False, as_frame=True):
    """Ad campaign: people shown an advertisement, and whether they clicked on it.

    Notes
    -----
    1,443,140 made-up people. As in FACTS, unknown values are kept ("Unknown", also of ``gender``),
    and all features but the protected one are categories. The prediction of the published model
    is in ``details``. `privileged` is M, since what FACTS finds is nearly all against women; it is
    not known here whether men click more often. No checksum of the archive is known either: the
    numbers of rows, of clicks and of predicted clicks are compared with the published ones.

    References
    ----------
    IBM Data Asset eXchange, Bias in Advertising. L. Kavouras et al.: Fairness aware counterfactuals
    for subgroups. NeurIPS (2023), appendix C.4. arXiv:2306.14978
    """
    table = _table("ad_campaign", data_home, download_if_missing)
    features = registry()["ad_campaign"]["features"]
    table = table.astype({n: "category" for n in features if n != "gender"})
    return _bunch("ad_campaign", table, return_X_y, as_frame, fetch_ad_campaign)


def _table(name, data_home, download_if_missing):
    raw = find_csv(name, data_home, download_if_missing)
    return pd.read_csv(io.BytesIO(raw), low_memory=False)


def _bunch(name, table, return_X_y, as_frame, fetcher):
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
        favourable=entry["favourable"],
        protected=[p.column for p in privileged],
        privileged={p.column: p for p in privileged},
        DESCR=f"{fetcher.__doc__}\nArchive of record: {entry['archive']}.\n",
    )
