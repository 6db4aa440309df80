"""The paper's experiments: tasks by name, and the baselines they are compared with."""

from paraactive.experiments.baselines import Comparison, compare_with_passive
from paraactive.experiments.tasks import TASKS, Task, find_task

__all__ = ["TASKS", "Comparison", "Task", "compare_with_passive", "find_task"]
