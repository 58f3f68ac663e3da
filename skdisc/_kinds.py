"""The four kinds of outcome, decision beside label, and the rates that are made of them."""

TN, FP, FN, TP = range(4)  # cell = 2 * label favourable + decision favourable
N_CELLS = 4

# By name: the kinds that count as a hit, and those that could have been one.
RATES = {
    "selection_rate": ((TP, FP), (TN, FN)),
    "base_rate": ((TP, FN), (TN, FP)),
    "true_positive_rate": ((TP,), (FN,)),
    "false_positive_rate": ((FP,), (TN,)),
    "true_negative_rate": ((TN,), (FP,)),
    "false_negative_rate": ((FN,), (TP,)),
    "positive_predictive_value": ((TP,), (FP,)),
    "negative_predictive_value": ((TN,), (FN,)),
    "false_discovery_rate": ((FP,), (TP,)),
    "false_omission_rate": ((FN,), (TN,)),
    "accuracy": ((TP, TN), (FP, FN)),
    "error_rate": ((FP, FN), (TP, TN)),
}
