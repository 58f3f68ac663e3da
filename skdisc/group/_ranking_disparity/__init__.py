"""Exposure of protected groups in rankings, and exact tests of their prefixes."""
