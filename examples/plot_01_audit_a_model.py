"""
Does this model treat groups differently, and does it use gender?
=================================================================

A bank's rule uses salary and balance only. A model is trained on its decisions and audited on
held-out applications.
"""

# %%
# The model is trained on one half of the applications. Preprocessing is part of the model, so the
# audit sees the raw columns.
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
# Groups: women are approved less often, especially in some subgroups.
groups = DivExplorer(protected="gender", direction="lower", redundancy=0.02, pos_label=1)
print(report.to_text(groups.fit(X_test, y_test, model).result_))

# %%
# People: the decision changes with gender alone for very few inputs. The disadvantage of women is
# mediated by salary and balance, which an individual audit of the model cannot detect.
for detector in (Themis(protected="gender", pos_label=1), KOSEI(protected="gender", pos_label=1)):
    print(report.to_text(detector.set_params(random_state=0).fit(X_test, y_test, model).result_))
