"""replay: rebuild a model from the log alone, and compare it with every digest that the run wrote down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraactive.basics.part_spec import PartSpec
from paraactive.basics.threads import one_blas_thread
from paraactive.data.events import Evaluated, Observer, RunStarted
from paraactive.data.examples import Place
from paraactive.errors import ReplayError
from paraactive.learners.base import Learner, capabilities_of
from paraactive.runs import file_parts
from paraactive.runs.finishing import replay_finished
from paraactive.runs.loop import WARMSTART, ended_event, notify
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.runs.verdict import WITH_LABELS, WITHOUT_SCORES
from paraactive.sifting import parts
from paraactive.sifting.measurements import Measurements
from paraactive.sifting.node import learn_stretch
from paraactive.streams import Stream


def replay(
    path: str | Path,
    *,
    stream: Stream | None = None,
    learner: Learner | None = None,
    observers: Sequence[Observer] = (),
) -> Run:
    """Rebuild the model from the log alone, from its first entry, and check it by every digest that the run wrote down.

    The features of a user's data are in the log, so the data itself is not needed.

    Parameters
    ----------
    path : path
        The run file.
    stream : Stream, optional
        The training data, if the log has no features and the run file cannot open the stream.
    learner : Learner, optional
        The untrained learner, if the run file cannot build it.
    observers : sequence of callables
        Each is called with every event of the replay.

    Returns
    -------
    Run
        The rebuilt model. `checked` is the number of digests that were compared.

    Raises
    ------
    ReplayError
        If a digest differs.
    """
    with RunFile.read(path) as file, file.consistent_reads():
        with file.reraise_as_corruption():
            spec = file.spec
            if file.log.needs_stream:
                stream = file_parts.stream_of(stream, spec.data.stream)
            learner = file_parts.learner_of(learner, spec.learner, len(spec.data.classes))
            run = Run(learner, spec)
            check = _DigestCheck(file, learner)
        notify(observers, RunStarted(file.seen, 0))
        with file.reraise_as_corruption(), one_blas_thread():
            rounds = list(file.log.ended_rounds())
            for stretch in file.log.stretches(Place(0, 0), stream):
                learn_stretch(learner, stretch)
                if stretch.ends_round:
                    run.rounds.append(rounds[stretch.rounds])
                    notify(observers, run.rounds[-1])
                check(stretch.ends)
            run.delays, run.learned = file.log.count_delays(), file.log.learned()
            run.measured = measured_of(file, capabilities_of(learner).log_odds)
            recall_events(run, file)
            compared = replay_finished(file, learner, stream)
            if kept_warmstart(file):
                earlier = parts.untrained(learner)
                file.log.learn(earlier, Place(0, 0), stream, rounds=1)
                run.learner, run.kept_warmstart = earlier, True
        run.checked = check.count + compared
        notify(observers, ended_event(run, file.version, run.learner.digest()))
        return run


def recall_events(run: Run, file: RunFile) -> None:
    """Fill in what only the events of a run file say: evaluations, wall time and the digests of replicas.

    Parameters
    ----------
    run : Run
        The run to fill in.
    file : RunFile
        Its file.
    """
    run.evaluations = [Evaluated(**event) for event in file.events.read("Evaluated") if event["seen"] <= file.seen]
    for event in file.events.read("RunEnded"):
        run.wall_seconds = event["wall_seconds"]
        if event["seen"] == file.seen:
            run.replicas = {int(node): digest for node, digest in event["replicas"].items()}
            way, why = event["updates"]
            run.updates = way, why


def kept_warmstart(file: RunFile) -> bool:
    """Whether the model after the warmstart was kept, because the latest model was significantly worse.

    Parameters
    ----------
    file : RunFile
        The file of a run.

    Returns
    -------
    bool
        False if the run has not ended.
    """
    ended = [each for each in file.events.read("RunEnded") if each["seen"] == file.seen]
    return bool(ended) and ended[-1].get("kept", "") == WARMSTART


def measured_of(file: RunFile, log_odds: bool) -> Measurements:
    """What the log of a run file says about the models on the way.

    Parameters
    ----------
    file : RunFile
        The file.
    log_odds : bool
        Whether the scores of the learner are log-odds, which decides the loss.

    Returns
    -------
    Measurements
        The sums of all rounds.
    """
    spec, rule = file.spec, file.spec.rule
    inner = rule.parameters.get("rule")
    kind = inner.kind if isinstance(inner, PartSpec) else rule.kind
    measured = Measurements(
        len(spec.data.classes), log_odds, kind not in WITHOUT_SCORES, spec.sampling.budget,
        spec.data.first_pass, is_blind=kind not in WITH_LABELS, is_asked=spec.data.stream.kind == "unlabelled",
    )  # fmt: skip
    file.log.measure(measured)
    return measured


class _DigestCheck:
    """Compares the model with the digest of the run at every place where the run took a snapshot."""

    def __init__(self, file: RunFile, learner: Learner) -> None:
        taken = file.events.read("SnapshotTaken")
        self._digests = {Place(each["version"], each["rounds"]): each["digest"] for each in taken}
        self._path, self._learner = file.path, learner
        self.count = 0

    def __call__(self, place: Place) -> None:
        known = self._digests.get(place)
        if known is None:
            return
        if known != self._learner.digest():
            raise ReplayError(
                f"replaying {self._path} gives another model than the run had",
                why="the log was changed, or another version of paraactive or another processor made it",
                remedy="replay it where it was trained, or restore a copy of the run file",
            )
        self.count += 1
