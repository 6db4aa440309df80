# %% [markdown]
# Train an SVC on a few thousand digits, and the same kernel by sifting. Change `ROWS` to see how each time grows.

# %%
import time

import numpy as np
from sklearn.svm import SVC

from paraactive import Digits, LaSVM, ParaActiveClassifier

ROWS = 4_000
digits = Digits()
train, test = digits.read(0, ROWS), digits.test()

# %%
start = time.perf_counter()
svc = SVC(C=1, gamma=0.012, cache_size=1000).fit(train.x, train.y)
svc_seconds = time.perf_counter() - start

# %%
start = time.perf_counter()
clf = ParaActiveClassifier(LaSVM(C=1, gamma=0.012, gap=0.2), nodes=1, random_state=0).fit(train.x, train.y)
our_seconds = time.perf_counter() - start

# %%
errors = {name: float(np.mean(model.predict(test.x) != test.y)) for name, model in (("SVC", svc), ("ours", clf))}
print(f"SVC:  {svc_seconds:.2f} s, error {errors['SVC']:.2%}, {len(svc.support_)} vectors")
print(f"ours: {our_seconds:.2f} s, error {errors['ours']:.2%}, learned {clf.sampling_rate_:.0%} of the rows")
assert errors["ours"] < errors["SVC"] + 0.01
