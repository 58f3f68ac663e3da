"""Names of the templates of laws, and of the columns that templates of pay are about."""

OF_RATES = ("four_fifths", "ll144")
EU, UK = "pay_transparency", "uk_gender_pay_gap"
TEMPLATES = (EU, UK)  # of pay
COLUMNS = ("category", "base", "variable", "hours", "women")  # what `Audit(pay=...)` may have
