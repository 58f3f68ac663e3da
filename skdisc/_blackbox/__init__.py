"""Asking a model: wrappers, queries, gradients and default models."""
