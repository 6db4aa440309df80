"""Files by path, folder, pattern and address."""

from __future__ import annotations

import pytest

from paraactive.errors import InputError
from paraactive.streams import Table


def test_an_address_of_a_kind_that_nobody_knows_is_refused():
    with pytest.raises(InputError, match=r"cannot read nowhere://a\.csv"):
        Table("nowhere://a.csv")
