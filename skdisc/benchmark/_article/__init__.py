"""The article made from the results of a benchmark."""
