"""Conformance checks for parts of your own: a learner, a rule, a stream, an engine.

`check_learner` and its like try all properties and raise `CheckError`, which names the first that does not hold;
`learner_checks` and its like list them as (name, check), to parametrise a test with.
"""

from paraactive.checks.engine import check_engine, engine_checks
from paraactive.checks.learner import check_learner, learner_checks
from paraactive.checks.rule import check_rule, rule_checks
from paraactive.checks.stream import check_stream, stream_checks
from paraactive.errors import CheckError

__all__ = [
    "CheckError",
    "check_engine",
    "check_learner",
    "check_rule",
    "check_stream",
    "engine_checks",
    "learner_checks",
    "rule_checks",
    "stream_checks",
]
