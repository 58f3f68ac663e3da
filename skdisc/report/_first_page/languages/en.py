"""The first page in English."""

from skdisc._utils._tables import _note_texts

DECIMAL, THOUSANDS = ".", ","
PERCENT = "{} %"
RANGE = "{low} to {high}"
RANGE_QUOTED = "{range}, confidence {level}"
RANGE_UNKNOWN = "range unknown"
RANGE_LESS = "{low} to {high} {less}"
RANGE_MORE = "{low} to {high} {more}"
RANGE_AROUND_ZERO = "between {low} {less} and {high} {more}"
AND = " and "
MISSING = "{name} is missing"
NOT_MISSING = "{name} is not missing"

STATES = {
    "unequal at equal columns": "Unequal even where the other columns are equal",
    "unequal, open at equal columns": "Unequal; what the other columns explain is open",
    "unequal, accounted for": "Unequal, and the other columns account for it",
    "nothing found": "Nothing found",
    "nothing found as far as one can see": "Nothing found as far as one can see",
    "cannot tell": "Cannot tell",
}
STATES_OF_SMALLER = {  # where only a smaller group is found
    "unequal at equal columns": (
        "Unequal in a smaller group, even where the other columns are equal"
    ),
    "unequal, open at equal columns": (
        "Unequal in a smaller group; what the other columns explain is open"
    ),
    "unequal, accounted for": "Unequal in a smaller group, and the other columns account for it",
}
STATE_OF_ERRORS = "Unequal in its errors"
STATE_ALSO_OF_ERRORS = "Unequal, also in its errors"
STATE_ALONE = "Unequal"  # no other columns could be equal
FAVORABLE = "the favorable outcome ({labels})"
ONE_CLASS = "the outcome ({labels})"  # of several, of which none is called favorable
SPELLINGS = "{labels}, also in other spellings"
EVERYONE_ELSE = "everyone else"
ALL_OTHERS = "everyone else"  # as the one that a group is compared with, or counted
OTHERS_THERE = "the others with {context}"
GEOMETRIC = "{mean} (geometric mean)"
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
UNKNOWN_NUMBER = (
    "Whether {attribute} makes a difference cannot be told from {people} people: on average {mean} "
    "{target} for {worse}, {other_mean} for {better}, and the true difference may be {range}."
)
TARGETS = {"value": "of what is compared", "probability": "probability of the favorable outcome"}
MEDIANS = "The medians are {median} and {other_median} (gap: {range})."
SMALL = "That is less than the gap that matters here ({relevant})."
ALSO_MORE = "{group} ({points} {more})"
ALSO_LESS = "{group} ({points} {less})"
ALSO = "Different from the others as well: {groups}."
ALSO_FROM = "Different from {reference} as well: {groups}."
MORE_OFTEN = (
    "{better} got {favorable} more often than {worse}: {other_rate} against {rate}, {points} more "
    "({range})."
)
NEARLY_EQUAL = "As a whole, the groups differ little or the data cannot show it."
RATES = "As a whole, {rate} of {worse} got {favorable}, and {other_rate} of {better}."
MEANS = "As a whole, the mean {target} is {mean} for {worse} and {other_mean} for {better}."
REMAINS = "At equal {columns}, {points} {less} remain ({range})."
REMAINS_MORE = "At equal {columns}, {points} {more} remain ({range})."
TURNED_MORE = "At equal {columns}, it is the other way round: {points} {more} ({range})."
TURNED_LESS = "At equal {columns}, it is the other way round: {points} {less} ({range})."
REMAINS_OPEN = "At equal {columns}, what remains for the group as a whole is {range}."
AGAINST_EVERYONE = "There, {group} is compared with everyone else, not with {other_group}."
ACCOUNTED = (
    "In none of the groups compared ({n}) does a gap above {bound} remain ({level}): these columns "
    "account for the gap. Whether these columns may count is your decision."
)
ACCOUNT_OPEN = (
    "Whether the gap is accounted for by {columns} is open: where these are equal, what remains is "
    "{range}."
)
ACCOUNT_UNKNOWN = "Whether the gap is accounted for by {columns} is open."
NO_COLUMNS = "No other columns were given that could account for it."
NOT_ASKED = "Whether other columns account for it was not asked in this audit."
WORST = "It is worst for {group}: {points} {less} than {others} ({range}; {people} people)."
WORST_EQUAL = (
    "Where the other columns are equal it is worst for {group}: {points} {less} than {others} "
    "({range}; {people} people)."
)
BEST = "{group} got {more} than {others}: {points} {more} ({range}; {people} people)."
BEST_EQUAL = (
    "Where the other columns are equal, {group} got {more} than {others}: {points} {more} "
    "({range}; {people} people)."
)
WHERE_GROUP = "Where the other columns are equal, "
GROUP_LESS_OFTEN = (
    "{where}{group} got {favorable} less often than {others}: {points} less ({range}; {people} "
    "people)."
)
GROUP_MORE_OFTEN = (
    "{where}{group} got {favorable} more often than {others}: {points} more ({range}; {people} "
    "people)."
)
GROUP_LESS_OF_NUMBER = (
    "{where}{group} got {less} {target} than {others}: {points} {less} ({range}; {people} people)."
)
GROUP_MORE_OF_NUMBER = (
    "{where}{group} got {more} {target} than {others}: {points} {more} ({range}; {people} people)."
)
SINGLE = (
    "For {people} people ({share}) the decision would have been another one if {attribute} alone "
    "had been different."
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
    "Nothing found by {attribute} as far as {people} people can show: no gap above {relevant}"
    " in comparisons as good as one of {resolution} people with as many; in smaller "
    "comparisons up to {bound} are possible ({level} each)."
)
OPEN_BY_RATIO = (
    "Between the groups as a whole no gap is above {bound}, but a ratio of rates{outcome} of "
    "{ratio} is not excluded ({level} each)."
)
OF_UNFAVORABLE = " of unfavorable outcomes"
LIMITED_BY_RATIO = (
    "Nothing found by {attribute} as far as {people} people can show: no gap above {bound} in any "
    "of the groups compared ({n}), but a ratio of rates{outcome} of {ratio} is not excluded "
    "({level} each)."
)
CLEARED_SOME_UNBOUND = (
    "Nothing found by {attribute} as far as {people} people can show: no gap above {relevant}"
    " in comparisons as good as one of {resolution} people with as many ({level}); of smaller"
    " comparisons this page can say nothing."
)
EQUAL_TOO_FEW = (
    "At equal {columns}, too few people can be compared to say how large all of the gaps are."
)
EQUAL_BOUND = "At equal {columns}, none is above {bound} ({level})."
WHOLE_TOO_FEW = "Some of the groups as a whole have too few people to say how large their gaps are."
WHOLE = "Between the groups as a whole no gap is above {bound} ({level})."
UNKNOWN = (
    "Whether {attribute} makes a difference cannot be told from {people} people: {rate} of {worse} "
    "got {favorable}, {other_rate} of {better}, and the true difference may be {range}."
)
UNKNOWN_BECAUSE = "Whether {attribute} makes a difference this audit did not find out ({reason})."
UNKNOWN_ALL = "Whether {attribute} makes a difference cannot be told from {people} people."
NEEDED = "About {needed} people in each group would show whether a gap above {relevant} exists."
NEEDED_FAR_MORE = (
    "Only far more people than these would show whether a gap above {relevant} exists."
)
WHERE_EQUAL = "at equal columns "
FOUND_SEVERAL = (
    "Gaps are found {where}in {n} groups, which are listed below; one of them is {group}, with "
    "{points} {less}."
)
FOUND_SEVERAL_MORE = (
    "Gaps are found {where}in {n} groups, which are listed below; one of them is {group}, with "
    "{points} {more}."
)
OTHERS_ALL = (
    "Of the comparisons {where}without a finding ({n}) none has a gap above {bound} ({level})."
)
OTHERS_SOME = (
    "Of the comparisons {where}without a finding ({n}) none has a gap above {relevant} in "
    "comparisons as good as one of {resolution} people with as many, and none at all above "
    "{bound} ({level} each)."
)
OTHERS_SOME_TOO_FEW = (
    "Of the comparisons {where}without a finding ({n}) none has a gap above {relevant} in "
    "comparisons as good as one of {resolution} people with as many ({level}); the smaller ones "
    "have too few people to say how large the gaps are."
)
OTHERS_TOO_FEW = (
    "The comparisons {where}without a finding ({n}) have too few people to say how large the gaps "
    "are."
)
OTHERS_BOUND = (
    "In the comparisons {where}without a finding ({n}), gaps of up to {bound} are possible "
    "({level})."
)
OTHERS_CLEARED = (
    "In {cleared} of the {n} comparisons {where}without a finding no gap is above {relevant} "
    "({level}); of the rest this page can say nothing."
)
OTHERS_OPEN = (
    "How large the gaps in the comparisons without a finding are ({n}), this page cannot say."
)
OTHERS_SHOWN = (
    "Of the groups that are shown without a finding ({n}) none has a gap above {relevant} "
    "({level})."
)
ALONE = (
    "Groups that have next to nobody to compare with: {n}; how large their gaps are nobody can say."
)

# The lines below the paragraphs.
LINES = {
    "quote": "Number to quote",
    "whole": "All together",
    "remains": "At equal columns",
    "equal": "Columns held equal",
    "smaller": "Smaller group",
    "another": "Another group",
    "people": "People",
    "next": "What to do next",
    "sure": "How sure",
    "unseen": "What cannot be seen",
    "law": "Against the law?",
}
QUOTE_GROUP = "{points} {less} for {group} ({sure})"
QUOTE_GROUP_MORE = "{points} {more} for {group} ({sure})"
WHERE_GROUP_AFTER = ", at equal columns"
QUOTE_SMALLER = "{points} {less} for {group}{where} ({sure}; {people} people)"
QUOTE_SMALLER_MORE = "{points} {more} for {group}{where} ({sure}; {people} people)"
QUOTE_BETWEEN = "not known, but {range} for {group}"
QUOTE_AGAINST = ", compared with everyone else"
QUOTE_TOGETHER = "{smaller}; all together: {whole}"
QUOTE_TOO_FEW = "not known: too few people can be compared to say how large the gaps are"
QUOTE_OPEN = "not known"
QUOTE_BOUND = "no gap above {bound} ({level})"
QUOTE_WHOLE = "no gap above {bound} between the groups as a whole ({level})"
QUOTE_NONE = "no number: these people are too few to show one"
QUOTE_HIDDEN = "no number: none may be shown"
QUOTE_NOTHING = "no number: this audit found no answer"
PEOPLE = "{n}"
PEOPLE_SIDES = "{n} ({group}: {people}; {other_group}: {others})"
SAMPLED = "For {questions}, {n} of {total} people were drawn by chance and examined."
PEOPLE_SAMPLED = "{people}; for {questions}, {n} drawn by chance"
QUESTIONS = {
    "all": "all questions",
    "marginal": "gaps between whole groups",
    "contextual": "gaps in smaller groups",
    "conditional": "gaps at equal columns",
    "linear": "gaps at equal columns",
    "individual": "comparisons of single people",
    "counterfactual": "comparisons of single people",
    "calibration": "gaps at equal scores",
    "everyone": "gaps from the mean of all",
}
HELD_NONE = "nothing"
SURE = (
    "ranges and bounds hold with a confidence of {level}, or with the one beside them; 1 point is "
    "0.01 in the tables below"
)
SURE_NUMBERS = (
    "ranges and bounds hold with a confidence of {level}, or with the one beside them; a gap is in "
    "percent of the mean of those compared with, and a bound in percent of the mean of all "
    "({mean}); the tables below are in the unit of the numbers"
)
SURE_RATIOS = (
    "ranges and bounds hold with a confidence of {level}, or with the one beside them; percentages "
    "compare geometric means, and the tables below have differences of natural logarithms"
)
UNSEEN_OTHER = "other "  # beside a gap of such a group
UNSEEN = "{other}gaps in groups under {size} of the people; what no column of the table says"
UNSEEN_SINGLE = (
    "; whether one and the same person would have been treated differently, as there is no model "
    "to ask"
)
NEXT = {
    "unequal at equal columns": (
        "find out how these decisions come about, and whether a column that is missing here "
        "explains the gap; do not use the decisions unchanged in the meantime"
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
NEXT_OF_UNASKED = "find out whether other columns explain the gap, which this audit did not ask"
NEXT_OF_REASON = "settle what is said about the columns held equal, and audit again"
NEXT_OF_ALIKE = (
    "add the people whose outcomes differ, if there are any, and audit again; do not take this as "
    "a sign that all is well"
)
NEXT_OF_NOTHING = (
    "settle what kept the audit from comparing, and audit again; do not take this as a sign that "
    "all is well"
)
LAW = (
    "not decided here: statistics show differences, and a lawyer or a court decides whether one is "
    "unlawful"
)

# Reports of pay.
PAY_TITLES = {
    "pay_transparency": ("Gender pay gap: the figures of Article 9(1) of Directive (EU) 2023/970"),
    "uk_gender_pay_gap": (
        "Gender pay gap: the six figures of the United Kingdom's regulations of 2017"
    ),
}
PAY_SOURCES = {
    "pay_transparency": (
        "A gap is the difference of men's and women's average as a percentage of men's (Article 3 "
        "of the directive); {relevant} is the size that Article 10(1) names. Quarters divide "
        "people of equal pay on a border alike. This page states figures and how sure they are; "
        "it does not report whether a duty is met or a difference is justified."
    ),
    "uk_gender_pay_gap": (
        "Figures of the Equality Act 2010 (Gender Pay Gap Information) Regulations 2017: a gap is "
        "the difference of men's and women's average as a percentage of men's; gaps of bonus pay "
        "are those among people who received some; people of equal pay on the border of a quarter "
        "are divided alike (regulation 13(2)). This page states figures and how sure they are; it "
        "does not report whether a duty is met."
    ),
}
PAY_TARGETS = {"total pay per hour": "total pay per hour", "total pay": "total pay"}
PAY_FIGURES = {
    "mean total": "Mean pay",
    "median total": "Median pay",
    "mean variable": "Mean variable pay",
    "median variable": "Median variable pay",
    "receive variable": "People who receive variable pay",
}
PAY_AMONG = {"all": "", "recipients": ", among those who receive it"}
PAY_QUARTERS = {
    "quarter 1": "lowest",
    "quarter 2": "lower middle",
    "quarter 3": "upper middle",
    "quarter 4": "highest",
}
PAY_PARTS = {"base": "Base pay", "variable": "Variable pay", "total": "Total pay"}
PAY_PARTS_WITHIN = {"base": "base pay", "variable": "variable pay", "total": "total pay"}
PAY_BASES = {"per hour": "per hour", "as recorded": "as recorded"}
PAY_PER_HOUR = " per hour"
PAY_GROUPS = {"other categories": "other categories", "missing": "missing"}
PAY_EVERYBODY = "all"
PAY_SIDES = {"lower": "{gap} lower", "higher": "{gap} higher"}
PAY_COMPARED = {
    "lower": "{gap} lower than men's",
    "higher": "{gap} higher than men's",
    "equal": "as high as men's",
}
PAY_RANGE = "{text} ({low} to {high}{level})"
PAY_RANGE_AROUND_ZERO = "{text} (between {low} higher and {high} lower{level})"
PAY_RANGE_UNKNOWN = "{text} (range unknown: {reason})"
PAY_NOT_COMPARED = "not compared"
PAY_NOT_COMPARED_BECAUSE = "not compared ({reason})"
PAY_WHOLE = "Women's mean pay{basis} is {mean}; their median is {median}."
PAY_WHOLE_RECORDED = "Not divided by hours, their mean pay is {mean}."
PAY_HOURS = (
    "Of the gap of pay that is not divided by hours, {share} goes with hours ({low} to {high}): so "
    "much smaller is the gap per hour."
)
PAY_HOURS_TURNED = (
    "Per hour the gap goes the other way: women's mean pay is {hourly}, not divided by hours "
    "{recorded}."
)
PAY_HOURS_LARGER = (
    "Per hour the gap is larger: women's mean pay is {hourly}, not divided by hours {recorded}."
)
PAY_HOURS_OPEN = (
    "Per hour women's mean pay is {hourly}, not divided by hours {recorded}; which share of the "
    "gap goes with hours these people cannot tell."
)
PAY_BY_CATEGORY = (
    "{part} by category: surely {relevant} or more in {above}{named}; surely below in "
    "{below}{open}{largest}."
)
PAY_COUNT = "{n} of {total}"
PAY_COUNT_NONE = "none of {total}"
PAY_ABOVE_NAMED = ": {groups}"
PAY_NAMED = "{group}, {compared}"
PAY_MORE_NAMED = "{n} more"
PAY_OPEN = "; of {n} these people cannot tell"
PAY_LARGEST = ". The largest is that of {group}: women's {part} is {compared}{needed}"
PAY_WOULD_TELL = ", and {needed} would tell"
PAY_NEEDED = "about {n} people"
PAY_NEEDED_THERE = "about {n} people there"
PAY_NEEDED_TOO_MANY = "only more people than such a firm has"
PAY_NEEDED_TOO_MANY_THERE = "only more people there than such a firm has"
PAY_RECEIVE_HIDDEN = "Who receives variable pay is not shown, to protect the few who do."
PAY_RECEIVE_NOBODY = "Nobody receives variable pay."
PAY_RECEIVE = "Variable pay goes to {women} of women and {men} of men{often}{among}."
PAY_RECEIVE_OFTEN = {
    "less": ", {n} points less often to women ({low} to {high})",
    "more": ", {n} points more often to women ({low} to {high})",
    "equal": ", as often to women ({low} to {high})",
}
PAY_RECEIVE_AMONG = "; among those who receive it, women's mean{basis} is {compared}"
PAY_EQUAL = "At equal {columns} women's total pay{basis} is {compared}, in place of {gap}."
PAY_EQUAL_IN = (
    "In category {group}, at equal {columns} women's total pay{basis} is {compared}, in place of "
    "{gap}."
)
PAY_LOGIB = (
    "By the model of Logib (Switzerland), at equal {columns} women's total pay{basis} is "
    "{compared}."
)
PAY_LOGIB_DIFFERS = (
    "Logib compares logarithms of pay, so that the few highest salaries count less, and assumes "
    "the same gap for everybody; the figure at equal {columns} compares mean pay and does not "
    "assume this."
)
PAY_NOT_TURNED = "No state is another one if any single person is left out."
PAY_TURNED = (
    "If some single person is left out, whether the gap is {relevant} or more has another answer "
    "for: {groups}."
)
PAY_TURNED_GROUP = "{part} of {group}"
PAY_ALL_PEOPLE = "All people"
PAY_QUARTERS_TITLE = {
    "people": "Quarters of all people by total pay{basis}",
    "rows": "Quarters of all rows by total pay{basis}",
}
PAY_CATEGORIES_TITLE = "(g) By category of workers ({column}), {basis}; each range {level}"
PAY_CATEGORY_COLUMN = "category"
PAY_HEADS = {
    "quantile": "Quantile",
    "part": "Part",
    "amount": "Amount",
    "figure": "Figure",
    "women": "Women",
    "men": "Men",
    "rows of women": "Rows of women",
    "rows of men": "Rows of men",
    "weights of women": "Sum of weights of women",
    "weights of men": "Sum of weights of men",
    "weights of rows of women": "Sum of weights of rows of women",
    "weights of rows of men": "Sum of weights of rows of men",
    "gap": "Women lower by",
    "quarter": "Quarter",
    "range": "Range of the share of women",
    "category": "Category",
}
PAY_HEAD_OF_BASIS = "Women lower by, {basis}"
PAY_HEAD_OF_PART = "{part}: women lower by"
PAY_QUANTILES_TITLE = "Gaps by quantile of pay{basis}; each range {level}"
PAY_QUANTILES = {
    "0.1": "a tenth earns less",
    "0.25": "a quarter earns less",
    "0.5": "half earn less (median)",
    "0.75": "a quarter earns more",
    "0.9": "a tenth earns more",
}
PAY_SHADED = "{title}; shaded: below {relevant}"
PAY_CONSISTS_TITLE = "What the gap of total pay{basis} consists of, in percent of men's mean"
PAY_CONSISTS = {
    "gap": "The whole gap",
    "accounted": "Goes with {columns}",
    "remains": "Remains at equal {columns}",
}
PAY_CELL = "{gap} [{low}, {high}]"
PAY_CELL_UNKNOWN = "{gap} (range unknown)"
PAY_SHARE_OF = "{share} of {n}"
PAY_OTHERS = {"one": "{quarter} (and {n} other)", "several": "{quarter} (and {n} others)"}
PAY_STATES = {
    "above": "{relevant} or more",
    "below": "below {relevant}",
    "cannot tell": "cannot tell",
    "needed": "cannot tell ({needed} would)",
}
PAY_NOTES = {
    "clustered": (
        "Several rows are one person: women and men are counted once, in quarters and in the "
        "answers below their rows."
    ),
    "joined": "Joined, because too few women or men work in them: {groups}.",
    "one left out": "1 figure is left out, to protect the few who receive variable pay.",
    "left out": "{n} figures are left out, to protect the few who receive variable pay.",
    "one not in Logib": ("Logib's model leaves out 1 row: a column of it is missing, or pay is 0."),
    "not in Logib": ("Logib's model leaves out {n} rows: a column of it is missing, or pay is 0."),
    "few others": (
        "Fewer than {n} people are neither women nor men, or have no value of sex: they are left "
        "out of all figures here and below, to protect them."
    ),
    "one other": (
        "1 person is neither a woman nor a man here, or has no value of sex, counts in quarters of "
        "pay, and is not compared below."
    ),
    "others": (
        "{n} people are neither women nor men here, or have no value of sex: they count in "
        "quarters of pay, and are not compared below."
    ),
    "one wrong": (
        "1 row is over ten times, or under a tenth of, the median pay of the category: probably an "
        "error; it counts as it is."
    ),
    "wrong": (
        "{n} rows are over ten times, or under a tenth of, the median pay of the category: "
        "probably errors; they count as they are."
    ),
    "one to check": (
        "1 row is over four times or under a quarter of that median, more than 80 hours, or parts "
        "that do not add up: to be checked; it counts as it is."
    ),
    "to check": (
        "{n} rows are over four times or under a quarter of that median, more than 80 hours, or "
        "parts that do not add up: to be checked; they count as they are."
    ),
}
# Why a figure is missing: what the document says, and in other languages what it means.
PAY_REASONS = {
    "no average": "men's average is 0",
    "no median": "the median of men is 0",
    "two people": "fewer than 2 people of a sex",
    "few": "too few people",
    "few for a median": "too few people for an interval, or the median may be 0",
    "no sex": "a sex is missing",
    "tells sex": "the other columns tell who is a woman",
    "nobody": "nobody receives variable pay",
    "several rows": "several rows are one person",
    "hidden": "fewer than {n} women or men: left out, to protect them",
    "hidden recipients": "fewer than {n} women or men receive it: left out, to protect them",
    "hidden in a category": (
        "fewer than {n} women or men receive variable pay: left out, to protect them"
    ),
    "dominated": "one person has nearly all of this pay: left out, to protect them",
    "skewed": (
        "too skewed to compare means of {n} people: about {needed} are needed; ask about logarithms"
    ),
    "skewness unknown": "how skewed the numbers of {n} people are is unknown; change the unit",
}

# What stands above the answers, and what a document tells in English.
TITLE = "Audit"
TITLE_OF = "Audit of {system}"
NOTICED = "Noticed in the table, with the option that changes it:"
MORE_READ = (
    "The first {n} of {total} notes on how the file was read; the JSON document has all of them."
)
INTERRUPTED = (
    "The audit was interrupted after {done} of {planned} steps. What follows is what was found "
    "until then; questions without an answer have insufficient evidence."
)
NO_VERDICT = "no verdict is given"
OPENING = {
    "labels": "{n} recorded outcomes were audited for {names}; favorable is {labels}.",
    "decisions": "{n} recorded decisions were audited for {names}; favorable is {labels}.",
    "model": (
        "The decisions of a model about {n} people were audited for {names}; favorable is {labels}."
    ),
    "fitted model": (
        "The decisions of a model that was trained in this audit, about {n} people, were "
        "audited for {names}; favorable is {labels}."
    ),
    "counts": "Published counts of {n} people were audited for {names}; favorable is {labels}.",
    "numbers": (
        "{what}: {n} people were audited for {names}; {compared} are compared, and {better} is "
        "better."
    ),
}
OPENING_WORDS = {
    "difference": "means",
    "log": "means of logarithms",
    "high": "more",
    "low": "less",
    "probability": "Probabilities",
    "value": "Numbers",
}
PUBLIC = {
    "one": "This is a public document: {n} group was not looked at, to protect people.",
    "several": "This is a public document: {n} groups were not looked at, to protect people.",
}
SENTENCES = {
    "public pay": "public reports of pay state figures, and ask no question about them",
    "too skewed": (
        "{start}; in {n} of {total} comparisons the numbers are too skewed to compare means: check "
        "the largest, or compare logarithms (--outcome-scale log)"
    ),
    "equal within groups": (
        "{start}; the numbers of each group of {attribute} are all equal, and show nothing of how "
        "much numbers vary"
    ),
    "open": "whether there is a gap above {gap}, the one that matters, is open",
    "open of few": "groups of fewer than {n} people are open",
    "open several": (
        "of none of the {n} groups compared of {size} % of these people or more can it be said "
        "that its gap is at most {gap}"
    ),
    "not run because": "its test did not run: {start}",
    "time spent": "the time budget of {seconds} s was spent",
    "not looked at": "none of its groups is looked at, to protect people",
    "equal outcomes of the model": "all outcomes of the model are equal",
    "equal outcomes by": "by {measure}, all outcomes are equal",
    "equal outcomes": "all outcomes are equal",
    "equal outcomes of": "all outcomes are equal ({value}), so no disparity can appear",
    "no outcomes": "there are no outcomes",
    "not run": "its test did not run",
    "nobody": "there is no group to compare",
    "nobody of a size": "there is no group to compare of {size} % of these people or more",
    "columns tell fine": (
        "the legitimate columns nearly determine who belongs to {groups}, so nobody like them "
        "is left to compare with; leave such columns{columns} out (adjust_for, or --ignore): "
        "{fine} (fewer than five people for each value)"
    ),
    "columns tell": (
        "the legitimate columns nearly determine who belongs to {groups}, so nobody like them "
        "is left to compare with; leave such columns{columns} out (adjust_for, or --ignore)"
    ),
    "weights dominate": (
        "the weights of {groups}, or of those compared with, amount to fewer than five people, as "
        "some are far larger than all others"
    ),
    "columns predict": (
        "the legitimate columns still predict what is left of the outcome and of the protected "
        "part, by as much as decides about {groups}; set nuisance= to a better estimator"
    ),
    "joined cells": (
        "cells of legitimate columns were adjusted for, perhaps for nothing, which moves "
        "effects by as much as decides about {groups}"
    ),
    "few clusters": (
        "groups has {n} clusters only, from which variances are too uncertain to exclude a "
        "gap; that takes {least}"
    ),
    "after correction": "p = {p}, and {corrected} after correction for {n} questions",
    "few far": (
        "fewer than {n} outcomes lie far from all others (three interquartile ranges beyond "
        "the quartiles)"
    ),
    "far": "{n} outcomes lie far from all others (three interquartile ranges beyond the quartiles)",
    "as they are": "count as they are",
    "errors": "if they are errors, correct them",
    "errors or log": "if they are errors, correct them; --outcome-scale log weighs them less",
    "many numbers": "the outcomes are {n} different numbers",
    "means": "their means are compared",
    "name favorable": (
        "for decisions name the favorable values: --favorable, or pos_label in Python"
    ),
    "same order": "its order is that of the outcomes, in nearly all rows",
    "values give": "each of its values goes with one outcome, in all rows ({n})",
    "values nearly give": "each of its values goes with one outcome, in nearly all rows",
    "threshold gives": "a threshold of it gives the outcome, in all rows ({n})",
    "threshold nearly gives": "a threshold of it gives the outcome, in nearly all rows",
    "outcome again": "if it is the outcome in other words, no gap can show at equal values of it",
    "leave out": "leave it out: {option}",
    "target alone": "total pay is the target alone, and this column is not added to it",
    "part of target": "it counts as a part of the target, and the rest of the target as base pay",
    "base named": "if the target is base pay, name it so: --base COL in place of --target COL",
    "rows of people": "{distinct} values in {n} rows, whose outcomes are much alike",
    "rows of the same": "{distinct} values in {n} rows, and {same} is the same in all rows of each",
    "rows of one person": "if rows of one value are of one person, they count as so many people",
    "say so": "say so: {option}",
    "code": "{value} in {n} rows, far from all other numbers",
    "code counts": "counts as a number",
    "code missing": "if it means that nothing is known: {option}",
    "spellings": "values that differ by case or blanks alone: {values}",
    "label spellings": "labels that differ by case or blanks alone: {values}",
    "decision spellings": "decisions that differ by case or blanks alone: {values}",
    "weighted": (
        "rates, means and gaps are weighted, and people counted as rows; with their weights these "
        "{n} rows tell as much as {equal} without"
    ),
    "few weightless": "fewer than {n} rows of weight 0 are left out",
    "weightless": "{n} rows of weight 0 are left out",
    "of few": "{n} of fewer than {least} people",
    "all favorable": "all count as favorable",
    "exact text": "only the exact text: --favorable-exact",
    "some unfavorable": "{values} count as unfavorable",
    "not exact": "without --favorable-exact they count as favorable; in Python name them all",
    "own groups": "are groups of their own",
    "make one": "make them one: {option}",
    "copies in all": "{n} rows are copies of others in every column",
    "copies": "Each row occurs {n} times or a multiple of that, so rows seem to be copies",
    "too small": "if so, p-values and intervals are too small",
    "no own people": "if they are not people of their own, p-values and intervals are too small",
    "drop copies": "leave them out: --drop-copies",
    "neighbors": "Outcomes of neighboring rows are alike (correlation {near}; {far} further apart)",
    "belong together": (
        "if rows that follow each other belong together, as members of a household do, "
        "p-values and intervals are too small"
    ),
    "say which": "say which: --groups COLUMN",
    "counted rows": "each row is another combination of all other columns and the outcome",
    "counts as a column": "counts as a column, and each row as one person",
    "number of people": "if it is the number of people of each row: {option}",
    "stand-in": "goes strongly with {attribute} (Cramér's V {v}, 0 to 1)",
    "runs through": "what runs through it does not count as a gap between groups of {attribute}",
    "without hours": "{n} rows with hours that are missing, 0 or less",
    "one without hours": "1 row with hours that are missing, 0 or less",
    "without label": "{n} rows have no label",
    "one without label": "1 row has no label",
    "dropped copies": "{n} rows are copies",
    "one dropped copy": "1 row is a copy",
    "left out": "left out",
    "folded": "values in {n} rows differ by case or blanks alone",
    "made one": "made one",
    "threshold": "scores of {value} or more",
    "threshold of percents": (
        "scores of {value} or more, though they go up to {most} (perhaps {hundredfold} is meant)"
    ),
    "threshold of risk": (
        "scores of {value} or more, though scores are lower where the outcome is favorable (if "
        "they tell a risk, change the signs of scores and threshold)"
    ),
    "favorable decisions": "are favorable decisions",
    "by option": "by {option}",
} | _note_texts.NOTE_TEXTS
