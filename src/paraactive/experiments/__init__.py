"""The experiments of the paper: tasks by name, and comparisons with passive learning."""

from paraactive.experiments.baselines import Comparison, compare_with_passive
from paraactive.experiments.tasks import TASKS, Task, find_task

__all__ = ["TASKS", "Comparison", "Task", "compare_with_passive", "find_task"]
