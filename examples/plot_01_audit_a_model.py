"""
Does this model treat groups differently, and does it look at gender?
=====================================================================

A bank's rule looks at salary and balance only. A model trained on its decisions is audited on
applications that it has not seen.
"""

# %%
# Half of the applications train the model. The preprocessing is inside of it, so that the audit
# sees the raw columns.
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from skdisc import report
from skdisc.datasets import make_loan
from skdisc.individual import KOSEI, Themis
from skdisc.subgroup import DivExplorer

X, y = make_loan(random_state=0, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
columns = make_column_transformer((OrdinalEncoder(), ["gender"]), remainder="passthrough")
model = make_pipeline(columns, RandomForestClassifier(min_samples_leaf=5, random_state=0))
model.fit(X_train, y_train)

# %%
# Groups: women are approved less often, and so are some groups of women.
groups = DivExplorer(protected="gender", direction="lower", redundancy=0.02, pos_label=1)
print(report.to_text(groups.fit(X_test, y_test, model).result_))

# %%
# People: hardly anybody's decision changes with gender alone. What hurts women flows through
# salary and balance, which an individual audit of the model cannot see.
for detector in (Themis(protected="gender", pos_label=1), KOSEI(protected="gender", pos_label=1)):
    print(report.to_text(detector.set_params(random_state=0).fit(X_test, y_test, model).result_))
