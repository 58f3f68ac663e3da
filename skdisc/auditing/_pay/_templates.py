"""Names of the templates of laws, and of the columns that templates of pay are about."""

OF_RATES = ("four_fifths", "ll144")
EU, UK = "pay_transparency", "uk_gender_pay_gap"
TEMPLATES = (EU, UK)  # of pay
COLUMNS = ("category", "base", "variable", "hours", "women")  # what `Audit(pay=...)` may have
# What stands in a column of sex, in lower case.
WOMEN_WORDS = {"f", "female", "w", "woman", "women", "weiblich", "frau", "frauen"}
WOMEN_WORDS |= {"femme", "femmes"}
MEN_WORDS = {"m", "male", "man", "men", "männlich", "mann", "männer", "homme", "hommes", "h"}
LOGIB = "logib"  # its further key: a model that is fitted beside
# What that model is about: years, and two columns of categories.
YEARS = ("training", "experience", "service")
LOGIB_COLUMNS = (*YEARS, "level", "position")
