"""Rules: functions from scores to sampling probabilities. `base` defines the protocols."""

from paraactive.rules.base import BlindRule, LabelAwareRule, Rule
from paraactive.rules.constant import Passive, Uniform
from paraactive.rules.floored import FlooredAware, FlooredBlind, floored
from paraactive.rules.gradient import Gradient
from paraactive.rules.iwal import IwalMargin
from paraactive.rules.least import LeastMargin
from paraactive.rules.margin import Margin, PaperMargin
from paraactive.rules.signed import SignedMargin

__all__ = [
    "BlindRule",
    "FlooredAware",
    "FlooredBlind",
    "Gradient",
    "IwalMargin",
    "LabelAwareRule",
    "LeastMargin",
    "Margin",
    "PaperMargin",
    "Passive",
    "Rule",
    "SignedMargin",
    "Uniform",
    "floored",
]
