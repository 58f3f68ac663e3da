"""Settings that several families of detectors have."""

from sklearn.utils._param_validation import StrOptions

from skdisc._space._bins import Bins
from skdisc._utils._settings import AT_LEAST_ONE, AT_LEAST_TWO, INNER_SHARE, NOT_NEGATIVE, setting

MIN_GAP_OF_NUMBERS = setting(
    0.0,
    [NOT_NEGATIVE],
    """Gap between outcomes that must be exceeded; use a value > 0 unless decisions are
    compared.""",
)
CONFIRM = setting(
    None,
    [INNER_SHARE, None],
    """Share of rows held out: the search uses the others, and its findings are tested on
    these.""",
)
WEIGHTS = setting(
    "probability",
    [StrOptions({"probability", "frequency"})],
    """What `sample_weight` means: how many people a row stands for, on which variances
    depend, but not on the unit; or how many equal people it stands for, a whole number.
    These are counted, with the result of repeated rows (with `confirm`, of the same
    distribution); where a model is trained, rows are repeated.""",
)
OUTPUT_OF_NUMBERS = setting(
    "decision",
    [StrOptions({"decision", "probability", "value"})],
    """The outcome compared: the decision, the probability of a favorable decision, or the
    value of a regressor or decision function, where higher is better.""",
)
N_BINS = setting(
    4,
    [AT_LEAST_TWO, dict, Bins],
    "Quantile bins of a protected number.",
)
N_CLUSTERS = setting(
    4,
    [AT_LEAST_ONE],
    "Number of clusters.",
)
VERBOSE = setting(
    False,
    ["verbose"],
    "Report progress on standard error.",
)
