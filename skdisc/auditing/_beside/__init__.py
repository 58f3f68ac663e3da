"""What stands beside an audit of rows: plans, counts, power, comparisons, robustness."""
