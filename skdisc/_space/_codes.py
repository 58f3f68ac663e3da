"""What the negative codes of integer arrays stand for: one meaning for each array."""

MISSING = -1  # codes of a column: the value is missing
UNSEEN = -2  # codes of a column: a category that did not occur at fit

NO_ITEM = -1  # codes of items: the row satisfies no item of the feature
PAD = -1  # rows of item numbers: the conjunction has fewer conditions than the array has columns

EVERYONE = -1  # number of a subgroup: the one without conditions, which every row belongs to
NOBODY = -1  # number of a group, a target or a row: none
FREE = -1  # planted levels: the attribute is not fixed
UNBOUND = -1  # starts of a scan: no condition on the attribute
NO_COLUMN = -1  # column of a space that a feature of a model depends on: none
