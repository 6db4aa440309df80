"""How many nodes are worthwhile: predictions of the cost model for a recorded run, and their errors."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from paraactive.basics.validation import whole
from paraactive.planning.cost import CostModel
from paraactive.planning.fit import fit
from paraactive.planning.recorded import Recorded
from paraactive.planning.values import Link, Prediction

# Numbers of nodes k = 1, 2, 4 ... 1024.
NODES = tuple(2**power for power in range(11))
# More nodes are worthwhile if each doubling saves at least this share of the time.
PAYS = 0.1
# T is extrapolated to at most this multiple of the entries that it was measured on.
_MAX_EXTRAPOLATION = 2


@dataclass(frozen=True)
class Check:
    """A prediction and its measurement.

    Parameters
    ----------
    path : str
        The run file.
    nodes : int
        Number of nodes.
    what : str
        "paper's clock" or "wall".
    predicted : float
        Predicted time, in seconds.
    measured : float
        Measured time, in seconds.
    """

    path: str
    nodes: int
    what: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Relative error: (predicted - measured) / measured."""
        return self.predicted / self.measured - 1.0


@dataclass(frozen=True)
class Planned:
    """The result of `plan`.

    Parameters
    ----------
    path : str
        The run file.
    examples : int
        Number of examples that the predictions are for.
    model : CostModel
        The fitted cost model.
    link : Link
        The network.
    predictions : list of Prediction
        Predictions for k = 1, 2, 4 ... 1024 nodes.
    pays_until : int
        Largest number of nodes that is worthwhile.
    bound : str
        Why more nodes are not worthwhile: "update", "network", or "sift" if a round has too few examples to share.
        Also "sift" if 1024 nodes are worthwhile.
    learned : int
        Number of entries that T was measured on.
    checks : list of Check
        Predictions and measurements.
    differs : list of str
        Parts in which the other run differs from the fitted one.
    """

    path: str
    examples: int
    model: CostModel
    link: Link
    predictions: list[Prediction]
    pays_until: int
    bound: str
    learned: int
    checks: list[Check]
    differs: list[str]

    @property
    def updates(self) -> str:
        """The kind of updates that sends less: "replicated", "central" or "unknown"."""
        sends = self.model.sends(self.examples)
        if sends["central"] is None or sends["replicated"] is None:
            return "unknown"
        return "replicated" if sends["replicated"] <= sends["central"] else "central"

    def speedup(self, prediction: Prediction) -> float:
        """Return the speedup of a prediction over one node.

        Parameters
        ----------
        prediction : Prediction
            One of the predictions.

        Returns
        -------
        float
            Time of one node divided by the predicted time.
        """
        return self.predictions[0].seconds / prediction.seconds

    def summary(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON.

        Returns
        -------
        dict
            All values.
        """
        model, n = self.model, self.examples
        kinds = {
            "sequential passive": model.passive(n) if n <= _MAX_EXTRAPOLATION * self.learned else None,
            "sequential active": model.sequential_active(n),
            "parallel active": model.parallel_active(n, self.pays_until),
        }
        return {
            "run": self.path,
            "examples": n,
            "selected": float(model.selected(n)),
            "model": asdict(model),
            "latency": self.link.latency,
            "bandwidth": None if self.link.bandwidth == float("inf") else self.link.bandwidth,
            "predictions": [
                asdict(each) | {"speedup": self.speedup(each), "wall": each.wall} for each in self.predictions
            ],
            "pays_until": self.pays_until,
            "bound": self.bound,
            "enough_nodes": model.enough_nodes(n),
            "sends": model.sends(n),
            "updates": self.updates,
            "kinds": {name: asdict(cost) if cost else None for name, cost in kinds.items()},
            "checks": [asdict(check) | {"error": check.error} for check in self.checks],
            "differs": self.differs,
        }


def plan(
    path: str | Path, other: str | Path | None = None, *, link: Link | None = None, examples: int | None = None
) -> Planned:
    """Fit the cost model to a run, and predict the time of 1 to 1024 nodes.

    `CostModel.predict` has the formula. More nodes are worthwhile if each doubling saves at least a tenth of the time.

    Parameters
    ----------
    path : str or Path
        The run file.
    other : str or Path, optional
        A second run file, on which the predictions are checked, too.
    link : Link, optional
        Latency and bandwidth between machines. Default: messages take no time.
    examples : int, optional
        Number of examples to predict for. Default: as many as the run has seen.

    Returns
    -------
    Planned
        Predictions, the largest worthwhile number of nodes, and the errors of the predictions.

    Raises
    ------
    InputError
        If a run has no timings.
    RunFileError
        If a file is missing, damaged or not a run file.

    Examples
    --------
    >>> import tempfile
    >>> from paraactive import Digits, LaSVM, train
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(gamma=0.012), Digits(), engine="simulated", examples=8192, out=folder + "/run.db")
    ...     found = plan(folder + "/run.db")
    >>> [each.nodes for each in found.predictions][:3], found.updates, abs(found.checks[0].error) < 0.2
    ([1, 2, 4], 'replicated', True)
    """
    return plan_for(Recorded.read(path), other, link=link, examples=examples)


def plan_for(
    recorded: Recorded, other: str | Path | None = None, *, link: Link | None = None, examples: int | None = None
) -> Planned:
    """Make the plan of a run that was read before.

    Parameters
    ----------
    recorded : Recorded
        Timings of the run.
    other : str or Path, optional
        A second run file, on which the predictions are checked, too.
    link : Link, optional
        Latency and bandwidth between machines. Default: messages take no time.
    examples : int, optional
        Number of examples to predict for. Default: as many as the run has seen.

    Returns
    -------
    Planned
        The plan.
    """
    link, model = link or Link(), fit(recorded)
    n = recorded.seen if examples is None else whole("examples", examples, 1)
    predictions = [model.predict(n, k, link) for k in NODES]
    pays_until, bound = _where_it_ends(predictions)
    checks, differs = _checks(model, recorded, link), list[str]()
    if other is not None:
        second = Recorded.read(other)
        differs = [name for name in recorded.parts if recorded.parts[name] != second.parts[name]]
        differs += ["warmstart"] if second.warmstart != recorded.warmstart else []
        checks += _checks(_moved(model, second), second, link)
    return Planned(recorded.path, n, model, link, predictions, pays_until, bound, recorded.learned, checks, differs)


def _where_it_ends(predictions: list[Prediction]) -> tuple[int, str]:
    """Return the largest worthwhile number of nodes, and what takes the time beyond it."""
    last = 0
    for number, each in enumerate(predictions):
        if each.seconds <= (1 - PAYS) ** (number - last) * predictions[last].seconds:
            last = number
    here = predictions[last]
    if here is predictions[-1]:
        return here.nodes, "sift"
    more = predictions[last + 1]
    if 2 * (more.network - here.network) > here.sift - more.sift > 0:
        return here.nodes, "network"  # The network costs more than sifting gains.
    return here.nodes, more.bound


def _moved(model: CostModel, run: Recorded) -> CostModel:
    """Adapt the model to a run with other rounds or another warmstart, whose time is scaled with T."""
    learning = replace(model, warmstart=0, warmstart_seconds=0.0)
    before, now = (learning.train_seconds(entries, 1) for entries in (model.warmstart, run.warmstart))
    return replace(
        model, batch=run.batch, schedule=run.schedule, lag=run.lag, warmstart=run.warmstart,
        warmstart_seconds=model.warmstart_seconds * (now / before if before > 0 else 1.0),
    )  # fmt: skip


def _checks(model: CostModel, run: Recorded, link: Link) -> list[Check]:
    """Compare on the paper's clock for each timed k, and with the wall time of a run on real nodes."""
    checks = [
        Check(run.path, k, "paper's clock", model.predict(run.seen, k).seconds, seconds)
        for k, seconds in run.measured().items()
    ]
    if run.wall_seconds:
        checks.append(
            Check(run.path, run.nodes, "wall", model.predict(run.seen, run.nodes, link).wall, run.wall_seconds)
        )
    return checks
