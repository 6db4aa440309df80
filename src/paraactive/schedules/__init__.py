"""Schedules: the algorithms, each written once, whatever engine runs it."""

from paraactive.schedules.base import Engine, Plan, Schedule, portion
from paraactive.schedules.sequential import sequential
from paraactive.schedules.synchronous import synchronous

SCHEDULES: dict[str, Schedule] = {"synchronous": synchronous, "sequential": sequential}

__all__ = ["SCHEDULES", "Engine", "Plan", "Schedule", "portion", "sequential", "synchronous"]
