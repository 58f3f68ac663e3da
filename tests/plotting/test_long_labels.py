"""Long names and descriptions of groups are inside the picture."""

import pandas as pd
import pytest

from skdisc.datasets import make_hiring
from skdisc.individual import FlipTest
from skdisc.plotting import EffectivenessCostDisplay, plot_transparency

LONG = " & ".join(f"column number {i} = 'a value of column {i}'" for i in range(6))


def cut_off(ax):
    """Return the title, labels and legend texts that reach beyond the picture."""
    ax.figure.canvas.draw()
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_legend().get_texts(), *ax.texts]
    texts += [*ax.get_yticklabels()] if ax.get_yticklabels()[0].get_text().isalpha() else []
    boxes = {t.get_text(): t.get_window_extent() for t in texts if t.get_text().strip()}
    whole = ax.figure.bbox.padded(1)
    return [
        t
        for t, b in boxes.items()
        if not (whole.contains(b.x0, b.y0) and whole.contains(b.x1, b.y1))
    ]


@pytest.mark.parametrize("viewpoint", ["micro", "macro"])
def test_curves_of_a_group_with_a_long_description(viewpoint):
    rows = {"cost": [0, 1, 2] * 2, "micro": [0, 0.5, 1] * 2, "macro": [0, 0.2, 0.6] * 2}
    curves = pd.DataFrame({"group": [LONG] * 3 + ["the rest"] * 3, **rows})
    display = EffectivenessCostDisplay(curves, LONG).plot(viewpoint)
    assert cut_off(display.ax_) == []
    assert display.ax_.get_title().replace("\n", " ") == LONG


def test_transparency_of_columns_with_long_names():
    hiring = make_hiring(300, random_state=0)
    X = hiring.data.rename(
        columns={"hair_length": "the length of the hair when the photo was taken"}
    )
    test = FlipTest(protected="gender", group="female", solver="assignment", random_state=0)
    assert cut_off(plot_transparency(test.fit(X, hiring.decision).result_)) == []
