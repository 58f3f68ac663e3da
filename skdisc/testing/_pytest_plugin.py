"""A pytest plugin: the fixture ``skdisc`` audits, and ``--skdisc-report`` keeps the answers.

It is loaded with every session of pytest, and imports nothing of skdisc before it is used.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from skdisc.auditing import AuditReport

_AUDITS = pytest.StashKey[list]()


class Auditor:
    """The fixture ``skdisc``: it audits, and keeps the reports for ``--skdisc-report``.

    Parameters
    ----------
    request : FixtureRequest
        The test that uses the fixture.

    Examples
    --------
    A test that fails if a disparity is found::

        def test_decisions_show_no_disparity(skdisc):
            report = skdisc.audit(X, y, model, protected=["sex"])
            assert report.verdict != "disparity found", report.to_text()
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node, self.reports = request.node, []

    def audit(
        self,
        X: Any,
        y: Any = None,
        model: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        **settings: Any,
    ) -> "AuditReport":
        """Return the report of an `Audit`.

        Parameters
        ----------
        X, y, model, sample_weight, groups
            Arguments of `Audit.fit`.
        **settings
            Parameters of `Audit`.

        Returns
        -------
        AuditReport
            Its verdict is also a property of the test in JUnit XML.

        Raises
        ------
        ValueError
            If a setting, a column or a label is not allowed.
        """
        from skdisc.auditing import Audit

        report = Audit(**settings).fit(X, y, model, sample_weight, groups).report_
        self.reports.append(report)
        self._node.user_properties.append(("skdisc_verdict", report.verdict))
        self._node.config.stash[_AUDITS].append((self._node.nodeid, report.to_json()))
        return report


@pytest.fixture
def skdisc(request: pytest.FixtureRequest) -> Auditor:
    """Audit decisions and models: ``skdisc.audit(X, y, model, protected=["sex"])``."""
    return Auditor(request)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("skdisc").addoption(
        "--skdisc-report",
        metavar="FILE",
        help="write audits of the fixture skdisc: .html, .md, .txt, .json, .xml, .docx or .pdf; of "
        "several, the next ones to FILE-2 and so on",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start the list of audits, and check the name of the file."""
    config.stash[_AUDITS] = []
    path = config.getoption("--skdisc-report")
    if path is not None:
        from skdisc.auditing import AuditReport

        try:
            AuditReport.check_format(path)
        except (ValueError, ImportError) as error:
            raise pytest.UsageError(f"--skdisc-report: {error}") from None


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Take over the audits of a worker of pytest-xdist."""
    node.config.stash[_AUDITS] += map(tuple, getattr(node, "workeroutput", {}).get("skdisc", []))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the audits of a worker to the process that writes the file."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["skdisc"] = session.config.stash[_AUDITS]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the audits and name their files."""
    path, audits = config.getoption("--skdisc-report"), sorted(config.stash[_AUDITS])
    if path is None or not audits:
        return
    from skdisc.auditing import AuditReport

    terminalreporter.section("audits by skdisc")
    for number, (test, text) in enumerate(audits, 1):
        file = Path(path) if number == 1 else Path(path).with_stem(f"{Path(path).stem}-{number}")
        report = AuditReport.from_json(text)
        report.save(file)
        terminalreporter.line(f"{test}: {report.verdict}; {file}")
