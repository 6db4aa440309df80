# %% [markdown]
# Sifting selects mostly points near the boundary. The weight of a selected point is the number of points that it stands
# for.

# %%
import numpy as np

from paraactive import Arrays, Guard, LaSVM, train

rng = np.random.default_rng(0)
x = rng.normal(size=(20_000, 2))
radius = np.hypot(x[:, 0], x[:, 1])
y = np.where(radius > 1.2, "outside", "inside")

# %%
# No weight exceeds 20. Larger weights are unbiased too, but noisier.
floor = Guard(floor=0.05, cap=None, set_aside=None)
run = train(LaSVM(C=1, gamma=1.0, gap=0.2), Arrays(x, y), warmstart=500, batch=500, nodes=1, guard=floor)
print(f"{run.selected} of {run.sifted} selected, {run.sampling_rate:.1%}")

# %%
keys, weights = run.learned.key[500:], run.learned.weight[500:]
distance = np.abs(radius[keys] - 1.2)
for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 1.0), (1.0, 9.0)):
    here = (distance >= low) & (distance < high)
    there = int(np.sum((np.abs(radius - 1.2) >= low) & (np.abs(radius - 1.2) < high)))
    stand_for = f"they stand for {weights[here].sum():.0f} of {there}"
    print(f"{low:.1f} to {high:.1f} from the boundary: {here.sum()} selected, {stand_for}")

# %% [markdown]
# The selection is unbiased: the weights add up to about the number of examples that were sifted.

# %%
assert abs(weights.sum() / run.sifted - 1) < 0.25
assert np.median(distance) < np.median(np.abs(radius - 1.2)) / 2
