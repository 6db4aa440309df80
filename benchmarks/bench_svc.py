"""Against SVC: the one of scikit-learn, and the much faster one of scikit-learn-intelex, on one thread and on two.

Task: the digits {3,1} against {5,7} (C 1, gamma 0.012). SVC gets the 24 559 original digits, or 50 000 of the stream,
which begins with the same ones and goes on with deformed copies; its time is that of `fit`. Ours reads the stream. A
first run, whose time does not count, finds after how many examples it makes at most m mistakes: the first checkpoint at
which the mean over it and its two neighbors is at most m. A second run sees exactly so many, whatever the number of
nodes; its time is all of `train`. Ten digits: all 60 000 originals, once.

The settings of ours are chosen first, on training digits that are put aside (`svc_settings`).

Predicting: labels of digits that nobody has seen, with equal numbers of vectors.

    python -m benchmarks.bench_svc --json svc.json
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.bench_sift import trained
from benchmarks.measuring import about, apart, finish, first_reached, parse, seconds, spread, table
from benchmarks.peers import intelex_svc
from benchmarks.svc_settings import GAMMA, Settings, choose, choose_ten, small_run, ten_run
from paraactive import Digits, LaSVM, ParaActiveSVC, train
from paraactive.data.labels import decide
from paraactive.learners.deciding import classes_of
from paraactive.runs.run import Run

THREADS = (1, 2)
TARGETS = {33: 0, 22: 50_000}
"""Mistakes, and the digits of the stream that SVC gets to compare with; 0: the originals."""
MOST = 250_000
"""Examples after which a run gives up."""


class Sizes(NamedTuple):
    """How much is measured."""

    repeats: int = 5
    """Seeds of ours."""
    tuning_seeds: int = 8
    """Seeds with which its settings are chosen."""
    peer_repeats: int = 3
    """Fits of a peer that takes seconds; one that takes a minute is fitted once."""
    originals: bool = True
    """Scikit-learn's SVC too, which takes a minute."""
    ten: int = 60_000
    vectors: tuple[int, ...] = (4686, 8676)
    """With which labels are predicted: those that SVC ends with."""
    fresh: int = 100_000
    """Digits of which labels are compared with those of exact scores."""


FULL, QUICK = Sizes(), Sizes(2, 1, 1, False, 10_000, (4686,), 10_000)


# Theirs ----------------------------------------------------------------------------------------------------------


def _model(kind: str, threads: int) -> Any:
    if kind == "intelex":
        return intelex_svc(threads, C=1, gamma=GAMMA, cache_size=8000)
    return SVC(C=1, gamma=GAMMA, cache_size=4000)  # pyright: ignore[reportArgumentType]


def _peer(kind: str, ten: bool, count: int, threads: int, repeats: int) -> Iterator[Any]:
    """Fit and predict, in a process of its own."""
    digits = Digits.all() if ten else Digits()
    read, test = digits.read(0, count or digits.originals), digits.test()
    x, test_x = np.asarray(read.x), np.asarray(test.x)
    with threadpool_limits(threads):
        if kind == "intelex":
            _model(kind, threads).fit(x[:500], read.y[:500]).predict(test_x[:10])  # loads
        yield "ready"
        fits, predicts, model = list[float](), list[float](), _model(kind, threads)
        for _ in range(repeats):
            model = _model(kind, threads)
            fits.append(seconds(partial(model.fit, x, read.y)))
            predicts.append(seconds(partial(model.predict, test_x)))
        yield {
            "seen": len(x), "fit": spread(fits), "predict": spread(predicts), "test": len(test_x),
            "mistakes": int(np.sum(model.predict(test_x) != test.y)), "vectors": len(model.support_),
        }  # fmt: skip


def peer(kind: str, ten: bool, count: int, threads: int, repeats: int) -> dict[str, Any]:
    """What one of theirs came to."""
    (came,) = apart(_peer, kind, ten, count, threads, repeats)
    return came


# Ours ------------------------------------------------------------------------------------------------------------


def examples_to(seed: int, settings: Settings) -> dict[int, int]:
    """After how many examples a run makes at most so many mistakes; the log does not depend on the number of nodes."""
    last = min(TARGETS)

    def reached(run: Run) -> bool:
        return first_reached(run, last) is not None

    run = small_run(Digits(seed=seed), seed, MOST, 1, settings, test=True, stop=reached)
    places = {target: first_reached(run, target) for target in TARGETS}
    return {target: run.evaluations[place].seen for target, place in places.items() if place is not None}


def time_to_mistakes(repeats: int, settings: Settings) -> dict[str, Any]:
    """Seconds of `train` for each target and number of nodes, by seed."""
    found: dict[str, Any] = {
        str(target): {"runs": repeats, "seen": [], "seconds": {str(k): [] for k in THREADS}} for target in TARGETS
    }  # fmt: skip
    for seed in range(repeats):
        for target, seen in examples_to(seed, settings).items():
            place = found[str(target)]
            place["seen"].append(seen)
            for threads in THREADS:
                spent = seconds(partial(small_run, Digits(seed=seed), seed, seen, threads, settings))
                place["seconds"][str(threads)].append(spent)
    return found


def ten_digits(count: int, repeats: int, eta: float) -> dict[str, Any]:
    """Each original once: by `train` with a steep rule, and by ParaActiveSVC with its defaults."""
    digits = Digits.all()
    read, test = digits.read(0, count), digits.test()
    x, test_x = np.asarray(read.x), np.asarray(test.x)
    found: dict[str, Any] = {}
    for threads in THREADS:
        work = partial(ten_run, digits, eta, count, threads)
        spent = [seconds(work) for _ in range(repeats)]
        learner: Any = work().learner
        predict = [seconds(partial(classes_of, learner, test_x, threads)) for _ in range(repeats)]
        mistakes = int(np.sum(classes_of(learner, test_x, threads) != test.y))
        found[f"train, {threads}"] = {
            "fit": spread(spent), "predict": spread(predict), "mistakes": mistakes, "vectors": learner.vectors,
        }  # fmt: skip
        model = ParaActiveSVC(C=1, gamma=GAMMA, n_jobs=threads, random_state=0)
        fit = seconds(partial(model.fit, x, read.y))
        found[f"ParaActiveSVC, {threads}"] = {
            "fit": spread([fit]), "predict": spread([seconds(partial(model.predict, test_x)) for _ in range(repeats)]),
            "mistakes": int(np.sum(model.predict(test_x) != test.y)), "vectors": len(model.support_),
        }  # fmt: skip
    return found


def estimator(repeats: int) -> dict[str, Any]:
    """ParaActiveSVC with its defaults on the 24 559 originals."""
    digits = Digits()
    read, test = digits.read(0, digits.originals), digits.test()
    found: dict[str, Any] = {}
    for threads in THREADS:
        model = ParaActiveSVC(C=1, gamma=GAMMA, n_jobs=threads, random_state=0)
        spent = [seconds(partial(model.fit, np.asarray(read.x), read.y)) for _ in range(repeats)]
        mistakes = int(np.sum(model.predict(np.asarray(test.x)) != test.y))
        found[str(threads)] = {"fit": spread(spent), "mistakes": mistakes, "vectors": len(model.support_)}
    return found


def predicting(vectors: int, fresh: int, repeats: int) -> dict[str, Any]:
    """Labels of the test digits, with a model that has so many vectors and has learned every digit that it saw."""
    test = np.asarray(Digits().test().x)
    learner: Any = trained(vectors)
    learner.finish()
    learner.end_round()
    found: dict[str, Any] = {"vectors": learner.vectors}
    for threads in THREADS:
        classes_of(learner, test, threads)
        found[str(threads)] = spread([seconds(partial(classes_of, learner, test, threads)) for _ in range(repeats)])
    found["exact"] = spread([seconds(partial(learner.score, test)) for _ in range(repeats)])
    rows = np.asarray(Digits(seed=7).read(60_000, 60_000 + fresh).x)
    found["fresh"] = fresh
    found["other"] = int(np.sum(classes_of(learner, rows) != decide(learner.score(rows))))
    return found


# All -------------------------------------------------------------------------------------------------------------


def measure(sizes: Sizes = FULL) -> dict[str, Any]:
    """Both sides."""
    if importlib.util.find_spec("sklearnex") is None:
        raise RuntimeError("scikit-learn-intelex is not installed: pip install 'paraactive[bench]'")
    for digits in (Digits(), Digits.all()):
        train(LaSVM(gamma=GAMMA, gap=0.2), digits, examples=9000)  # compiles
    results: dict[str, Any] = {"intelex": {}, "ten, intelex": {}}
    if sizes.originals:
        results["scikit-learn"] = peer("scikit-learn", False, 0, 1, 1)
    chosen = results["chosen"] = choose(tuple(TARGETS), sizes.tuning_seeds)
    ten = results["chosen, ten"] = choose_ten(sizes.ten)
    results["ours"] = time_to_mistakes(sizes.repeats, Settings(chosen["eta"], chosen["batch"]))
    results["estimator"] = estimator(sizes.peer_repeats)
    results["ten, ours"] = ten_digits(sizes.ten, sizes.peer_repeats, ten["eta"])
    results["predicting"] = [predicting(count, sizes.fresh, 2 * sizes.repeats) for count in sizes.vectors]
    for threads in THREADS:
        for target, count in TARGETS.items():
            came = peer("intelex", False, count, threads, sizes.peer_repeats)
            results["intelex"].setdefault(str(target), {})[str(threads)] = came
        results["ten, intelex"][str(threads)] = peer("intelex", True, sizes.ten, threads, 1)
    return results


def ratios(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    """How many times faster ours is, by task and number of threads."""
    found: dict[str, dict[str, float]] = {}
    for target in results["ours"]:
        for threads in map(str, THREADS):
            ours, theirs = results["ours"][target]["seconds"][threads], results["intelex"][target][threads]
            if len(ours) == results["ours"][target]["runs"]:  # Otherwise a run did not come that far.
                found.setdefault(target, {})[threads] = theirs["fit"]["median"] / float(np.mean(ours))
    for threads in map(str, THREADS):
        theirs = results["ten, intelex"][threads]
        for name in ("train", "ParaActiveSVC"):
            ours = results["ten, ours"][f"{name}, {threads}"]
            found.setdefault(f"ten digits, {name}", {})[threads] = theirs["fit"]["median"] / ours["fit"]["median"]
        theirs = results["intelex"]["33"][threads]
        for each in results["predicting"]:
            speed = theirs["vectors"] / theirs["predict"]["median"]
            found.setdefault(f"predicting, {each['vectors']}", {})[threads] = (
                each["vectors"] / each[threads]["median"] / speed
            )
    return found


def _mean_time(ours: dict[str, Any]) -> str:
    if len(ours["seen"]) < ours["runs"]:
        return f"reached by {len(ours['seen'])} of {ours['runs']}"
    return f"{float(np.mean(ours['seconds']['1'])):.2f} s"


def render_short(results: dict[str, Any]) -> str:
    """The table of the README."""
    faster = ratios(results)

    def times(name: str) -> list[str]:
        return [f"{faster[name][threads]:.1f}" if threads in faster.get(name, {}) else "" for threads in ("1", "2")]

    rows: list[list[str]] = []
    for target, ours in results["ours"].items():
        theirs = results["intelex"][target]["1"]
        rows.append([
            f"{{3,1}} v {{5,7}}, to {target} mistakes of {theirs['test']:,}",
            f"{theirs['fit']['median']:.1f} s: {theirs['mistakes']} mistakes after {theirs['seen']:,} digits",
            _mean_time(ours), *times(target),
        ])  # fmt: skip
    theirs, ours = results["ten, intelex"]["1"], results["ten, ours"]
    for name, shown in (("train", "ten digits, {:,}"), ("ParaActiveSVC", "ten digits, {:,}: ParaActiveSVC, defaults")):
        figures = ours[f"{name}, 1"]
        rows.append([
            shown.format(theirs["seen"]),
            f"{theirs['fit']['median']:.1f} s: error {theirs['mistakes'] / theirs['test']:.2%}",
            f"{figures['fit']['median']:.2f} s: error {figures['mistakes'] / theirs['test']:.2%}",
            *times(f"ten digits, {name}"),
        ])  # fmt: skip
    each, theirs = results["predicting"][0], results["intelex"]["33"]["1"]
    rows.append([
        f"predicting {theirs['test']:,} labels, {each['vectors']:,} vectors", f"{theirs['predict']['median']:.2f} s",
        f"{each['1']['median']:.3f} s", *times(f"predicting, {each['vectors']}"),
    ])  # fmt: skip
    header = ["task", "SVC of scikit-learn-intelex", "paraactive", "times faster", "on two threads"]
    seeds, slow = results["ours"]["33"]["runs"], results.get("scikit-learn")
    text = f"Our times to m mistakes are means over {seeds} seeds; the peer's number of mistakes is where it ends."
    if slow:
        times = slow["fit"]["median"] / results["intelex"]["33"]["1"]["fit"]["median"]
        text += f" The SVC of scikit-learn itself takes {times:.0f} times as long as that of scikit-learn-intelex."
    return f"{table(header, rows)}\n\n{text}"


def render(results: dict[str, Any]) -> str:
    """The short table, and the figures behind it."""
    rows: list[list[str]] = []
    if "scikit-learn" in results:
        slow = results["scikit-learn"]
        rows.append([
            "SVC of scikit-learn", f"{slow['seen']:,}", "1", about(slow["fit"], 1), f"{slow['mistakes']} mistakes",
            f"{slow['vectors']:,}", about(slow["predict"], 2),
        ])  # fmt: skip
    for figures in [*results["intelex"].values(), results["ten, intelex"]]:
        for threads, came in figures.items():
            rows.append([
                "SVC of scikit-learn-intelex", f"{came['seen']:,}", threads, about(came["fit"], 1),
                f"{came['mistakes']} mistakes", f"{came['vectors']:,}", about(came["predict"], 2),
            ])  # fmt: skip
    for target, ours in results["ours"].items():
        missed = "" if len(ours["seen"]) == ours["runs"] else f", {_mean_time(ours)}"
        for threads, spent in ours["seconds"].items() if ours["seen"] else ():
            rows.append([
                f"paraactive, to {target} mistakes{missed}", about(spread(ours["seen"]), 0), threads,
                about(spread(spent)), f"at most {target}", "", "",
            ])  # fmt: skip
    originals = results["intelex"]["33"]["1"]["seen"]
    for threads, came in results["estimator"].items():
        rows.append([
            "ParaActiveSVC, defaults", f"{originals:,}", threads, about(came["fit"]), f"{came['mistakes']} mistakes",
            f"{came['vectors']:,}", "",
        ])  # fmt: skip
    least = f"LeastMargin({results['chosen, ten']['eta']:g}, theta=0)"
    for name, came in results["ten, ours"].items():
        way, _, threads = name.partition(", ")
        rows.append([
            f"{least if way == 'train' else 'ParaActiveSVC, defaults'}, ten digits",
            f"{results['ten, intelex']['1']['seen']:,}", threads, about(came["fit"]), f"{came['mistakes']} mistakes",
            f"{came['vectors']:,}", about(came["predict"], 3),
        ])  # fmt: skip
    labels = [
        [
            f"{each['vectors']:,}", about(each["exact"], 3), about(each["1"], 3), about(each["2"], 3),
            f"{each['other']} of {each['fresh']:,}",
        ]
        for each in results["predicting"]
    ]  # fmt: skip
    seeds, chosen = results["ours"]["33"]["runs"], results["chosen"]
    return "\n\n".join([
        render_short(results),
        f"{{3,1}} v {{5,7}}: mean of {seeds} seeds, {Settings(chosen['eta'], chosen['batch'])}, all of `train`. These "
        f"settings are the best of {len(chosen['tried'])}, and the slope in ten classes is one of "
        f"{len(results['chosen, ten']['tried'])}, chosen on training digits that were put aside. Predicting: the "
        "peer's time is scaled to the same number of vectors.",
        table(["method", "digits", "threads", "fit, s", "test", "vectors", "predict the test digits, s"], rows),
        "Predicting the labels of the 4,065 test digits, with exact scores and with the cascade on one thread and on "
        "two. The last column says how many labels of fresh digits differ between the two:",
        table(["vectors", "exact, s", "cascade, s", "two threads, s", "other labels"], labels),
    ])  # fmt: skip


if __name__ == "__main__":
    options = parse(__doc__ or "", small=True)
    figures = measure(QUICK if options.small else FULL)
    finish(options, render(figures), {"svc": figures})
