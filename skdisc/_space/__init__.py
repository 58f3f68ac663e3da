"""The possible inputs, and descriptions of groups of people."""
