"""The sampling probability of any rule, also for single numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.rules import Rule


def probability(rule: Rule, score: Any, seen: Any, y: Any) -> Any:
    score, seen = np.atleast_1d(np.asarray(score, np.float64)), np.atleast_1d(np.asarray(seen, np.int64))
    if rule.needs_labels is True:
        return rule.probability(score, seen, np.atleast_1d(np.asarray(y, np.int8)))
    return rule.probability(score, seen)
