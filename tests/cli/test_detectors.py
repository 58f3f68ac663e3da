"""``skdisc detectors`` prints the cards of all detectors, and imports none of them."""

import subprocess
import sys

from skdisc.cli._detectors import LISTING, listed
from skdisc.cli._main import main


def entries(text):
    """Return the lines about each detector."""
    lines = text.splitlines()
    return {tuple(lines[i : i + 4]) for i in range(0, len(lines), 4)}


def test_the_listing_is_that_of_the_cards(capsys):
    """A new detector may be missing until `python doc/detector_tables.py` adds it."""
    listing = LISTING.read_text(encoding="utf-8")
    assert entries(listing) <= entries(listed()), "a card changed: python doc/detector_tables.py"
    assert main(["detectors"]) == 0
    assert capsys.readouterr().out == listing


def test_no_detector_is_imported_for_the_listing():
    code = "import sys; from skdisc.cli._main import main; main(['detectors']); "
    code += "sys.exit(bool({'pandas', 'sklearn', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ADF ")
