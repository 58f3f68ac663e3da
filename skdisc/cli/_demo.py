"""The command `skdisc demo`: an audit of synthetic data, also as a notebook."""

import argparse
import json

from sklearn.model_selection import train_test_split

from skdisc import Audit, BlackBox, datasets
from skdisc._blackbox._default_models import default_model
from skdisc._utils._files import check_writable, write_text
from skdisc._utils._interruption import INTERRUPTED
from skdisc.cli._audit import check_report, finish
from skdisc.cli._say import say

_CELLS = (  # of the notebook: text, or code
    """# Does a bank's model treat women worse?

Synthetic loan applications. The bank's rule uses salary and balance only, but women earn and own
less. A model is trained on half of the applications, with gender as a feature; the others are
audited. Run it from top to bottom: it takes less than a minute.""",
    """from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from skdisc import Audit, BlackBox
from skdisc.datasets import make_loan

X, y = make_loan(random_state={seed}, return_X_y=True)
halves = train_test_split(X, y, test_size=0.5, random_state={seed})
X_train, X_test, y_train, y_test = halves
X_test.assign(approved=y_test).head()""",
    """from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

encoder = make_column_transformer((OneHotEncoder(), ["gender"]), remainder="passthrough")
boosting = make_pipeline(encoder, HistGradientBoostingClassifier(random_state={seed}))
model = BlackBox.trained(boosting, X_train, y_train)""",
    """One audit. The three questions about groups are: are the rates equal; are they equal within
each other condition; are they equal at equal salary and balance?""",
    """report = Audit(protected="gender", random_state={seed}).fit(X_test, y_test, model).report_
report""",
    """What was found, the strongest first, and what each verdict rests upon.""",
    """report.to_frame("evidence")""",
    """report.to_frame("verdicts")""",
    """The whole answer as one page.""",
    """report.save("audit.html")""",
)


def add_demo(commands: argparse._SubParsersAction) -> None:
    demo = commands.add_parser("demo", help="audit a model trained on synthetic loan applications")
    demo.set_defaults(run=_demo)
    demo.add_argument(
        "--report", default="skdisc-demo.html", metavar="FILE", help="%(default)s by default"
    )
    demo.add_argument("--notebook", metavar="FILE", help="write the demo as a notebook instead")
    demo.add_argument("--seed", type=int, default=0, metavar="N")


def _demo(arguments):
    """Audit a model trained on synthetic loan applications."""
    if arguments.notebook is not None:
        return _write_notebook(arguments)
    check_report(arguments.report)
    loans = datasets.make_loan(random_state=arguments.seed)
    halves = train_test_split(loans.data, loans.target, test_size=0.5, random_state=arguments.seed)
    X_train, X, y_train, y = halves
    model = BlackBox.trained(default_model("boosting", arguments.seed), X_train, y_train)
    say(
        f"{len(loans.data):,} synthetic loan applications. The bank's rule uses salary and balance "
        "only, but women\nearn and own less. A boosting model was trained on "
        f"{len(X_train):,} of the applications, with gender as\na feature; the others are "
        "audited.\n"
    )
    audit = Audit(protected=loans.protected, pos_label=1, random_state=arguments.seed)
    code = finish(audit.fit(X, y, model).report_, arguments, None)
    return INTERRUPTED if code == INTERRUPTED else 0


def _write_notebook(arguments):
    """Write the demo as a notebook of the format 4."""
    check_writable(arguments.notebook)
    cells = []
    for i, source in enumerate(_CELLS):
        is_code = source.startswith(("from ", "report"))
        cell = {"cell_type": "markdown", "id": f"cell-{i}", "metadata": {}, "source": source}
        if is_code:
            source = source.replace("{seed}", str(arguments.seed))
            cell |= {"cell_type": "code", "execution_count": None, "outputs": [], "source": source}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    write_text(arguments.notebook, json.dumps(notebook | {"cells": cells}, indent=1) + "\n")
    say(f"Notebook: {arguments.notebook}")
    return 0
