"""The frontier of a search for alternatives."""

import pandas as pd
import pytest

from skdisc.model_selection import AlternativeReport
from skdisc.plotting import FrontierDisplay
from skdisc.report._frontier import frontier_svg

pytest.importorskip("matplotlib")


def test_points_are_models_and_the_line_is_the_margin():
    candidates = [
        {"name": "present", "score": 0.8, "gap": 0.3, "shown": False},
        {"name": "failed", "score": None, "gap": None, "shown": False},
        {"name": "near", "score": 0.81, "gap": 0.1, "shown": True},
    ]
    report = AlternativeReport(
        {
            "schema": "skdisc-alternatives/1",
            "candidates": candidates,
            "settings": {"margin": 0.02},
        }
    )
    ax = FrontierDisplay.from_report(report).ax_
    assert ax.lines[0].get_ydata()[0] == pytest.approx(0.78)
    points = [tuple(p) for c in ax.collections for p in c.get_offsets().tolist()]
    assert (0.1, 0.81) in points
    assert (0.3, 0.8) in points
    assert ax.texts[0].get_text() == "near"
    assert len(pd.DataFrame(candidates)) == 3


def test_the_picture_of_the_page_escapes_names_and_has_a_point_per_model():
    points = [("<b>", 0.8, 0.3, False, True), ("x & y", 0.8, 0.1, True, False)]
    picture = frontier_svg("title", points, 0.01)
    assert picture.count("<circle") == 2
    assert "<b>" not in picture
    assert "x &amp; y: score 0.800, gap 0.100, shown" in picture
    assert frontier_svg("t", [("only", 0.5, 0.0, False, True)], 0.01).count("<circle") == 1
