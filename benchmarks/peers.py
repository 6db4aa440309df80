"""What a user would pick instead, each with four settings to choose from; and ours in the same form.

The first setting of a method is its default: what its documentation gives a new user. The others are what people
usually try next. A method that is not installed is left out, and the table says so.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelEncoder, StandardScaler
from sklearn.svm import SVC

from benchmarks.kernel_peers import EigenPro, RPCholesky
from benchmarks.torch_peer import TorchMLP
from paraactive import LaSVM, Network, ParaActiveClassifier

Settings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """Where a method runs."""

    threads: int
    pixels: bool
    """All columns have one scale already."""
    scale: float
    """gamma="scale" of the rows as the method gets them."""


@dataclass(frozen=True)
class Method:
    """One way to train a classifier."""

    name: str
    make: Callable[[Settings, Place], Any]
    """Returns an object with fit and predict."""
    settings: tuple[Settings, ...]
    """Four; the first is the default."""
    needs: str | None = None
    """A module that must be installed."""
    ours: bool = False
    one_thread: bool = False
    """It cannot use a second thread."""
    curve: tuple[Settings, ...] = ()
    """More and more effort, for the curve of error against time; "rows" is a number of rows."""

    @property
    def installed(self) -> bool:
        """Whether its module is there."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


def _scaled(make: Callable[[Settings, Place], Any]) -> Callable[[Settings, Place], Any]:
    """Standardize the columns first, unless they are pixels."""

    def made(settings: Settings, place: Place) -> Any:
        model = make(settings, place)
        return model if place.pixels else _Standardizing(model)

    return made


class _Standardizing:
    def __init__(self, model: Any) -> None:
        self.model, self.scaler = model, StandardScaler()

    def fit(self, x: NDArray[Any], y: NDArray[Any]) -> _Standardizing:
        self.model.fit(self.scaler.fit_transform(x), y)
        return self

    def predict(self, x: NDArray[Any]) -> Any:
        return self.model.predict(self.scaler.transform(x))


class _Numbered:
    """Labels as numbers from 0, for programs that want them so."""

    def __init__(self, model: Any) -> None:
        self.model, self.encoder = model, LabelEncoder()

    def fit(self, x: NDArray[Any], y: NDArray[Any]) -> _Numbered:
        self.model.fit(x, self.encoder.fit_transform(y))
        return self

    def predict(self, x: NDArray[Any]) -> Any:
        return self.encoder.inverse_transform(self.model.predict(x))


# Kernel methods --------------------------------------------------------------------------------------------------

_KERNEL_SETTINGS: tuple[Settings, ...] = ({}, {"C": 10.0}, {"C": 10.0, "factor": 0.3}, {"C": 10.0, "factor": 3.0})
"""C 1 and gamma "scale"; "factor" multiplies gamma."""
_ROWS: tuple[Settings, ...] = tuple({"rows": rows} for rows in (1500, 6000, 24_000, 100_000))


def _kernel(settings: Settings, place: Place) -> dict[str, Any]:
    return {"C": settings.get("C", 1.0), "gamma": settings.get("factor", 1.0) * place.scale}


def _svc(settings: Settings, place: Place) -> Any:
    return SVC(**_kernel(settings, place), cache_size=4000)  # pyright: ignore[reportArgumentType]


def intelex_svc(threads: int, **parameters: Any) -> Any:
    """The SVC of scikit-learn-intelex, which has its number of threads for the whole process."""
    importlib.import_module("daal4py").daalinit(threads)
    return importlib.import_module("sklearnex.svm").SVC(**parameters)


def _intelex(settings: Settings, place: Place) -> Any:
    return intelex_svc(place.threads, **_kernel(settings, place), cache_size=4000)


def _eigenpro(settings: Settings, place: Place) -> EigenPro:
    return EigenPro(settings.get("factor", 1.0) * place.scale, settings.get("epochs", 1))


def _rpcholesky(settings: Settings, place: Place) -> RPCholesky:
    return RPCholesky(settings.get("factor", 1.0) * place.scale, settings.get("rank", 1000))


class _XRFM:
    """xRFM wants a validation set and float32."""

    def __init__(self, settings: Settings, threads: int) -> None:
        rfm = {
            "model": {"kernel": "l2", "exponent": 1.0, "diag": False, "bandwidth": settings.get("bandwidth", 10.0)},
            "fit": {"reg": settings.get("reg", 1e-3), "iters": 3, "M_batch_size": 1000, "verbose": False,
                    "early_stop_rfm": True},
        }  # fmt: skip
        self.model: Any = importlib.import_module("xrfm").xRFM(
            rfm, device="cpu", tuning_metric="accuracy", max_leaf_size=10_000, n_threads=threads, random_state=0,
            verbose=False,
        )  # fmt: skip

    def fit(self, x: NDArray[Any], y: NDArray[Any]) -> _XRFM:
        rows, held = np.ascontiguousarray(x, np.float32), max(100, len(x) // 10)
        self.model.fit(rows[:-held], y[:-held], rows[-held:], y[-held:])
        return self

    def predict(self, x: NDArray[Any]) -> Any:
        return np.asarray(self.model.predict(np.ascontiguousarray(x, np.float32))).reshape(-1)


# Ours ------------------------------------------------------------------------------------------------------------


def _ours(settings: Settings, place: Place) -> ParaActiveClassifier:
    """The default estimator takes the columns as they are: it standardizes them itself."""
    if settings.get("learner") == "network":
        return ParaActiveClassifier(Network(), epochs=5, nodes=place.threads, random_state=0)
    if not settings:
        return ParaActiveClassifier(nodes=place.threads, random_state=0)
    return ParaActiveClassifier(LaSVM(**_kernel(settings, place), gap=0.2), nodes=place.threads, random_state=0)


# All of them -----------------------------------------------------------------------------------------------------

OURS, INTELEX, TORCH, LIGHTGBM = "paraactive", "SVC of scikit-learn-intelex", "torch MLP, decayed rate", "LightGBM"


def _lightgbm(settings: Settings, place: Place) -> Any:
    make = importlib.import_module("lightgbm").LGBMClassifier
    return make(**settings, n_jobs=place.threads, verbose=-1, random_state=0)


def _xgboost(settings: Settings, place: Place) -> Any:
    make = importlib.import_module("xgboost").XGBClassifier
    return _Numbered(make(**settings, n_jobs=place.threads, tree_method="hist", random_state=0))


def _mlp(settings: Settings, _place: Place) -> MLPClassifier:
    # The default of 200 passes has no end on large data; this one stops when its validation rows say so.
    given: dict[str, Any] = {"early_stopping": True, "random_state": 0, **settings}
    return MLPClassifier(**given)


def _torch(settings: Settings, place: Place) -> Any:
    importlib.import_module("torch").set_num_threads(place.threads)
    return TorchMLP(**settings)


METHODS = (
    Method(
        OURS, _ours, (*_KERNEL_SETTINGS[:2], _KERNEL_SETTINGS[3], {"learner": "network"}), ours=True,
        curve=_ROWS,
    ),
    Method("SVC of scikit-learn", _scaled(_svc), _KERNEL_SETTINGS, one_thread=True, curve=_ROWS[:3]),
    Method(INTELEX, _scaled(_intelex), _KERNEL_SETTINGS, needs="sklearnex", curve=_ROWS),
    Method(
        "EigenPro", _scaled(_eigenpro), ({}, {"epochs": 3}, {"factor": 0.3}, {"factor": 3.0}), needs="torch",
        curve=_ROWS[:3],
    ),
    Method(
        "RPCholesky-Nystroem", _scaled(_rpcholesky), ({}, {"rank": 2000}, {"factor": 0.3}, {"factor": 3.0}),
        needs="torch", curve=({"rank": 250}, {"rank": 500}, {"rank": 1000}, {"rank": 2000}),
    ),
    Method(
        "xRFM", _scaled(lambda settings, place: _Numbered(_XRFM(settings, place.threads))),
        ({}, {"bandwidth": 3.0}, {"bandwidth": 30.0}, {"reg": 1e-2}), needs="xrfm", curve=_ROWS[:3],
    ),
    Method(
        LIGHTGBM, _lightgbm,
        ({}, {"num_leaves": 127}, {"n_estimators": 400}, {"n_estimators": 400, "learning_rate": 0.05}),
        needs="lightgbm", curve=({"n_estimators": 10}, {"n_estimators": 30}, {}, {"n_estimators": 300}),
    ),
    Method(
        "XGBoost", _xgboost,
        ({}, {"max_depth": 10}, {"n_estimators": 400}, {"n_estimators": 400, "learning_rate": 0.1}),
        needs="xgboost", curve=({"n_estimators": 10}, {"n_estimators": 30}, {}, {"n_estimators": 300}),
    ),
    Method(
        "HistGradientBoosting", lambda settings, _: HistGradientBoostingClassifier(**settings, random_state=0),
        ({}, {"max_leaf_nodes": 127}, {"max_iter": 400}, {"max_iter": 400, "learning_rate": 0.05}),
        curve=({"max_iter": 10}, {"max_iter": 30}, {}, {"max_iter": 300}),
    ),
    Method(
        "MLPClassifier", _scaled(_mlp),
        ({}, {"hidden_layer_sizes": (256,)}, {"hidden_layer_sizes": (256, 256)}, {"alpha": 1e-2}), one_thread=True,
        curve=tuple({"max_iter": passes, "early_stopping": False} for passes in (1, 3, 10, 30)),
    ),
    Method(
        TORCH, _scaled(_torch), ({}, {"epochs": 30}, {"hidden": 512}, {"rate": 1e-3}), needs="torch",
        curve=({"epochs": 1}, {"epochs": 3}, {}, {"epochs": 30}),
    ),
)  # fmt: skip
"""In the order of the tables."""


def method(name: str) -> Method:
    """The method of this name."""
    return next(each for each in METHODS if each.name == name)
