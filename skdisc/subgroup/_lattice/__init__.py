"""Bitset counting of conjunctions."""
