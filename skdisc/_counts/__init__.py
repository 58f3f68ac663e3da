"""Tables of counts: what a table of any size is reduced to before it is audited."""
