"""Conformance checks for your own learners, rules, streams and engines.

`check_learner`, `check_rule`, `check_stream` and `check_engine` check all properties. They raise `CheckError`, which
names the first property that does not hold. `learner_checks` and its siblings list the properties as (name, check), to
parametrize a test.
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
