"""Distances between people described by columns of mixed kinds, and exact nearest neighbors."""
