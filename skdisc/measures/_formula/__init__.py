"""What measures are made of: decisions, contrasts, intervals, permutations and strata."""
