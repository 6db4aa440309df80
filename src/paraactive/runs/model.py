"""A trained model to use: it predicts, counts mistakes, and is saved as one file without pickle."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive._version import __version__
from paraactive.basics.atomic_files import atomic_write
from paraactive.basics.part_spec import PartSpec
from paraactive.basics.state import State, digest, pack, unpack
from paraactive.data.examples import Doubles, Examples, Place, SparseRows
from paraactive.data.labels import STR, decide, typed_labels
from paraactive.errors import InputError, ParaActiveError, RunFileWarning
from paraactive.learners.base import Learner, capabilities_of
from paraactive.learners.deciding import classes_of
from paraactive.learners.rows import scores
from paraactive.runs import file_parts
from paraactive.runs.evaluation import count_mistakes, find_test_again
from paraactive.runs.finishing import load_finished
from paraactive.runs.replay import kept_warmstart
from paraactive.runs.runfile import RunFile
from paraactive.sifting import parts
from paraactive.streams import Stream, open_examples
from paraactive.streams.array_checks import check_width, features_alone
from paraactive.streams.arrays import encode
from paraactive.streams.base import StreamDetails

FORMAT = 3
"""Of the file."""
_WITHOUT_HASH = 2
"""An older format that is still read. Others are refused."""
_ABOUT = "paraactive"
"""The array that says what the others are; a learner's own are beside it."""
_ZIP = b"PK"


@dataclass(frozen=True, repr=False)
class Model:
    """A trained learner, and what its scores mean.

    Load one with `Model.load` from a run file or from a file that `save` wrote, or make one with
    `Model.of(run.learner, stream)`.

    Parameters
    ----------
    learner : Learner
        The trained learner.
    classes : tuple of str
        Names of the labels, in their order.
    width : int
        Number of features.
    features : tuple of str, optional
        Names of the features.
    label_type : str, default="str"
        Type of the labels in the training data: "str", "bool", or numpy's name of a number type.
    label : str, optional
        Name of the label column in the training data.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from paraactive import Arrays, LaSVM, Model, train
    >>> x = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.where(np.hypot(x[:, 0], x[:, 1]) > 1.2, "outside", "inside")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(gamma=1.0), Arrays(x, y), out=folder + "/run.db")
    ...     Model.load(folder + "/run.db").save(folder + "/circle.model")
    ...     model = Model.load(folder + "/circle.model")
    >>> model.predict([[0.1, 0.2], [2.0, 1.0]]).tolist()
    ['inside', 'outside']
    >>> print(f"sampling rate {run.sampling_rate:.1f}, error {model.mistakes(x, y) / len(x):.2f}")
    sampling rate 0.1, error 0.01
    """

    learner: Learner
    classes: tuple[str, ...]
    width: int
    features: tuple[str, ...] | None = None
    label_type: str = STR
    label: str | None = None

    def __repr__(self) -> str:
        return f"Model({self.learner!r}, classes={self.classes}, width={self.width})"

    @classmethod
    def of(cls, learner: Learner, stream: Stream) -> Model:
        """The model of a learner that was trained on a stream.

        Parameters
        ----------
        learner : Learner
            The trained learner.
        stream : Stream
            The training data, which names the classes and features.

        Returns
        -------
        Model
            The model.
        """
        details = StreamDetails(stream)
        label = None if details.feature_names is None else details.label
        names, label_type = details.feature_names, details.label_type
        return cls(learner, tuple(stream.classes), stream.width, names, label_type, label)

    # Using it ----------------------------------------------------------------------------------------------------

    def decision_function(self, x: ArrayLike | SparseRows) -> Doubles:
        """Scores of rows.

        Parameters
        ----------
        x : array-like or SparseRows of shape (n, features)
            The rows.

        Returns
        -------
        array of float64 of shape (n,) or (n, classes)
            With two classes, one score for each row, above 0 for the second class.
        """
        return scores(self.learner, self._rows(x))

    def predict(self, x: ArrayLike | SparseRows) -> NDArray[Any]:
        """Labels of rows.

        Parameters
        ----------
        x : array-like or SparseRows of shape (n, features)
            The rows.

        Returns
        -------
        array of shape (n,)
            Labels of the type that they had in the training data, so that `numpy.mean(model.predict(x) != y)` is the
            error for labels of any type.
        """
        return typed_labels(self.classes, self.label_type)[classes_of(self.learner, self._rows(x))]

    def labels_for(self, score: Doubles) -> NDArray[Any]:
        """Labels for scores.

        Parameters
        ----------
        score : array of float64
            What `decision_function` returns.

        Returns
        -------
        array of shape (n,)
            Labels of the type that they had in the training data.
        """
        return typed_labels(self.classes, self.label_type)[decide(score)]

    def named(self, score: Doubles) -> NDArray[np.str_]:
        """Class names for scores.

        Parameters
        ----------
        score : array of float64
            What `decision_function` returns.

        Returns
        -------
        array of str
            Names, whatever the type of the labels.
        """
        return np.array(self.classes)[decide(score)]

    def mistakes(self, x: ArrayLike | SparseRows, y: ArrayLike) -> int:
        """Number of rows that the model classifies wrongly.

        Parameters
        ----------
        x : array-like or SparseRows of shape (n, features)
            The rows.
        y : array-like of shape (n,)
            Their labels.

        Returns
        -------
        int
            The number.
        """
        return count_mistakes(self.learner, self.examples(x, y))

    def examples(self, x: ArrayLike | SparseRows, y: ArrayLike) -> Examples:
        """Rows and labels as examples.

        Parameters
        ----------
        x : array-like or SparseRows of shape (n, features)
            The rows.
        y : array-like of shape (n,)
            Their labels. An InputError is raised for another width or an unknown label.

        Returns
        -------
        Examples
            The examples.
        """
        return encode(x, y, self.classes, self.width, may_miss=self.fills_missing)

    @property
    def fills_missing(self) -> bool:
        """Whether features may be missing (NaN)."""
        return capabilities_of(self.learner).fills_missing

    def _rows(self, x: ArrayLike | SparseRows) -> Any:
        rows = features_alone(x, may_miss=self.fills_missing)
        check_width(rows, self.width)
        return rows

    # Files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model to one file in numpy's npz format. It holds numbers and a JSON text, and no code.

        The file of a torch module, or of a learner of your own, holds only its numbers. Give the untrained learner to
        `load` it.

        Parameters
        ----------
        path : path
            The file.
        overwrite : bool, default=False
            Whether to replace an existing file.
        """
        about = {
            "format": FORMAT, "paraactive": __version__, "learner": parts.describe_learner(self.learner).to_dict(),
            "classes": list(self.classes),
            "label_type": self.label_type, "label": self.label,
            "width": self.width, "features": self.features, "digest": self.learner.digest(),
        }  # fmt: skip
        state = {f"state.{name}": array for name, array in self.learner.save().items()}
        about["hash"] = _hash_of(about, state)
        text = np.frombuffer(json.dumps(about).encode(), np.uint8)
        with atomic_write(path, overwrite=overwrite) as file:
            file.write(pack({_ABOUT: text, **state}))

    @classmethod
    def load(cls, path: str | Path, *, learner: Learner | None = None, stream: Stream | None = None) -> Model:
        """Load a model from a file that `save` wrote, or from a run file.

        Parameters
        ----------
        path : path
            The file.
        learner : Learner, optional
            The untrained learner, if the file cannot build it, such as TorchLearner(module).
        stream : Stream, optional
            The training data, if a run file needs it and cannot open it; see `resume`.

        Returns
        -------
        Model
            The model.
        """
        path = Path(path)
        if not path.is_file():
            why = "it is not a file" if path.exists() else "nothing is there"
            raise InputError(f"no model {path}", why=why, remedy="give a run file, or a file that save wrote")
        return _from_file(path, learner) if _is_archive(path) else _from_run(path, learner, stream)


def _is_archive(path: Path) -> bool:
    if path.with_name(f"{path.name}-wal").exists():
        return False  # An open run file. Closing another handle of it would drop the locks of this process on it.
    with path.open("rb") as file:
        return file.read(len(_ZIP)) == _ZIP


def _hash_of(about: dict[str, Any], state: State) -> str:
    """A hash of everything in a model file: what it says of the model, and all arrays by their names."""
    text = json.dumps({name: value for name, value in about.items() if name != "hash"}, sort_keys=True)
    return digest({_ABOUT: np.frombuffer(text.encode(), np.uint8), **state})


def _from_file(path: Path, given: Learner | None) -> Model:
    try:
        arrays = unpack(path.read_bytes())
    except InputError as error:
        raise _unknown(path, error.why) from None
    if _ABOUT not in arrays:
        raise _unknown(path, "it is a numpy file of something else")
    try:
        about = json.loads(bytes(arrays.pop(_ABOUT)))
        _check_about(path, about, arrays)
        classes = tuple(map(str, about["classes"]))
        learner = file_parts.learner_of(given, PartSpec.from_dict(about["learner"]), len(classes))
        learner.load({name.removeprefix("state."): array for name, array in arrays.items()})
        model = Model(
            learner, classes, int(about["width"]), _names(about["features"]),
            label_type_in(about, classes), about.get("label"),
        )  # fmt: skip
        if learner.digest() != about["digest"] or len(model.classes) != (capabilities_of(learner).classes or 2):
            raise _unknown(path, "what is in it does not agree with itself")
    except ParaActiveError:
        raise
    except Exception as error:  # What a damaged file says can make a learner raise anything.
        raise _unknown(path, f"what it says cannot be used ({type(error).__name__}: {error})") from error
    return model


def _check_about(path: Path, about: dict[str, Any], state: State) -> None:
    if about["format"] not in (_WITHOUT_HASH, FORMAT):
        known = f"this version of paraactive reads the formats {_WITHOUT_HASH} and {FORMAT}"
        raise _unknown(path, f"it has format {about['format']}, and {known}")
    if about["format"] == _WITHOUT_HASH:
        warnings.warn(
            f"{path} has no hash over all of it: an older version of paraactive wrote it, so damage may go unnoticed; "
            "save the model again to add one",
            RunFileWarning,
            stacklevel=5,
        )
    elif about["hash"] != _hash_of(about, state):
        raise _unknown(path, "it is damaged: its hash does not match what is in it")


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(map(str, names))


def label_type_in(known: dict[str, Any], classes: Sequence[str]) -> str:
    """The type of the labels in a model file.

    Parameters
    ----------
    known : dict
        What the file says. Files of earlier versions do not name the type.
    classes : sequence of str
        Names of the labels. An InputError is raised if they are not of this type.

    Returns
    -------
    str
        The type.
    """
    label_type = str(known.get("label_type", STR))
    typed_labels(classes, label_type)
    return label_type


def _unknown(path: Path, why: str) -> InputError:
    return InputError(f"{path} is not a model", why=why, remedy="give a run file, or a file that save wrote")


def _from_run(path: Path, learner: Learner | None, stream: Stream | None) -> Model:
    with RunFile.read(path) as file, file.consistent_reads(), file.reraise_as_corruption():
        spec = file.spec
        if not file.version:
            is_query = spec.data.stream.kind == "unlabelled"
            remedy = f"fill in its labels, then 'paraactive query {path}'" if is_query else "resume it first"
            raise InputError(f"the run in {path} has learned nothing yet", why="it has only begun", remedy=remedy)
        learner = file_parts.learner_of(learner, spec.learner, len(spec.data.classes))
        kept = kept_warmstart(file)
        place = Place(0, 0) if kept else file.snapshots.load(learner)
        if place.version < file.version and file.log.needs_stream:
            stream = file_parts.stream_of(stream, spec.data.stream)
        file.log.learn(learner, place, stream, rounds=1 if kept else None)
        if not kept:
            load_finished(file, learner, stream)
        data = spec.data
        return Model(learner, data.classes, data.width, data.feature_names, data.label_type, data.label)


def own_test(path: Path) -> Examples | None:
    """The test examples that a run was evaluated on.

    Parameters
    ----------
    path : Path
        A run file or a model file.

    Returns
    -------
    Examples or None
        None if the file does not say where they are.
    """
    if _is_archive(path):
        return None
    with RunFile.read(path) as file, file.reraise_as_corruption():
        data, test = file.spec.data, file.spec.recording.test
        if test is None or data.stream.kind not in ("digits", "arrays", "table"):
            return None
        if test.path is not None:
            names = data.feature_names
            return open_examples(
                test.path, data.classes, data.width, label=data.label, features=names,
                may_miss=data.stream.get("missing") is not None,
            )  # fmt: skip
        return find_test_again(test, parts.build_stream(data.stream)).examples
