"""Parameters of the learner and the rule inside an estimator, as scikit-learn's learner__C and rule__eta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from sklearn.base import BaseEstimator

from paraactive.basics.validation import one_of
from paraactive.learners import LaSVM, Learner
from paraactive.rules import Rule
from paraactive.runs import arguments

T = TypeVar("T")


@dataclass(frozen=True)
class NamedRule:
    """A rule by its name, or "auto", with some of its parameters: what rule="margin" becomes by `set_params`.

    Parameters
    ----------
    name : str
        Name of the rule, or "auto".
    parameters : dict
        The parameters that were set.
    """

    name: str
    parameters: dict[str, object] = field(default_factory=dict[str, object])

    def describe(self) -> dict[str, object]:
        """The parameters that were set.

        Returns
        -------
        dict
            Values by name.
        """
        return self.parameters

    def changed(self, given: Mapping[str, object]) -> NamedRule:
        """The same rule with other parameters.

        Parameters
        ----------
        given : mapping of str to object
            New values. An InputError is raised if a rule of this name has no such parameter.

        Returns
        -------
        NamedRule
            The new rule.
        """
        if self.name != "auto":
            with_parameters(arguments.find_rule(self.name, LaSVM()), given)
        return NamedRule(self.name, {**self.parameters, **given})

    def rule_for(self, learner: Learner) -> Rule:
        """The rule itself.

        Parameters
        ----------
        learner : Learner
            The learner, which decides the rule if the name is "auto".

        Returns
        -------
        Rule
            The rule with its parameters.
        """
        rule = arguments.find_rule(arguments.default_rule(learner) if self.name == "auto" else self.name, learner)
        return with_parameters(rule, self.parameters)


def described(part: object) -> dict[str, object]:
    """The parameters of a learner or rule.

    Parameters
    ----------
    part : object
        A learner, a rule, or anything else.

    Returns
    -------
    dict
        Values by name; empty if the part does not describe itself.
    """
    describe = None if isinstance(part, type) else getattr(part, "describe", None)
    return {} if describe is None else dict(describe())


def with_parameters(part: T, given: Mapping[str, object]) -> T:
    """Another part of the same class.

    Parameters
    ----------
    part : object
        A learner or a rule that describes itself.
    given : mapping of str to object
        Parameters that differ. An InputError names one that the part does not have.

    Returns
    -------
    object
        The new part.
    """
    known = described(part)
    for name in given:
        one_of(f"{type(part).__name__} parameter", name, known)
    return type(part)(**{**known, **given})


class HasNestedParameters(BaseEstimator):
    """An estimator whose learner and rule have parameters of their own: learner__C, rule__eta."""

    rule: Rule | NamedRule | str

    if TYPE_CHECKING:

        def _new_learner(self) -> Learner: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the learner and the rule, as learner__C and rule__eta.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep)
        for name in ("learner", "rule") if deep else ():
            inner = getattr(self, name)
            if not hasattr(inner, "get_params"):
                params |= {f"{name}__{key}": value for key, value in described(inner).items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters. Those of the learner and the rule, as learner__C and rule__eta, replace these parts.

        Parameters
        ----------
        **params : object
            New values by name.

        Returns
        -------
        object
            The estimator.
        """
        own = {name: value for name, value in params.items() if not name.startswith(("learner__", "rule__"))}
        super().set_params(**own)
        for part in ("learner", "rule"):
            given = {name.removeprefix(f"{part}__"): params[name] for name in params if name.startswith(f"{part}__")}
            if given and hasattr(getattr(self, part), "get_params"):
                getattr(self, part).set_params(**given)
            elif given:
                setattr(self, part, self._with_parameters(part, given))
        return self

    def _with_parameters(self, part: str, given: dict[str, object]) -> Learner | Rule | NamedRule:
        if part == "learner":
            return with_parameters(self._new_learner(), given)
        rule = NamedRule(self.rule) if isinstance(self.rule, str) else self.rule
        return rule.changed(given) if isinstance(rule, NamedRule) else with_parameters(rule, given)
