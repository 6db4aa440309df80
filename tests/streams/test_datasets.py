"""`Dataset`: data sets of torch and Hugging Face, and lists of pairs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import datasets
import numpy as np
import pytest
import torch

from paraactive import LaSVM, train
from paraactive.checks import check_stream
from paraactive.errors import InputError
from paraactive.sifting.parts import check_same_stream, describe_stream
from paraactive.streams import Arrays, Dataset
from streams.tabling import same

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2, 3)).astype(np.float32)
Y = np.arange(40) % 3
FLAT = X.reshape(40, 6)


class Pictures(torch.utils.data.Dataset[Any]):
    """As those of torchvision, which know their targets."""

    def __init__(self, targets: Any) -> None:
        self.targets, self.asked = targets, 0

    def __len__(self) -> int:
        return 40

    def __getitem__(self, row: int) -> Any:
        self.asked += 1
        return torch.tensor(X[row], requires_grad=True), int(Y[row])


def hugging(**columns: Any) -> datasets.Dataset:
    return datasets.Dataset.from_dict({name: list(column) for name, column in columns.items()})


SOURCES: dict[str, Any] = {
    "torch tensors": lambda: torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y)),
    "torch subset": lambda: torch.utils.data.Subset(Pictures(Y), range(40)),
    "torch targets": lambda: Pictures(torch.tensor(Y)),
    "list": lambda: list(zip(X.tolist(), Y.tolist(), strict=True)),
    "list of dictionaries": lambda: [{"x": x, "label": int(y)} for x, y in zip(X, Y, strict=True)],
    "hugging list": lambda: hugging(x=FLAT.tolist(), label=Y.tolist()),
    "hugging nested": lambda: hugging(x=X.tolist(), label=Y.tolist()),
    "hugging columns": lambda: hugging(**{f"c{j}": FLAT[:, j].tolist() for j in range(6)}, label=Y.tolist()),
    "hugging chosen": lambda: hugging(x=FLAT.tolist(), label=Y.tolist()).select(range(40)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_it_is_the_stream_of_its_rows(kind: str):
    stream, arrays = Dataset(SOURCES[kind](), seed=3, passes=2), Arrays(FLAT, Y, seed=3, passes=2)
    assert (stream.width, stream.length, stream.rows) == (6, 80, 40)
    assert (stream.classes, stream.counts) == (arrays.classes, arrays.counts)
    assert same(stream.read(0, 80), arrays.read(0, 80))


@pytest.mark.parametrize("kind", SOURCES)
def test_it_keeps_the_contract_of_a_stream(kind: str):
    check_stream(Dataset(SOURCES[kind](), passes=2))
    check_stream(Dataset(SOURCES[kind](), shuffle=False, passes=None))


def test_names_of_a_class_label_are_the_classes():
    kind = datasets.ClassLabel(names=["dog", "cat", "owl", "cow"])
    data = hugging(x=FLAT.tolist(), kind=Y.tolist()).cast_column("kind", kind)
    stream = Dataset(data, label="kind", shuffle=False)
    assert (stream.classes, stream.counts) == (("dog", "cat", "owl", "cow"), (14, 13, 13, 0))
    assert stream.read(0, 4).y.tolist() == [0, 1, 2, 0]
    check_stream(stream)


def test_text_labels_and_columns_are_chosen_by_name():
    data = hugging(a=FLAT[:, 0].tolist(), text=["x"] * 40, b=FLAT[:, 1:3].tolist(), kind=["no", "yes"] * 20)
    stream = Dataset(data, "kind", ["b", "a"], shuffle=False)
    assert stream.classes == ("no", "yes")
    assert (stream.read(0, 40).x == FLAT[:, [1, 2, 0]]).all()
    with pytest.raises(InputError, match="features of example 0 are not numbers"):
        Dataset(data, "kind")


def test_a_transform_makes_the_features():
    pairs = [(f"{x} words", x % 2) for x in range(10)]
    stream = Dataset(pairs, transform=lambda text: [len(text), float(text.split()[0])], shuffle=False)
    assert stream.read(8, 10).x.tolist() == [[7, 8], [7, 9]]
    data = hugging(a=[1, 2], b=[3, 4], label=[0, 1])
    assert Dataset(data, transform=lambda row: row["a"] * row["b"], shuffle=False).read(0, 2).x.tolist() == [[3], [8]]


def test_targets_save_reading_all_examples():
    source = Pictures(Y.tolist())
    Dataset(source)
    assert source.asked == 1


def test_targets_that_are_not_the_labels_are_noticed():
    with pytest.raises(InputError, match="example 0 has the label '0', but '2' in the list of all labels"):
        Dataset(Pictures(Y[::-1] + 2))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ([], "the data set is empty"),
        (iter([1]), "of type list_iterator cannot be used: .*as IterableStream"),
        ([1, 2], "example 0 is of type int"),
        ({"a": 1, "b": 2}, "a mapping of 'a', 'b' is not a data set: .*data\\['train'\\]"),
        (datasets.DatasetDict({"train": hugging(x=[1, 2], label=[0, 1])}), "a mapping of 'train' is not a data set"),
        ([{"a": 1, "b": 2, "label": 0}, {"a": 1, "c": 2, "label": 1}], "example 1 has the features 'a', 'c'"),
        ([{"a": 1, "label": 0}, {"a": 1, "b": 2, "label": 1}], "example 1 has the features 'a', 'b'"),
        ([({"a": 1}, 0), ([1], 1)], "example 1 has features without names: the first example has the features 'a'"),
        ([([1], 0), ([2], 0)], "1 class, '0'"),
        ([([1], 0), ([2], None)], "missing|no order"),
        ([{"a": 1}], "the column 'label' is missing"),
        ([{"label": 1}], "there are no features"),
        (hugging(label=[0, 1]), "only the column 'label'"),
        (hugging(x=[0, 1], labels=[0, 1]), r"no column 'label' in the data set.*did you mean 'labels'\?"),
        (hugging(x=[0, 1], label=[0, None]), "missing labels"),
        (
            hugging(x=[0, 1], label=[0, -1]).cast_column("label", datasets.ClassLabel(names=["a", "b"])),
            "the data set has the label -1: .*-1 often means a missing label",
        ),
    ],
)
def test_data_sets_that_cannot_be_used_are_refused(source: Any, says: str):
    with pytest.raises(InputError, match=says):
        Dataset(source)


@pytest.mark.parametrize(
    ("x", "says"),
    [([1, 2], "example 3 has 2 features, and those before have 1"), ([np.nan], "example 3 has a feature")],
)
def test_rows_that_cannot_be_used_are_told_of_when_they_are_read(x: list[float], says: str):
    stream = Dataset([([1.0], 0), ([2.0], 1), ([3.0], 0), (x, 1)])
    with pytest.raises(InputError, match=says):
        stream.read(0, 4)


def test_a_streamed_data_set_is_sent_to_once():
    with pytest.raises(InputError, match=r"IterableStream\(source, classes=...\)"):
        Dataset(hugging(x=[1, 2], label=[0, 1]).to_iterable_dataset())


def test_a_run_learns_from_it_on_processes_as_on_threads():
    data = hugging(x=RNG.normal(size=(300, 2)).tolist(), label=[0, 1] * 150)
    options: dict[str, Any] = {"warmstart": 50, "batch": 50, "nodes": 2}
    runs = [train(LaSVM(gamma=1.0), Dataset(data), engine=engine, **options) for engine in ("threads", "processes")]
    assert runs[0].learner.digest() == runs[1].learner.digest()


def test_neither_torch_nor_datasets_is_imported_for_it():
    program = (
        "import sys; from paraactive.streams import Dataset, IterableStream, Table;"
        "Dataset([([1], 0), ([2], 1)]).read(0, 2);"
        "print([name for name in ('torch', 'datasets', 'pyarrow', 'fsspec', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def values_of(features: dict[str, Any]) -> list[Any]:
    return list(features.values())


@pytest.mark.parametrize("transform", [None, dict, values_of])
@pytest.mark.parametrize("pairs", [False, True])
def test_features_with_names_are_in_the_order_of_the_first_example(pairs: bool, transform: Any):
    items: list[Any] = [{"a": 1, "b": 2, "label": 0}, {"label": 1, "b": 20, "a": 10}]
    if pairs:
        items = [({"a": 1, "b": 2}, 0), ({"b": 20, "a": 10}, 1)]
    stream = Dataset(items, transform=transform, shuffle=False)
    assert stream.read(0, 2).x.tolist() == [[1, 2], [10, 20]]
    assert stream.at(np.array([1])).x.tolist() == [[10, 20]]


def test_a_dictionary_that_a_transform_makes_is_in_the_order_of_the_first():
    stream = Dataset(
        [(1, 0), (2, 1)], transform=lambda x: {"a": x, "b": -x} if x == 1 else {"b": -x, "a": x}, shuffle=False
    )
    assert stream.read(0, 2).x.tolist() == [[1, -1], [2, -2]]


def test_columns_that_are_not_named_may_come_and_go():
    items = [{"a": 1, "note": "x", "label": 0}, {"more": 3, "a": 2, "label": 1}]
    assert Dataset(items, features=["a"], shuffle=False).read(0, 2).x.tolist() == [[1], [2]]


def test_the_weights_of_triples_are_carried():
    stream = Dataset([([1.0], 0, 5), ([2.0], 1, torch.tensor(0.5)), ([3.0], 1)], shuffle=False)
    assert stream.read(0, 3).importance.tolist() == [5, 0.5, 1]
    with pytest.raises(InputError, match="the weight of example 1 is 0"):
        Dataset([([1.0], 0, 5), ([2.0], 1, 0)]).read(0, 2)


def test_a_transform_of_the_data_set_itself_is_not_left_out_silently():
    data = hugging(x=[1, 2], label=[0, 1])

    def changed(batch: dict[str, list[int]]) -> dict[str, list[int]]:
        return {name: [10 * each for each in column] for name, column in batch.items()}

    with pytest.raises(InputError, match=r"has a transform of its own.*data\.with_format\(None\)"):
        Dataset(data.with_transform(changed))
    assert Dataset(data.with_format("torch"), shuffle=False).read(0, 2).x.tolist() == [[1], [2]]


def test_a_data_set_is_known_again_by_its_fingerprint():
    items = [([1.0], 0), ([2.0], 1), ([3.0], 1)]
    known = describe_stream(Dataset(items))
    check_same_stream(Dataset(items, passes=3), known)
    others = [
        Dataset([([1.0], 0), ([2.0], 1), ([4.0], 1)]),
        Dataset([([1.0], 0), ([2.0], 0), ([3.0], 1)]),
        Dataset([([1.0], "a"), ([2.0], "b"), ([3.0], "b")]),
        Dataset(items, seed=1),
        Dataset(items, shuffle=False),
    ]
    for other in others:
        with pytest.raises(InputError, match="is not what the run was trained on"):
            check_same_stream(other, known)
