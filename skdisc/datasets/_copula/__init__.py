"""A Gaussian copula over a schema of mixed columns."""
