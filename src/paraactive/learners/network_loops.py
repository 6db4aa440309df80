"""The hot loops of the network: one hidden layer of sigmoid units, a linear output, AdaGrad.

    s_h = sigmoid(sum_k x_k W_kh + b_h),   f = sum_h s_h v_h + c,   loss = log(1 + exp(-y f)) / p  or  (1 - y f)^2 / 2p
    AdaGrad, for each parameter: G += g^2,  parameter -= step * g / sqrt(G)

W has a row for each input; its columns are the units, filled up to whole panels (see `blocks`). An input of 0 has
gradient 0, which changes neither G nor W: such inputs are skipped, which saves most of the work on digits.
"""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from paraactive.learners.blocks import LANES, ROWS, block_product, exp, fma, inverse_sqrt
from paraactive.learners.importance import logistic_push, squared_push

LOGISTIC, SQUARED = 0, 1
_ONE, _TWO, _ZERO, _TINY = np.float32(1), np.float32(2), np.float32(0), np.float32(1e-12)


@njit(cache=True, nogil=True, error_model="numpy")
def _sigmoid(a):
    return _ONE / (_ONE + exp(-a))


@njit(cache=True, nogil=True, error_model="numpy")
def forward(x, out, weight, bias, out_weight, out_bias):
    """out[i] = f(x_i)."""
    width, units = weight.shape
    panels = weight.reshape(width, units // LANES, LANES).transpose(1, 0, 2)
    block, hidden = np.empty((ROWS, LANES), np.float32), np.empty((ROWS, units), np.float32)
    rest = np.zeros((ROWS, width), np.float32)
    for row in range(0, x.shape[0], ROWS):
        live = min(ROWS, x.shape[0] - row)
        for r in range(live if live < ROWS else 0):
            rest[r] = x[row + r]
        for panel in range(panels.shape[0]):
            if live == ROWS:
                block_product(x, row, panels, panel, block)
            else:
                block_product(rest, 0, panels, panel, block)
            hidden[:, panel * LANES : (panel + 1) * LANES] = block
        for r in range(live):
            out[row + r] = _output(hidden[r], bias, out_weight, out_bias)


@njit(cache=True, nogil=True, error_model="numpy")
def _output(hidden, bias, out_weight, out_bias):
    """f from the sums of the hidden units, which become their sigmoids."""
    for h in range(hidden.shape[0]):
        hidden[h] = _sigmoid(hidden[h] + bias[h])
    total = out_bias[0]
    for h in range(hidden.shape[0]):
        total = fma(hidden[h], out_weight[h], total)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _hidden_sums(x, inputs, used, weight, sums):
    """sums_h = sum over the inputs that are not 0 of x_k W_kh, in the order of the inputs, as in `forward`."""
    sums[:] = _ZERO
    for u in range(used):
        value, row = x[inputs[u]], weight[inputs[u]]
        for h in range(sums.shape[0]):
            sums[h] = fma(value, row[h], sums[h])


@njit(cache=True, nogil=True, error_model="numpy")
def _adagrad(parameter, squares, factor, direction, step):
    """One step of AdaGrad on a row of parameters whose gradient is factor * direction."""
    for h in range(parameter.shape[0]):
        gradient = factor * direction[h]
        total = fma(gradient, gradient, squares[h])
        squares[h] = total
        parameter[h] -= step * gradient * inverse_sqrt(total + _TINY)


@njit(cache=True, nogil=True, error_model="numpy")
def _mean_rate(squares, total):
    """1 / sqrt(G), in the mean over many small gradients that take G from `squares` to `total`."""
    return _TWO / (np.sqrt(squares) + np.sqrt(total) + _TINY)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_reach(squares, factor, direction, square, reach):
    """Add to `reach`, lane by lane, what a push of 1 on a row of parameters moves f by, divided by step."""
    for h in range(squares.shape[0]):
        along = factor * direction[h]
        total = fma(square * along, along, squares[h])
        reach[h] = fma(along * along, _mean_rate(squares[h], total), reach[h])


@njit(cache=True, nogil=True, error_model="numpy")
def _aware_adagrad(parameter, squares, factor, direction, square, push):
    """A push along a row of parameters; G grows by square * direction^2."""
    for h in range(parameter.shape[0]):
        along = factor * direction[h]
        total = fma(square * along, along, squares[h])
        parameter[h] -= push * along * _mean_rate(squares[h], total)
        squares[h] = total


@njit(cache=True, nogil=True, error_model="numpy")
def learn(
    x, y, importance, loss, aware, step, live,
    weight, bias, out_weight, out_bias, weight_g, bias_g, out_weight_g, out_bias_g,
):  # fmt: skip
    """One step of AdaGrad for each example, in order.

    Plainly, its gradient is multiplied by its importance. If `aware`, the step is what that many small ones come to
    (see `importance`), with the directions held fixed. G then grows as by that many gradients like the first: more than
    on the way, where they get smaller, which keeps later steps small, and networks stable at large step sizes.
    Units from `live` on only fill up the last panel: their gradient is 0, so they stay at 0.
    """
    width, units = weight.shape
    hidden, inner, one = np.empty(units, np.float32), np.empty(units, np.float32), np.ones(1, np.float32)
    reach, inputs = np.empty(units, np.float32), np.empty(width + 1, np.int64)
    for i in range(x.shape[0]):
        used = 0
        for k in range(width):
            inputs[used] = k
            used += x[i, k] != _ZERO
        _hidden_sums(x[i], inputs, used, weight, hidden)
        f = _output(hidden, bias, out_weight, out_bias)
        sign = np.float32(y[i])
        margin = sign * f
        pull = -sign * importance[i]
        slope = np.float32(pull / (_ONE + exp(margin)) if loss == LOGISTIC else pull * (_ONE - margin))  # d loss / d f
        lead = _ONE if aware else slope
        for h in range(units):
            hidden[h] = hidden[h] if h < live else _ZERO  # d f / d out_weight
            inner[h] = lead * out_weight[h] * hidden[h] * (_ONE - hidden[h])  # d f / d bias, times what leads
        if not aware:
            _adagrad(out_weight, out_weight_g, slope, hidden, step)
            _adagrad(out_bias, out_bias_g, slope, one, step)
            _adagrad(bias, bias_g, _ONE, inner, step)
            for u in range(used):
                k = inputs[u]
                _adagrad(weight[k], weight_g[k], x[i, k], inner, step)
            continue
        square = slope * np.float32(slope / importance[i])
        reach[:] = _ZERO
        _add_reach(out_weight_g, _ONE, hidden, square, reach)
        _add_reach(out_bias_g, _ONE, one, square, reach)
        _add_reach(bias_g, _ONE, inner, square, reach)
        for u in range(used):
            k = inputs[u]
            _add_reach(weight_g[k], x[i, k], inner, square, reach)
        far = step * reach.sum()
        heavy = importance[i]
        push = logistic_push(margin, heavy, far) if loss == LOGISTIC else squared_push(margin, heavy, far)
        push = np.float32(-sign * step * push)
        _aware_adagrad(out_weight, out_weight_g, _ONE, hidden, square, push)
        _aware_adagrad(out_bias, out_bias_g, _ONE, one, square, push)
        _aware_adagrad(bias, bias_g, _ONE, inner, square, push)
        for u in range(used):
            k = inputs[u]
            _aware_adagrad(weight[k], weight_g[k], x[i, k], inner, square, push)
