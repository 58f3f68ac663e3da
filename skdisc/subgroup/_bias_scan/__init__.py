"""BiasScan: the subgroups that diverge most from what is expected."""
