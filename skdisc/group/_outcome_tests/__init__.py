"""Tests of decisions by what became of those selected."""
