"""Makes learners, rules and streams from the options of a command, with defaults that suit each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias, cast

from paraactive.basics.part_spec import JSONValue
from paraactive.basics.registry import LEARNERS, RULES, Registry
from paraactive.basics.validation import one_of
from paraactive.cli.data_options import ColumnOptions
from paraactive.cli.derived import option_name, part_parameters
from paraactive.cli.parameters import parameters_of
from paraactive.errors import InputError
from paraactive.experiments.tasks import ETA, GAMMA, GAP, TASKS, find_task
from paraactive.learners import Learner
from paraactive.rules import Rule
from paraactive.runs.arguments import default_rule, require_learner
from paraactive.runs.sampling_defaults import steepest, stream_row_size
from paraactive.sifting.guard import Guard
from paraactive.sifting.parts import expect_classes
from paraactive.streams import Digits, Stream, open_stream

DEFAULT_EXAMPLES = 102_400
"""Number of examples to read from a stream that never ends."""
Parameters: TypeAlias = "dict[str, JSONValue]"


@dataclass(frozen=True)
class Job:
    """A stream, where its test examples are, and how to make the learner and the rule.

    Parameters
    ----------
    stream : Stream
        The training data.
    test : Path or bool
        File with test examples; True for the stream's own, False for none.
    learner : str
        Name in the registry, or "package.module:Class".
    learner_parameters : dict
        Parameters of the learner: the options that were given, and the defaults of the command line.
    rule : str
        Name in the registry, or "package.module:Class".
    rule_parameters : dict
        Parameters of the rule.
    """

    stream: Stream
    test: Path | bool
    learner: str
    learner_parameters: Parameters
    rule: str
    rule_parameters: Parameters

    def new_learner(self) -> Learner:
        """The learner, untrained.

        Returns
        -------
        Learner
            A new learner in each call.
        """
        return new_learner(self.learner, self.learner_parameters)

    def new_rule(self) -> Rule | str:
        """The rule, or the name "uniform" if `train` is to find its rate.

        Returns
        -------
        Rule or str
            What `train` takes.
        """
        if self.rule == "uniform" and not self.rule_parameters:
            return "uniform"
        return cast(Rule, RULES.find(self.rule)(**self.rule_parameters))


def make_job(
    data: str, test: Path | None, learner: str | None, rule: str | None, given: Mapping[str, JSONValue], *,
    seed: int, passes: int, columns: ColumnOptions, settings: Sequence[str],
) -> Job:  # fmt: skip
    """Put together what `train` needs.

    Parameters
    ----------
    data : str
        Name of a task, or a file.
    test : Path or None
        File with test examples.
    learner, rule : str or None
        Their names; None for the default.
    given : mapping of str to value
        Parameters of learners and rules by name; None if they were not typed.
    seed : int
        Seed of the stream and of the learner.
    passes : int
        Number of passes over a file.
    columns : ColumnOptions
        Columns of a file.
    settings : sequence of str
        What was typed as --set NAME=VALUE.

    Returns
    -------
    Job
        The job. An InputError names an option that does not fit.
    """
    if learner is None:
        learner = TASKS[data].learner if data in TASKS else "svm"
    typed = {name: value for name, value in given.items() if value is not None}
    sets = settings_in(settings)
    for_learner = _own(LEARNERS, learner, typed, sets)
    stream = _stream(data, learner, seed, passes, columns)
    is_digits = isinstance(stream, Digits)
    if rule is None:
        tried = new_learner(learner, for_learner)
        expect_classes(tried, len(stream.classes))
        rule = default_rule(tried)
    for_rule = rule_parameters(learner, rule, typed, sets)
    if learner == "svm" and rule in ("signed", "least"):
        for_rule = {"steepest": steepest(stream_row_size(stream, new_learner(learner, for_learner)))} | for_rule
    check_all_used({**typed, **sets}, {*for_learner, *for_rule}, learner, rule)
    for_learner = _learner_defaults(learner, rule, is_digits, seed) | for_learner
    if for_learner.get("gap") == 0:
        for_learner["gap"] = None
    return Job(stream, is_digits if test is None else test, learner, for_learner, rule, for_rule)


def new_learner(name: str, parameters: Mapping[str, JSONValue]) -> Learner:
    """Build a learner by name.

    Parameters
    ----------
    name : str
        Name in the registry, or "package.module:Class".
    parameters : mapping of str to value
        Parameters of its constructor.

    Returns
    -------
    Learner
        The learner, untrained.
    """
    learner: object = LEARNERS.find(name)(**parameters)
    require_learner(learner)
    return cast(Learner, learner)


def rule_parameters(
    learner: str, rule: str, given: Mapping[str, JSONValue], sets: Mapping[str, JSONValue] | None = None
) -> Parameters:
    """The parameters of a rule: what was typed, and the eta that suits the learner.

    Parameters
    ----------
    learner, rule : str
        Their names.
    given : mapping of str to value
        What was typed as options.
    sets : mapping of str to value, optional
        What was typed as --set NAME=VALUE.

    Returns
    -------
    dict
        Parameters of the rule's constructor.
    """
    own = _own(RULES, rule, given, sets or {})
    eta = ETA.get((learner, rule))
    return own if eta is None else {"eta": eta} | own


def _own(registry: Registry, name: str, typed: Mapping[str, JSONValue], sets: Mapping[str, JSONValue]) -> Parameters:
    """What was typed for this part: by the options of a registered part, and by --set for any part."""
    part = registry.find(name)
    options = {each.name for each in part_parameters(registry, name)} if name in registry else set[str]()
    settable = {each.name for each in parameters_of(part)}
    own = {key: value for key, value in typed.items() if key in options}
    return own | {key: value for key, value in sets.items() if key in settable and key not in typed}


def check_all_used(given: Mapping[str, JSONValue], used: set[str], learner: str, rule: str) -> None:
    """Check that each parameter that was typed belongs to the learner or to the rule.

    Parameters
    ----------
    given : mapping of str to value
        What was typed. An InputError names the first parameter that is not used.
    used : set of str
        The parameters of the learner and of the rule.
    learner, rule : str
        Their names.
    """
    for name in given:
        if name in used:
            continue
        rules = [each for each in RULES.names if name in {one.name for one in part_parameters(RULES, each)}]
        if rules:
            *some, last = rules
            has = f"{', '.join(some)} and {last} have" if some else f"{last} has"
            raise InputError(
                f"{option_name(name)} is given for rule {rule!r}", why=f"only {has} it", remedy="leave it out"
            )
        raise InputError(
            f"{option_name(name)} is given for learner {learner!r}",
            why="it is not one of its parameters",
            remedy="leave it out",
        )


def _learner_defaults(learner: str, rule: str, is_digits: bool, seed: int) -> Parameters:
    if learner == "network":
        return {"seed": seed}
    if learner != "svm":
        return {}
    gap: Parameters = {"gap": GAP.get((learner, rule))}
    return gap | {"gamma": GAMMA} if is_digits else gap


def settings_in(settings: Sequence[str]) -> Parameters:
    """What was typed as NAME=VALUE.

    Parameters
    ----------
    settings : sequence of str
        Each is a name and a value: a number, true, false, null, or text.

    Returns
    -------
    dict
        The values by name.

    Examples
    --------
    >>> settings_in(["depth=3", "mode=fast", "warm=true"])
    {'depth': 3, 'mode': 'fast', 'warm': True}
    """
    values: Parameters = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise InputError(
                f"--set {setting}", why="it does not have the form NAME=VALUE", remedy="give it as --set depth=3"
            )
        try:
            values[name.strip()] = json.loads(text)
        except json.JSONDecodeError:
            values[name.strip()] = text
    return values


def _stream(data: str, learner: str, seed: int, passes: int, columns: ColumnOptions) -> Stream:
    """A task by its name, or a file. Text that looks like neither is taken for a misspelled task."""
    if data in TASKS or not ("." in data or "/" in data or (data and Path(data).exists())):
        for name, given in asdict(columns).items():
            if given is not None:
                raise InputError(f"--{name} is given for {data}", why="only files have columns", remedy="leave it out")
        return find_task(data).stream(learner, seed)
    return open_stream(
        data, label=columns.label, features=names_in(columns.features), weight=columns.weight, seed=seed,
        passes=passes, missing=columns.missing, encode=columns.encode,
    )  # fmt: skip


def number_or_text(typed: object) -> float | str:
    """What was typed: a whole number, another number, or a word.

    Parameters
    ----------
    typed : object
        Text, or a number already.

    Returns
    -------
    int, float or str
        The value.

    Examples
    --------
    >>> number_or_text("500"), number_or_text("0.1"), number_or_text("auto")
    (500, 0.1, 'auto')
    """
    for kind in (int, float):
        with suppress(ValueError):
            return kind(str(typed))
    return str(typed)


def make_guard(wanted: bool, cap: float | None, set_aside: float | None) -> Guard | None:
    """The guard that was asked for.

    Parameters
    ----------
    wanted : bool
        Whether --guard was typed: then what is not typed has its default.
    cap, set_aside : float or None
        Its parts. Without --guard, there are no others.

    Returns
    -------
    Guard or None
        None if nothing was asked for.
    """
    if wanted:
        default = Guard()
        return Guard(
            cap=default.cap if cap is None else cap,
            set_aside=default.set_aside if set_aside is None else set_aside,
        )
    return None if cap is None and set_aside is None else Guard(None, cap, set_aside)


def weights_in(text: str | None) -> dict[str, float] | str | None:
    """Class weights as they are typed.

    Parameters
    ----------
    text : str or None
        "balanced", or names with weights.

    Returns
    -------
    dict, str or None
        What `train` takes as class_weight.

    Examples
    --------
    >>> weights_in("ham=1,spam=5")
    {'ham': 1.0, 'spam': 5.0}
    """
    if text is None or "=" not in text:
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise InputError(
                f"--class-weight has {part!r}", why="it must be a name and a number", remedy="give it as ham=1,spam=5"
            ) from None
    return weights


def names_in(text: str | None) -> list[str] | None:
    """The names in a list with commas.

    Parameters
    ----------
    text : str or None
        The list.

    Returns
    -------
    list of str or None
        The names.

    Examples
    --------
    >>> names_in("age, height")
    ['age', 'height']
    """
    return None if text is None else [name.strip() for name in text.split(",")]


def learner_named(name: str | None, settings: Sequence[str]) -> Learner | None:
    """The learner of a run file that cannot build it.

    Parameters
    ----------
    name : str or None
        "package.module:Class", or None if none was typed.
    settings : sequence of str
        Its parameters, as NAME=VALUE.

    Returns
    -------
    Learner or None
        The learner, untrained.
    """
    if name is None:
        if settings:
            raise InputError(
                "--set is given without --learner", why="it sets a parameter of that learner", remedy="give both"
            )
        return None
    parameters = settings_in(settings)
    known = [each.name for each in parameters_of(LEARNERS.find(name))]
    for each in parameters:
        one_of(f"{name} parameter", each, known)
    return new_learner(name, parameters)
