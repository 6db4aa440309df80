from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paraactive.data.examples import SparseRows
from paraactive.runs.runfile.features import to_blobs
from paraactive.runs.runfile.stored import StoredEntries
from runs.runfile.rounds import some_selected


def _columns(stored: StoredEntries) -> list[tuple[str, bytes]]:
    arrays = [*stored[:7], stored.values.ends, stored.columns.ends]
    blobs = [("", bytes(joined.data)) for joined in (stored.values, stored.columns)]
    return [(array.dtype.str, array.tobytes()) for array in arrays] + blobs


@given(count=st.integers(0, 12), sparse=st.booleans(), data=st.data())
def test_what_is_written_and_what_is_read_have_the_same_columns_in_every_range(
    count: int, sparse: bool, data: st.DataObject
) -> None:
    selected = some_selected(count)
    examples = selected.examples
    values, columns = to_blobs(SparseRows.of(examples.x) if sparse else examples.x)
    rows = list(
        zip(
            examples.index.tolist(), examples.key.tolist(), examples.y.tolist(), selected.p.tolist(),
            selected.seen.tolist(), selected.version.tolist(), examples.importance.tolist(), values, columns,
            [None] * count, strict=True,
        )
    )  # fmt: skip
    written, read = StoredEntries.from_selected(selected, values, columns), StoredEntries.from_rows(rows)
    assert _columns(written) == _columns(read)
    first = data.draw(st.integers(0, count))
    last = data.draw(st.integers(first, count))
    if last > first:
        part = StoredEntries.from_rows(rows[first:last])
        assert _columns(written.between(first, last)) == _columns(part)
