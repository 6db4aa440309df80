"""Schedules: the algorithms of the paper, each written once for all engines."""

from paraactive.schedules.asynchronous import asynchronous
from paraactive.schedules.engine import Engine, Schedule
from paraactive.schedules.plan import Plan, portion
from paraactive.schedules.sequential import sequential
from paraactive.schedules.synchronous import synchronous

SCHEDULES: dict[str, Schedule] = {
    "synchronous": synchronous,
    "asynchronous": asynchronous,
    "sequential": sequential,
}

__all__ = ["SCHEDULES", "Engine", "Plan", "Schedule", "asynchronous", "portion", "sequential", "synchronous"]
