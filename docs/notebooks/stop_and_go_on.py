# %% [markdown]
# A run is one file. Stop the run at any moment, look at the file, and continue: the run ends in the same model as a run
# that was never stopped.

# %%
import sqlite3
import tempfile
from pathlib import Path

from paraactive import Digits, LaSVM, Model, replay, resume, train
from paraactive.report import write_report

folder = Path(tempfile.mkdtemp())
settings = {"examples": 8_000, "batch": 1_000, "warmstart": 2_000, "test": True}


def learner():
    return LaSVM(C=1, gamma=0.012, gap=0.2)


# %%
whole = train(learner(), Digits(), out=folder / "whole.db", **settings)
stopped = train(learner(), Digits(), out=folder / "stopped.db", stop=lambda run: run.seen >= 4_000, **settings)
print("stopped after", stopped.seen)

# %%
with sqlite3.connect(folder / "stopped.db") as database:
    for number, seen, selected in database.execute("SELECT number, seen, selected FROM rounds"):
        print(f"round {number}: {seen} seen, {selected} selected")

# %%
ended = resume(folder / "stopped.db")
print("continued to", ended.seen)
assert ended.learner.digest() == whole.learner.digest() == replay(folder / "stopped.db").learner.digest()

# %%
model = Model.load(folder / "stopped.db")
print(*model.predict(Digits().test().x[:5]))
page = write_report([folder / "whole.db", folder / "stopped.db"], folder / "both.html")
print("page about both runs:", page.stat().st_size, "bytes")
