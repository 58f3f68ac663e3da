"""The page of an audit as PDF, printed by a browser of this machine or by WeasyPrint."""

import os
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from shutil import which

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "msedge"),
)
_SECONDS = 120  # that printing may take
_HOW = (
    "A report as .pdf is printed by Chromium, Chrome or Edge, or by WeasyPrint, and none of them "
    "is found: put a browser on the PATH or `pip install weasyprint`, or write .html and print it."
)


def check_printer():
    """Raise ValueError if nothing on this machine prints pages."""
    if _browser() is None and find_spec("weasyprint") is None:
        raise ValueError(_HOW)


def html_to_pdf(html: str) -> bytes:
    """Return a page as PDF.

    Parameters
    ----------
    html : str
        A page that loads nothing.

    Raises
    ------
    ValueError
        If there is neither a browser nor WeasyPrint.
    OSError
        If the browser fails.
    """
    check_printer()
    browser = _browser()
    if browser is not None:
        return _printed(browser, html)
    from weasyprint import HTML

    return HTML(string=html).write_pdf()


def _browser():
    """Return the path of a browser, or None."""
    return next(filter(None, (which(name) for name in BROWSERS)), None)


def _printed(browser, html):
    """Return a page as a browser prints it; no script of the page is needed for that."""
    with tempfile.TemporaryDirectory(prefix="skdisc-") as folder:
        page, printed = Path(folder, "audit.html"), Path(folder, "audit.pdf")
        page.write_text(html, encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer"]
        command += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # without which Chromium does not start for root
        try:
            subprocess.run(
                [*command, page.as_uri()], check=True, capture_output=True, timeout=_SECONDS
            )
            return printed.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise OSError(f"{browser} did not print the report: {error}.") from error
