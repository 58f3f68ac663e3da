"""The building blocks of measures: decisions, contrasts, intervals, permutations and strata."""
