"""The first page in English."""

DECIMAL, THOUSANDS = ".", ","
PERCENT = "{} %"
RANGE = "{low} to {high}"
RANGE_AROUND_ZERO = "between {low} {less} and {high} {more}"
AND = " and "

STATES = {
    "unequal at equal columns": "Unequal even where the other columns are equal",
    "unequal, open at equal columns": "Unequal; what the other columns explain is open",
    "unequal, accounted for": "Unequal, and explained by the legitimate columns",
    "nothing found": "Nothing found",
    "nothing found as far as one can see": "Nothing found as far as one can see",
    "cannot tell": "Cannot tell",
}
FAVORABLE = "the favorable outcome ({labels})"
EVERYONE_ELSE = "everyone else"
POINTS = "{n} points"
MORE_COLUMNS = "{n} more"
# Where less is better, such as of prices, the words of a pair change places.
WORDS = {
    "less": "less",
    "more": "more",
    "Less": "Less",
    "More": "More",
    "fewer": "less",
    "greater": "more",
}

# What is unequal.
LESS_OFTEN = (
    "{worse} got {favorable} less often than {better}: {rate} against {other_rate}, {points} less "
    "({range})."
)
LOWER = (
    "The {measure} of {worse} is lower than that of {better}: {rate} against {other_rate}, "
    "{points} less ({range})."
)
LESS_OF_NUMBER = (
    "{worse} got {less} {target} than {better}: on average {mean} against {other_mean}, {points} "
    "{less} ({range})."
)
MORE_OF_NUMBER = (
    "{better} got {more} {target} than {worse}: on average {other_mean} against {mean}, {points} "
    "{more} ({range})."
)
NEARLY_EQUAL_NUMBER = (
    "As a whole, the groups differ little or the data cannot show it: on average {mean} {target} "
    "for {worse}, {other_mean} for {better}."
)
UNKNOWN_NUMBER = (
    "Whether {attribute} makes a difference cannot be told from {people} people: on average {mean} "
    "{target} for {worse}, {other_mean} for {better}, and the true difference may be {range}."
)
TARGETS = {"value": "of what is compared", "probability": "probability of the favorable outcome"}
MEDIANS = "The medians are {median} and {other_median} (gap: {range})."
SMALL = "That is less than the gap that matters here ({relevant})."
ALSO_MORE = "{group} ({points} {more})"
ALSO_LESS = "{group} ({points} {less})"
ALSO = "Also different: {groups}."
MORE_OFTEN = (
    "{better} got {favorable} more often than {worse}: {other_rate} against {rate}, {points} more "
    "({range})."
)
NEARLY_EQUAL = (
    "As a whole, the groups differ little or the data cannot show it: {rate} of {worse} got "
    "{favorable}, {other_rate} of {better}."
)
REMAINS = "At equal {columns}, {points} {less} remain ({range})."
REMAINS_OPEN = "At equal {columns}, what remains for the group as a whole is {range}."
ACCOUNTED = (
    "In none of the groups compared ({n}) a gap above {bound} remains there ({level}): these "
    "columns account for the gap. Whether these columns may count is your decision."
)
ACCOUNT_OPEN = (
    "Whether the gap is accounted for by {columns} is open: where these are equal, what remains is "
    "{range}."
)
ACCOUNT_UNKNOWN = "Whether the gap is accounted for by {columns} is open."
NO_COLUMNS = "No other columns were given that could account for it."
WORST = (
    "It is worst for {group}: {points} {less} than the other people there ({range}; {people} "
    "people)."
)
WORST_EQUAL = (
    "Where the other columns are equal it is worst for {group}: {points} {less} than the other "
    "people there ({range}; {people} people)."
)
BEST = "{group} got {more} than the other people there: {points} {more} ({range}; {people} people)."
BEST_EQUAL = (
    "Where the other columns are equal, {group} got {more} than the other people there: {points} "
    "{more} ({range}; {people} people)."
)
SINGLE = (
    "With another value of {attribute} alone, another decision would have been made about {people} "
    "people ({share})."
)
CALIBRATION = (
    "At equal scores, the outcomes of {group} are better than those of the others, by {points} "
    "({range}): their scores are too low."
)

# What is excluded.
NONE_ABOVE = "No gap above {bound} in any of the {n} groups compared by {attribute}"
NONE_ABOVE_ONE = "No gap above {bound} between the groups of {attribute}"
NONE_AT_EQUAL = "; at equal {columns} none above {bound}"
HOLDS = " ({level})."
HOLDS_EACH = " ({level} each)."
CLEARED_SOME = (
    "Nothing found by {attribute} as far as {people} people can show: no gap above {relevant} in "
    "comparisons as good as {resolution} people with as many; in smaller ones up to {bound} are "
    "possible ({level} each)."
)
CLEARED_SOME_UNBOUND = (
    "Nothing found by {attribute} as far as {people} people can show: no gap above {relevant} in "
    "comparisons as good as {resolution} people with as many ({level}); of smaller groups this "
    "page can say nothing."
)
EQUAL_BOUND = "At equal {columns}, none is above {bound} ({level})."
WHOLE = "Between the groups as a whole no gap is above {bound} ({level})."
UNKNOWN = (
    "Whether {attribute} makes a difference cannot be told from {people} people: {rate} of {worse} "
    "got {favorable}, {other_rate} of {better}, and the true difference may be {range}."
)
UNKNOWN_BECAUSE = "Whether {attribute} makes a difference this audit did not find out ({reason})."
UNKNOWN_ALL = "Whether {attribute} makes a difference cannot be told from {people} people."
NEEDED = "About {needed} people in each group would show whether a gap above {relevant} exists."
WHERE_EQUAL = "at equal columns "
OTHERS_ALL = "Of the other groups compared {where}({n}) none has a gap above {bound} ({level})."
OTHERS_SOME = (
    "Of the other groups compared {where}({n}) none has a gap above {relevant} in comparisons as "
    "good as {resolution} people with as many, and none at all above {bound} ({level} each)."
)
OTHERS_BOUND = (
    "Of the other groups compared {where}({n}) none has a gap above {bound} ({level}); these "
    "groups are too small to say more."
)
OTHERS_CLEARED = (
    "No gap above {relevant} in {cleared} of the other groups compared {where}({n}; {level}); of "
    "the rest this page can say nothing."
)
OTHERS_OPEN = "How large the gaps of the other groups are ({n}), this page cannot say."
OTHERS_SHOWN = "Of the other groups that are shown ({n}) none has a gap above {relevant} ({level})."
ALONE = (
    "Groups that have next to nobody to compare with: {n}; how large their gaps are nobody can say."
)

# The lines below the paragraphs.
LINES = {
    "quote": "To quote",
    "beside": "Beside it",
    "people": "People",
    "equal": "Held equal",
    "sure": "How sure",
    "unseen": "Not seen",
    "next": "Next",
    "law": "The law",
}
QUOTE_RAW = "{points} {less} for {worse} ({range}, confidence {level})"
QUOTE_EQUAL = "at equal columns {points} {less} ({range}, {level})"
QUOTE_GROUP = "{points} {less} for {group} ({range}, {level})"
QUOTE_GROUP_MORE = "{points} {more} for {group} ({range}, {level})"
QUOTE_BOUND = "no gap above {bound} ({level})"
QUOTE_WHOLE = "no gap above {bound} between the groups as a whole ({level})"
QUOTE_BOUND_EQUAL = "at equal columns none above {bound} ({level})"
QUOTE_NONE = "no number: these people are too few to show one"
QUOTE_HIDDEN = "no number: none may be shown"
QUOTE_NOTHING = "no number: nothing was compared"
PEOPLE = "{n}"
PEOPLE_SIDES = "{n}: {people} with {worse}, {others} with {better}"
HELD_NONE = "nothing"
SURE = (
    "each range holds with a confidence of {level}, or of what stands beside it; 1 point is 0.01 "
    "in the tables below"
)
SURE_NUMBERS = (
    "each range holds with a confidence of {level}, or of what stands beside it; a gap is in "
    "percent of the mean of those compared with, and a bound in percent of the mean of all "
    "({mean}); behind it the number itself"
)
SURE_RATIOS = (
    "each range holds with a confidence of {level}, or of what stands beside it; percentages "
    "compare geometric means, and the tables below have differences of natural logarithms"
)
UNSEEN = "groups under {size} of the people; what no column of the table says"
UNSEEN_SINGLE = "; single people, since there is no model to ask"
NEXT = {
    "unequal at equal columns": (
        "find out how these people are decided about, and whether a column that is missing here "
        "explains it; do not use the decisions unchanged in the meantime"
    ),
    "unequal, open at equal columns": (
        "collect more people or the columns that should explain the gap, and audit again"
    ),
    "unequal, accounted for": (
        "decide whether these columns may count: whether the task needs them, and whether they are "
        "themselves the result of unequal treatment"
    ),
    "nothing found": "repeat the audit when the data or the model change",
    "nothing found as far as one can see": (
        "collect more people if smaller groups or smaller gaps matter"
    ),
    "cannot tell": "collect more people; do not take this as a sign that all is well",
}
NEXT_OF_MODEL = (
    "find out why the decisions depend on {attribute}; do not use them unchanged in the meantime"
)
NEXT_OF_NUMBERS = (
    "find out how the numbers of these people come about, and whether a column that is missing "
    "here explains the gap"
)
NEXT_OF_REASON = "settle what is said about the columns held equal, and audit again"
NEXT_OF_NOTHING = (
    "settle what kept the audit from comparing, and audit again; do not take this as a sign that "
    "all is well"
)
LAW = (
    "not decided here: statistics show differences, and a lawyer or a court decides whether one is "
    "unlawful"
)
