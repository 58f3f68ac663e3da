"""Reports of pay that laws ask for: their figures, what is printed of them, and in which words."""
