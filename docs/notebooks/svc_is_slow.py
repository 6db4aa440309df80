# %% [markdown]
# Replace scikit-learn's SVC by ParaActiveSVC: one import changes. Change `ROWS` to see how each time grows.

# %%
import time

import numpy as np
from sklearn.svm import SVC

from paraactive import Digits, ParaActiveSVC

ROWS = 4_000
digits = Digits()
train, test = digits.read(0, ROWS), digits.test()
ParaActiveSVC().fit(train.x[:1500], train.y[:1500])  # The first fit on a machine compiles.

# %%
start = time.perf_counter()
svc = SVC(C=1, gamma=0.012, cache_size=1000).fit(train.x, train.y)
svc_seconds = time.perf_counter() - start

# %%
start = time.perf_counter()
ours = ParaActiveSVC(C=1, gamma=0.012, cache_size=1000, random_state=0).fit(train.x, train.y)
our_seconds = time.perf_counter() - start

# %%
errors = {name: float(np.mean(model.predict(test.x) != test.y)) for name, model in (("SVC", svc), ("ours", ours))}
print(f"SVC:  {svc_seconds:.2f} s, error {errors['SVC']:.2%}, {len(svc.support_)} support vectors")
print(f"ours: {our_seconds:.2f} s, error {errors['ours']:.2%}, {len(ours.support_)} support vectors")
print(ours.classifier_.run_.verdict)
assert errors["ours"] < errors["SVC"] + 0.01

# %% [markdown]
# More rows come: SVC begins again, and ParaActiveSVC goes on.

# %%
more = digits.read(ROWS, 2 * ROWS)
ours.partial_fit(more.x, more.y)
print(f"after {2 * ROWS} rows: error {np.mean(ours.predict(test.x) != test.y):.2%}")
