"""Gaps between groups as sums of parts: what legitimate columns explain, and what they do not."""
