"""Comparison of each protected group with a reference, by any statistic."""
