"""Which people are possible, and how groups of them are described."""
