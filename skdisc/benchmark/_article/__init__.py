"""The article that a benchmark writes about itself."""
