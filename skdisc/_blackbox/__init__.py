"""The model under audit: wrappers, queries, gradients and default models."""
