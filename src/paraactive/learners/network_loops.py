"""The hot loops of the network: one hidden layer of sigmoid units, linear outputs, AdaGrad.

    s_h = sigmoid(sum_k x_k W_kh + b_h),   f_o = sum_h s_h V_oh + c_o
    AdaGrad, for each parameter: G += g^2,  parameter -= step * g / sqrt(G)

Two classes have one output, more have one each. With t = y of two classes, and of more t_o = 1 for o = y and -1 for the
others, the losses are

    logistic: log(1 + exp(-y f)) / p of two classes, -log softmax_y(f) / p of more;  squared: sum_o (1 - t_o f_o)^2 / 2p

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
    """out[i, o] = f_o(x_i)."""
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
            _outputs(hidden[r], bias, out_weight, out_bias, out[row + r])


@njit(cache=True, nogil=True, error_model="numpy")
def _outputs(hidden, bias, out_weight, out_bias, out):
    """out[o] = f_o from the sums of the hidden units, which become their sigmoids."""
    for h in range(hidden.shape[0]):
        hidden[h] = _sigmoid(hidden[h] + bias[h])
    for o in range(out.shape[0]):
        total = out_bias[o]
        for h in range(hidden.shape[0]):
            total = fma(hidden[h], out_weight[o, h], total)
        out[o] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _sign(label, o, outputs):
    """What output o should be: the label itself of two classes, +1 for the label's output and -1 for others of more."""
    return np.float32(label) if outputs == 1 else (_ONE if o == label else -_ONE)


@njit(cache=True, nogil=True, error_model="numpy")
def _slopes(f, label, importance, loss, slopes):
    """slopes[o] = d loss / d f_o."""
    if loss == LOGISTIC and f.shape[0] > 1:
        _softmax_slopes(f, label, importance, slopes)
        return
    for o in range(f.shape[0]):
        sign = _sign(label, o, f.shape[0])
        margin = sign * f[o]
        pull = -sign * importance
        slopes[o] = pull / (_ONE + exp(margin)) if loss == LOGISTIC else pull * (_ONE - margin)


@njit(cache=True, nogil=True, error_model="numpy")
def _softmax_slopes(f, label, importance, slopes):
    """softmax_o(f), less 1 for the label, times the importance."""
    top, others = f[0], _ZERO
    for o in range(f.shape[0]):
        top = max(top, f[o])
    for o in range(f.shape[0]):
        slopes[o] = exp(f[o] - top)
        others += _ZERO if o == label else slopes[o]
    scale = importance / (others + slopes[label])
    # Not softmax - 1, which has no digits left where the softmax is nearly 1.
    slopes[label] = -others
    for o in range(f.shape[0]):
        slopes[o] = scale * slopes[o]


@njit(cache=True, nogil=True, error_model="numpy")
def _hidden_sums(x, inputs, used, weight, sums):
    """sums_h = sum over the inputs that are not 0 of x_k W_kh, in the order of the inputs, as in `forward`."""
    sums[:] = _ZERO
    for u in range(used):
        value, row = x[inputs[u]], weight[inputs[u]]
        for h in range(sums.shape[0]):
            sums[h] = fma(value, row[h], sums[h])


@njit(cache=True, nogil=True, error_model="numpy")
def _inner(lead, out_weight, hidden, inner):
    """inner_h = sum_o lead_o d f_o / d bias_h."""
    for h in range(inner.shape[0]):
        inner[h] = lead[0] * out_weight[0, h]
    for o in range(1, lead.shape[0]):
        for h in range(inner.shape[0]):
            inner[h] = fma(lead[o], out_weight[o, h], inner[h])
    for h in range(inner.shape[0]):
        inner[h] = inner[h] * hidden[h] * (_ONE - hidden[h])


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
    on the way, where they get smaller, which keeps later steps small, and networks stable at large step sizes. This is
    for one output: with several, their ways hang together and have no closed form.
    Units from `live` on only fill up the last panel: their gradient is 0, so they stay at 0.
    """
    (width, units), outputs = weight.shape, out_bias.shape[0]
    hidden, inner, one = np.empty(units, np.float32), np.empty(units, np.float32), np.ones(1, np.float32)
    f, slopes = np.empty(outputs, np.float32), np.empty(outputs, np.float32)
    reach, inputs = np.empty(units, np.float32), np.empty(width + 1, np.int64)
    for i in range(x.shape[0]):
        used = 0
        for k in range(width):
            inputs[used] = k
            used += x[i, k] != _ZERO
        _hidden_sums(x[i], inputs, used, weight, hidden)
        _outputs(hidden, bias, out_weight, out_bias, f)
        _slopes(f, y[i], importance[i], loss, slopes)
        for h in range(units):
            hidden[h] = hidden[h] if h < live else _ZERO  # d f / d out_weight
        _inner(one if aware else slopes, out_weight, hidden, inner)
        if not aware:
            for o in range(outputs):
                _adagrad(out_weight[o], out_weight_g[o], slopes[o], hidden, step)
            _adagrad(out_bias, out_bias_g, _ONE, slopes, step)
            _adagrad(bias, bias_g, _ONE, inner, step)
            for u in range(used):
                k = inputs[u]
                _adagrad(weight[k], weight_g[k], x[i, k], inner, step)
            continue
        slope, sign = slopes[0], np.float32(y[i])
        margin = sign * f[0]
        square = slope * np.float32(slope / importance[i])
        reach[:] = _ZERO
        _add_reach(out_weight_g[0], _ONE, hidden, square, reach)
        _add_reach(out_bias_g, _ONE, one, square, reach)
        _add_reach(bias_g, _ONE, inner, square, reach)
        for u in range(used):
            k = inputs[u]
            _add_reach(weight_g[k], x[i, k], inner, square, reach)
        far = step * reach.sum()
        heavy = importance[i]
        push = logistic_push(margin, heavy, far) if loss == LOGISTIC else squared_push(margin, heavy, far)
        push = np.float32(-sign * step * push)
        _aware_adagrad(out_weight[0], out_weight_g[0], _ONE, hidden, square, push)
        _aware_adagrad(out_bias, out_bias_g, _ONE, one, square, push)
        _aware_adagrad(bias, bias_g, _ONE, inner, square, push)
        for u in range(used):
            k = inputs[u]
            _aware_adagrad(weight[k], weight_g[k], x[i, k], inner, square, push)
