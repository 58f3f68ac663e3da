"""
Who is placed first?
====================

A bank has money for a few loans, and calls applicants in the order of a score. Nobody is refused,
but who comes late comes too late. Which places do young applicants get?
"""

# %%
# A model learns from half of the German credit data and ranks the other half.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdisc.datasets import fetch_german
from skdisc.group import RankingDisparity

german = fetch_german()
X, repaid = german.data, (german.target == 1).astype(int)
X["young"] = np.where(X["age"] <= 25, "25 or younger", "older")
columns = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
    remainder=StandardScaler(),
)
model = make_pipeline(columns, LogisticRegression(max_iter=1000))
train, test, repaid_train, repaid_test = train_test_split(X, repaid, test_size=0.5, random_state=0)
_ = model.fit(train, repaid_train)

# %%
# Exposure: a place is worth 1 / log2(1 + place), in units of the mean of the list.
ranking = RankingDisparity(protected="young", random_state=0)
result = ranking.fit(test, model=model).result_
print(result.verdict, "-", result.reason)
shown = ["subject", "outcome", "effect", "ci_low", "ci_high", "ratio", "p_prefix"]
print(result.to_frame()[shown].round(3).T.to_string(header=False))

# %%
# Where in the list are they missing? The table has the exact p-value of each prefix; `p_prefix`
# above is corrected for having looked at all of them.
prefixes = result.tables["prefixes"]
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.plot(prefixes["prefix"], prefixes["in_prefix"], label="25 or younger among the first k")
axis.plot(prefixes["prefix"], prefixes["expected"], "--", label="in a random order")
axis.set(xlabel="k", ylabel="people", xlim=(0, None), ylim=(0, None))
axis.legend(loc="upper left")
plt.show()

# %%
# A list for each purpose of the loan: people are compared within their list.
by_purpose = RankingDisparity(protected="young", query="purpose", random_state=0)
lists = by_purpose.fit(test, model=model).result_
print(lists.verdict, "-", lists.reason)
print(lists.tables["lists"].drop(columns=["group", "reference"]).round(3).to_string(index=False))

# %%
# The verdict says that their places are worth less, not that they repay as often. Exposure does not
# know merit. With labels, the table `merit` compares those who repaid, at their places in the list.
merit = ranking.fit(test, repaid_test, model=model).result_.tables["merit"]
print(merit.drop(columns=["group", "reference"]).round(3).T.to_string(header=False))
