"""The theory of the paper as programs: Algorithm 3 (IWAL with delays) for finite classes, and its bounds.

`Iwal` is Algorithm 3. `rules.IwalMargin` uses its query probability with real learners. The cost model of
`paraactive.planning` can be imported from here, too.
"""

from paraactive.planning import Cost, CostModel, Line, Link, Planned, Prediction, plan
from paraactive.rules.iwal import query_probability
from paraactive.theory.bounds import (
    PROVEN,
    Constants,
    delayed_generalization_bound,
    delayed_label_complexity_bound,
    generalization_bound,
    label_complexity_bound,
    sufficient_c0,
)
from paraactive.theory.delays import (
    constant_delays,
    random_delay_bound,
    random_delays,
    recorded_delays,
    round_delays,
)
from paraactive.theory.disagreement import (
    disagreement_coefficient,
    sphere_disagreement,
    sphere_disagreement_coefficient,
    threshold_disagreement_coefficient,
)
from paraactive.theory.hypotheses import Separators, Stumps, Thresholds
from paraactive.theory.iwal import Iwal, IwalRun
from paraactive.theory.predictions import Predictions

__all__ = [
    "PROVEN",
    "Constants",
    "Cost",
    "CostModel",
    "Iwal",
    "IwalRun",
    "Line",
    "Link",
    "Planned",
    "Prediction",
    "Predictions",
    "Separators",
    "Stumps",
    "Thresholds",
    "constant_delays",
    "delayed_generalization_bound",
    "delayed_label_complexity_bound",
    "disagreement_coefficient",
    "generalization_bound",
    "label_complexity_bound",
    "plan",
    "query_probability",
    "random_delay_bound",
    "random_delays",
    "recorded_delays",
    "round_delays",
    "sphere_disagreement",
    "sphere_disagreement_coefficient",
    "sufficient_c0",
    "threshold_disagreement_coefficient",
]
