"""The cost model against plain sums."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from paraactive.errors import InputError
from paraactive.theory import CostModel, Line, Link

MODEL = CostModel(
    warmstart=1000, batch=500, warmstart_seconds=0.5, score=Line(1e-5, 2e-8), learn=Line(1e-4, 3e-8), settle=0.01,
    scale=20.0, exponent=0.5, fetch=1e-6, entry_bytes=100, model_bytes=Line(5000, 10),
)  # fmt: skip


def plainly(model: CostModel, n: int, k: int, link: Link) -> tuple[float, float, float]:
    """Sift, update and network seconds of a synchronous run, round by round."""

    def phi(seen: float) -> float:
        sifted = seen - model.warmstart
        return model.warmstart + min(sifted, model.scale * sifted**model.exponent)

    sift = update = network = 0.0
    seen = model.warmstart
    while seen < n:
        end = min(seen + model.batch, n)
        m, new = phi(seen), phi(end) - phi(seen)
        sift += math.ceil((end - seen) / k) * (model.score.fixed + model.score.slope * m)
        update += model.settle + new * (model.learn.fixed + model.learn.slope * (m + new / 2))
        entries = new * model.entry_bytes
        assert model.model_bytes
        to_each = min(entries, model.model_bytes.fixed + model.model_bytes.slope * m)
        if k > 1:
            network += 2 * link.latency + (entries + k * to_each) / link.bandwidth
        seen = end
    return sift, update, network


@pytest.mark.parametrize("n", [1000, 1001, 1500, 7777])
@pytest.mark.parametrize("k", [1, 3, 64, 1000])
@pytest.mark.parametrize("link", [Link(), Link(0.001, 1e6)])
def test_a_prediction_is_the_sum_over_the_rounds(n: int, k: int, link: Link) -> None:
    found = MODEL.predict(n, k, link)
    sift, update, network = plainly(MODEL, n, k, link)
    assert (found.sift, found.update, found.network) == pytest.approx((sift, update, network))
    assert found.seconds == pytest.approx(0.5 + sift + update + network)
    assert found.wall == pytest.approx(found.seconds + found.fetch)


def test_the_table_of_the_paper() -> None:
    n, k = 8000, 8
    sift, update, _ = plainly(MODEL, n, 1, Link())
    learning = 0.5 + update
    sequential, parallel = MODEL.sequential_active(n), MODEL.parallel_active(n, k)
    assert sequential.operations == sequential.seconds == pytest.approx(sift + learning)
    assert sequential.broadcasts == 0
    assert parallel.operations == pytest.approx(sift + k * learning)
    assert parallel.seconds == pytest.approx(sift / k + learning, rel=0.01)  # 500 examples do not divide by 8.
    assert parallel.broadcasts == pytest.approx(float(MODEL.selected(n)))
    passive = MODEL.passive(n)
    entries = np.arange(1000, n) + 0.5
    expected = 0.5 + float(np.sum(MODEL.learn.at(entries))) + 14 * MODEL.settle
    assert passive.operations == passive.seconds == pytest.approx(expected)
    assert passive.broadcasts == 0
    assert MODEL.enough_nodes(n) == pytest.approx(n / float(MODEL.selected(n)))


def test_phi_is_n_while_the_warmstart_lasts_and_never_more_than_n() -> None:
    assert MODEL.selected([0, 400, 1000]).tolist() == [0, 400, 1000]
    assert MODEL.selected(1004) == 1004  # 20 sqrt(4) would be more than the four that were sifted.
    assert float(MODEL.selected(11_000)) == pytest.approx(3000)
    nothing = replace(MODEL, scale=0.0)
    assert nothing.selected([500, 5000]).tolist() == [500, 1000]


def test_pipelined_a_round_takes_as_long_as_its_longer_phase() -> None:
    model = replace(MODEL, schedule="pipelined")
    sift, update, _ = plainly(MODEL, 1500, 2, Link())
    assert model.predict(1500, 2).seconds == pytest.approx(0.5 + max(sift, update))


def test_asynchronously_messages_are_on_the_way_while_nodes_work() -> None:
    model, fast, slow = replace(MODEL, schedule="asynchronous"), Link(10.0, 1e12), Link(0.0, 1e3)
    sift, update, _ = plainly(MODEL, 3000, 4, Link())
    assert model.predict(3000, 4, fast).seconds == pytest.approx(0.5 + sift + update)
    _, _, network = plainly(MODEL, 3000, 4, slow)
    assert model.predict(3000, 4, slow).seconds == pytest.approx(0.5 + network)


def test_what_is_sent_to_each_node() -> None:
    entries = float(MODEL.selected(3000)) - 1000
    models = sum(5000 + 10 * float(MODEL.selected(seen)) for seen in (1000, 1500, 2000, 2500))
    assert MODEL.sends(3000) == {"replicated": pytest.approx(100 * entries), "central": pytest.approx(models)}
    assert replace(MODEL, model_bytes=None).sends(3000)["central"] is None


def test_what_most_of_the_time_is() -> None:
    assert MODEL.predict(8000, 1).bound == "update"
    assert replace(MODEL, score=Line(1.0)).predict(8000, 4).bound == "sift"
    assert MODEL.predict(8000, 64, Link(0.0, 1e3)).bound == "network"


def test_nodes_and_examples_are_counted() -> None:
    with pytest.raises(InputError, match="nodes is 0"):
        MODEL.predict(5000, 0)
    with pytest.raises(InputError, match="n is -1"):
        MODEL.predict(-1, 1)
