"""One broken engine for each property: the simulated one, but for that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paraactive.data.examples import Selected, Stretch
from paraactive.engines import EngineFactory, Simulated
from paraactive.schedules.engine import Message, Published
from paraactive.sifting.node import Sifted


def factory(kind: type[Simulated]) -> EngineFactory:
    """What makes such an engine."""
    return lambda node, plan, placement, _: kind(node, plan.nodes, placement.cluster)


class Reversed(Simulated):
    """What its nodes pass on comes in the wrong order."""

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        sifted, largest = super().sift(first, last, seen)
        return sifted[::-1], largest


class Sleepy(Simulated):
    """It forgets what learners do at the end of a round, once they sift by rounds."""

    def apply(self, stretch: Stretch) -> float:
        forgets = stretch.rounds > 0 and self._virtual is None
        return super().apply(replace(stretch, ends_round=stretch.ends_round and not forgets))


class Divided(Simulated):
    def finish(self) -> dict[int, str]:
        return super().finish() | {7: "another model"}


class Silent(Simulated):
    def finish(self) -> dict[int, str]:
        super().finish()
        return {}


class _Altering(Simulated):
    """It alters what nodes publish."""

    def receive(self) -> Message:
        message = super().receive()
        return self.altered(message) if isinstance(message, Published) else message

    def altered(self, published: Published) -> Published:
        raise NotImplementedError


class Losing(_Altering):
    """It loses what was selected of a few tiles."""

    def altered(self, published: Published) -> Published:
        if published.tile.first % 5:
            return published
        width = published.sifted.selected.examples.width
        return replace(published, sifted=replace(published.sifted, selected=Selected.empty(width)))


class Boasting(_Altering):
    """It says that an older model sifted."""

    def altered(self, published: Published) -> Published:
        selected = published.sifted.selected
        older = replace(selected, version=selected.version - (selected.version > 300))
        return replace(published, sifted=replace(published.sifted, selected=older))


class Overeager(Simulated):
    """In the end, without rounds, it learns the last entries once more."""

    last: Selected | None = None
    rounds_over = False

    def begin_asynchronous(self) -> Any:
        self.rounds_over = True
        return super().begin_asynchronous()

    def apply(self, stretch: Stretch) -> float:
        self.last = stretch.entries.selected if len(stretch.entries) else self.last
        return super().apply(stretch)

    def finish(self) -> dict[int, str]:
        found = super().finish()
        if self.rounds_over and self.last:
            self._node.learner.update(self.last)
        return dict.fromkeys(found, self._node.learner.digest())


class Muffling(Simulated):
    """The errors of its nodes arrive as errors of its own."""

    def sift(self, first: int, last: int, seen: int) -> tuple[list[Sifted], dict[int, float]]:
        try:
            return super().sift(first, last, seen)
        except Exception as error:
            raise RuntimeError("a node has failed") from error
