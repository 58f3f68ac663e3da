"""Programs beside Python that some tests open reports with, or compare numbers with."""

import os
import subprocess
from shutil import which

import pytest


def needs(*programs):
    """Skip a test where programs are missing; in CI, which installs them, it fails."""
    for name in programs:
        if which(name) is None:
            _missing(f"{name} is not installed")


def needs_of_r(package):
    """Skip a test where R has no such package; in CI it fails."""
    needs("Rscript")
    check = f"quit(status = !requireNamespace('{package}', quietly = TRUE))"
    if subprocess.run(["Rscript", "-e", check], capture_output=True).returncode:
        _missing(f"{package} is not installed in R")


def _missing(reason):
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; .ci/run installs it")
    pytest.skip(reason)
