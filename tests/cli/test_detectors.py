"""``skdisc detectors`` prints the cards of all detectors, and imports none of them."""

import subprocess
import sys

from skdisc.cli._detectors import LISTING, listed
from skdisc.cli._main import main

WRITE = "LISTING.write_text(listed(), encoding='utf-8')"  # of skdisc.cli._detectors


def test_the_listing_is_that_of_the_cards(capsys):
    assert LISTING.read_text(encoding="utf-8") == listed(), f"the cards changed: {WRITE}"
    assert main(["detectors"]) == 0
    assert capsys.readouterr().out == listed()


def test_no_detector_is_imported_for_the_listing():
    code = "import sys; from skdisc.cli._main import main; main(['detectors']); "
    code += "sys.exit(bool({'pandas', 'sklearn', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ADF ")
