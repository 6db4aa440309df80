"""The experiments of the paper, and ours in the same form: run files, figures, points, claims and a page for each."""

from paraactive.experiments.paper.experiment import Experiment, ExperimentResult, RunKind, reproduce
from paraactive.experiments.paper.network import NETWORK
from paraactive.experiments.paper.stragglers import STRAGGLERS
from paraactive.experiments.paper.svm import SVM

EXPERIMENTS = {experiment.name: experiment for experiment in (SVM, NETWORK, STRAGGLERS)}

__all__ = ["EXPERIMENTS", "Experiment", "ExperimentResult", "RunKind", "reproduce"]
