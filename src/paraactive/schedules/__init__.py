"""Schedules: the algorithms, each written once, whatever engine runs it."""

from paraactive.schedules.asynchronous import asynchronous
from paraactive.schedules.base import Engine, Plan, Schedule, portion
from paraactive.schedules.pipelined import pipelined
from paraactive.schedules.sequential import sequential
from paraactive.schedules.synchronous import synchronous

SCHEDULES: dict[str, Schedule] = {
    "synchronous": synchronous,
    "pipelined": pipelined,
    "asynchronous": asynchronous,
    "sequential": sequential,
}

__all__ = [
    "SCHEDULES",
    "Engine",
    "Plan",
    "Schedule",
    "asynchronous",
    "pipelined",
    "portion",
    "sequential",
    "synchronous",
]
