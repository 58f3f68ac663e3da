"""FlipTest: optimal transport between two groups."""
