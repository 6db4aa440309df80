"""The compiled loops of the network: one hidden layer of sigmoid units, linear outputs, AdaGrad.

    s_h = sigmoid(sum_k x_k W_kh + b_h),   f_o = sum_h s_h V_oh + c_o
    AdaGrad, for each parameter: G += g^2,  parameter -= step * g / sqrt(G)

Two classes have one output, more classes have one output each. With two classes t = y; with more, t_o = 1 for o = y
and -1 for the others. The losses are

    logistic: log(1 + exp(-y f)) / p for two classes, -log softmax_y(f) / p for more
    squared:  sum_o (1 - t_o f_o)^2 / 2p

W has a row for each input; its columns are the units, padded to whole panels (see `blocks`). An input of 0 adds nothing
to a sum, and has gradient 0, which changes neither G nor W. The loops skip such inputs, which saves most of the work on
digits. So rows that are given without their zeros are learned and scored with the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit
from paraactive.data.array_types import Floats, Ints, Labels
from paraactive.learners.network.network_lanes import (
    ROWS,
    TINY_SQUARE,
    VANISHED,
    adagrad_row,
    four_products,
    one_product,
)  # fmt: skip
from paraactive.learners.simd.functions import exp, fma, inverse_sqrt

LOGISTIC, SQUARED = 0, 1
_ONE, _ZERO = np.float32(1), np.float32(0)
_TINY, _VANISHED = np.float32(TINY_SQUARE), np.float32(VANISHED)


@njit(cache=True, nogil=True, error_model="numpy")
def _sigmoid(a: np.float32):
    value = _ONE / (_ONE + exp(-a))
    return _ZERO if value < _VANISHED else value


@njit(cache=True, nogil=True, error_model="numpy")
def _whole_eights(live: int):
    """Return the number of lanes to compute: the live units, rounded up to a multiple of eight."""
    return (live + 7) // 8 * 8


@njit(cache=True, nogil=True, error_model="numpy")
def forward(x: Floats, out: Floats, live: int, weight: Floats, bias: Floats, out_weight: Floats, out_bias: Floats):
    """Set out[i, o] = f_o(x_i).

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        Rows of features.
    out : ndarray of float32, shape (n, outputs)
        Where the scores go.
    live : int
        Number of hidden units, without padding.
    weight, bias, out_weight, out_bias : ndarray of float32
        The parameters W, b, V and c.
    """
    (width, units), lanes = weight.shape, _whole_eights(live)
    hidden, together = np.empty((ROWS, units), np.float32), x.shape[0] - x.shape[0] % ROWS
    some, inputs, values = np.empty(width, np.bool_), np.empty(width + 1, np.int64), np.empty((1, width), np.float32)
    for row in range(0, together, ROWS):
        used = _list_together(x, row, some, inputs)
        four_products(x, row, inputs, used, weight, lanes, hidden)
        _outputs(hidden, lanes, bias, out_weight, out_bias, out[row : row + ROWS])
    for row in range(together, x.shape[0]):
        used = _list(x[row], inputs, values[0])
        one_product(values, inputs, used, weight, lanes, hidden)
        _outputs(hidden, lanes, bias, out_weight, out_bias, out[row : row + 1])


@njit(cache=True, nogil=True, error_model="numpy")
def forward_sparse(
    data: Floats, indices: NDArray[np.int32], indptr: Ints, out: Floats, live: int, weight: Floats, bias: Floats,
    out_weight: Floats, out_bias: Floats,
):  # fmt: skip
    """See `forward`. Sparse rows are given by their values, their features, and where each row begins."""
    (width, units), lanes = weight.shape, _whole_eights(live)
    hidden = np.empty((1, units), np.float32)
    inputs, values = np.empty(width, np.int64), np.empty((1, width), np.float32)
    for row in range(out.shape[0]):
        used = _copy(data, indices, indptr[row], indptr[row + 1], inputs, values[0])
        one_product(values, inputs, used, weight, lanes, hidden)
        _outputs(hidden, lanes, bias, out_weight, out_bias, out[row : row + 1])


@njit(cache=True, nogil=True, error_model="numpy")
def _list(x: Floats, inputs: Ints, values: Floats):
    """List the inputs that are not 0, and return their number; `inputs` has one place more than a row has."""
    used = 0
    for k in range(x.shape[0]):
        inputs[used] = k
        used += x[k] != _ZERO
    for u in range(used):
        values[u] = x[inputs[u]]
    return used


@njit(cache=True, nogil=True, error_model="numpy")
def _list_together(x: Floats, row: int, some: NDArray[np.bool_], inputs: Ints):
    """List the inputs that are not 0 in any of four rows, and return their number."""
    a, b, c, d = x[row], x[row + 1], x[row + 2], x[row + 3]
    for k in range(some.shape[0]):
        some[k] = (a[k] != _ZERO) | (b[k] != _ZERO) | (c[k] != _ZERO) | (d[k] != _ZERO)
    used = 0
    for k in range(some.shape[0]):
        inputs[used] = k
        used += some[k]
    return used


@njit(cache=True, nogil=True, error_model="numpy")
def _copy(data: Floats, indices: NDArray[np.int32], first: int, last: int, inputs: Ints, values: Floats):
    """Copy the inputs of a sparse row, and return their number."""
    for u in range(last - first):
        inputs[u], values[u] = indices[first + u], data[first + u]
    return last - first


@njit(cache=True, nogil=True, error_model="numpy")
def _outputs(hidden: Floats, lanes: int, bias: Floats, out_weight: Floats, out_bias: Floats, out: Floats):
    """Turn the sums of the hidden units into sigmoids, and set out[r, o] = f_o for each row."""
    rows = out.shape[0]
    for r in range(rows):
        for h in range(lanes):
            hidden[r, h] = _sigmoid(hidden[r, h] + bias[h])
    for o in range(out.shape[1]):
        start = out_bias[o]
        if rows == ROWS:
            # The additions of one chain wait for each other: four chains run side by side.
            a, b, c, d = start, start, start, start
            for h in range(lanes):
                across = out_weight[o, h]
                a, b = fma(hidden[0, h], across, a), fma(hidden[1, h], across, b)
                c, d = fma(hidden[2, h], across, c), fma(hidden[3, h], across, d)
            out[0, o], out[1, o], out[2, o], out[3, o] = a, b, c, d
        else:
            for r in range(rows):
                total = start
                for h in range(lanes):
                    total = fma(hidden[r, h], out_weight[o, h], total)
                out[r, o] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _sign(label: int, o: int, outputs: int):
    """Return the target of output o: the label for two classes; for more, +1 for the label's output, else -1."""
    return np.float32(label) if outputs == 1 else (_ONE if o == label else -_ONE)


@njit(cache=True, nogil=True, error_model="numpy")
def _slopes(f: Floats, label: int, importance: np.float32, loss: int, slopes: Floats):
    """Set slopes[o] = d loss / d f_o."""
    if loss == LOGISTIC and f.shape[0] > 1:
        _softmax_slopes(f, label, importance, slopes)
        return
    for o in range(f.shape[0]):
        sign = _sign(label, o, f.shape[0])
        margin = sign * f[o]
        pull = -sign * importance
        slopes[o] = pull / (_ONE + exp(margin)) if loss == LOGISTIC else pull * (_ONE - margin)


@njit(cache=True, nogil=True, error_model="numpy")
def _softmax_slopes(f: Floats, label: int, importance: np.float32, slopes: Floats):
    """Set slopes[o] = importance * (softmax_o(f) - [o is the label])."""
    top, others = f[0], _ZERO
    for o in range(f.shape[0]):
        top = max(top, f[o])
    for o in range(f.shape[0]):
        slopes[o] = exp(f[o] - top)
        others += _ZERO if o == label else slopes[o]
    scale = importance / (others + slopes[label])
    # Not softmax - 1, which loses all digits where the softmax is nearly 1.
    slopes[label] = -others
    for o in range(f.shape[0]):
        slopes[o] = scale * slopes[o]


@njit(cache=True, nogil=True, error_model="numpy")
def _inner(slopes: Floats, out_weight: Floats, hidden: Floats, inner: Floats):
    """Set inner_h = sum_o slope_o d f_o / d bias_h."""
    for h in range(inner.shape[0]):
        inner[h] = slopes[0] * out_weight[0, h]
    for o in range(1, slopes.shape[0]):
        for h in range(inner.shape[0]):
            inner[h] = fma(slopes[o], out_weight[o, h], inner[h])
    for h in range(inner.shape[0]):
        value = inner[h] * hidden[h] * (_ONE - hidden[h])
        inner[h] = _ZERO if abs(value) < _VANISHED else value


@njit(cache=True, nogil=True, error_model="numpy")
def _adagrad(parameter: Floats, squares: Floats, gradients: Floats, step: np.float32):
    """Take one step of AdaGrad on a few parameters."""
    for h in range(parameter.shape[0]):
        gradient = _ZERO if abs(gradients[h]) < _VANISHED else gradients[h]
        total = fma(gradient, gradient, squares[h])
        squares[h] = total
        parameter[h] -= step * gradient * inverse_sqrt(total + _TINY)


@njit(cache=True, nogil=True, error_model="numpy")
def learn(
    x: Floats, y: Labels, importance: Floats, loss: int, step: np.float32, live: int, weight: Floats, bias: Floats,
    out_weight: Floats, out_bias: Floats, weight_g: Floats, bias_g: Floats, out_weight_g: Floats, out_bias_g: Floats,
):  # fmt: skip
    """Take one step of AdaGrad for each example, in order, on its gradient times its importance.

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        Rows of features.
    y, importance : ndarray of int8 and float64, shape (n,)
        Label (-1 or 1 for two classes, otherwise the class number) and weight of each example.
    loss : int
        `LOGISTIC` or `SQUARED`.
    step : float32
        Step size of AdaGrad.
    live : int
        Number of hidden units. Units from `live` on pad the last panel: their gradient is 0, their weights stay 0.
    weight, bias, out_weight, out_bias : ndarray of float32
        The parameters W, b, V and c.
    weight_g, bias_g, out_weight_g, out_bias_g : ndarray of float32
        AdaGrad's sum of squares G for each parameter.
    """
    width = weight.shape[0]
    inputs, values = np.empty(width + 1, np.int64), np.empty((1, width), np.float32)
    for i in range(x.shape[0]):
        used = _list(x[i], inputs, values[0])
        _step(
            values, inputs, used, y[i], importance[i], loss, step, live,
            weight, bias, out_weight, out_bias, weight_g, bias_g, out_weight_g, out_bias_g,
        )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def learn_sparse(
    data: Floats, indices: NDArray[np.int32], indptr: Ints, y: Labels, importance: Floats, loss: int, step: np.float32,
    live: int, weight: Floats, bias: Floats, out_weight: Floats, out_bias: Floats, weight_g: Floats, bias_g: Floats,
    out_weight_g: Floats, out_bias_g: Floats,
):  # fmt: skip
    """Take one step of AdaGrad for each sparse example, in order.

    Parameters
    ----------
    data, indices, indptr : ndarray of float32, int32 and int64
        Values and features of sparse rows, and where each row begins.
    y, importance : ndarray of int8 and float64, shape (n,)
        Label (-1 or 1 for two classes, otherwise the class number) and weight of each example.
    loss : int
        `LOGISTIC` or `SQUARED`.
    step : float32
        Step size of AdaGrad.
    live : int
        Number of hidden units, without padding.
    weight, bias, out_weight, out_bias : ndarray of float32
        The parameters W, b, V and c.
    weight_g, bias_g, out_weight_g, out_bias_g : ndarray of float32
        AdaGrad's sum of squares G for each parameter.
    """
    width = weight.shape[0]
    inputs, values = np.empty(width, np.int64), np.empty((1, width), np.float32)
    for i in range(y.shape[0]):
        used = _copy(data, indices, indptr[i], indptr[i + 1], inputs, values[0])
        _step(
            values, inputs, used, y[i], importance[i], loss, step, live,
            weight, bias, out_weight, out_bias, weight_g, bias_g, out_weight_g, out_bias_g,
        )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _step(
    values: Floats, inputs: Ints, used: int, label: int, importance: np.float32, loss: int, step: np.float32, live:
    int, weight: Floats, bias: Floats, out_weight: Floats, out_bias: Floats, weight_g: Floats, bias_g: Floats,
    out_weight_g: Floats, out_bias_g: Floats,
):  # fmt: skip
    """Take one step on an example whose inputs are listed."""
    lanes, outputs = _whole_eights(live), out_bias.shape[0]
    sums, inner = np.empty((1, weight.shape[1]), np.float32), np.empty(lanes, np.float32)
    f, slopes = np.empty((1, outputs), np.float32), np.empty(outputs, np.float32)
    hidden = sums[0, :lanes]
    one_product(values, inputs, used, weight, lanes, sums)
    _outputs(sums, lanes, bias, out_weight, out_bias, f)
    _slopes(f[0], label, importance, loss, slopes)
    hidden[live:] = _ZERO  # d f / d out_weight
    _inner(slopes, out_weight, hidden, inner)
    for o in range(outputs):
        adagrad_row(out_weight, out_weight_g, o, slopes[o], hidden, step, lanes)
    _adagrad(out_bias, out_bias_g, slopes, step)
    _adagrad(bias[:lanes], bias_g[:lanes], inner, step)
    for u in range(used):
        adagrad_row(weight, weight_g, inputs[u], values[0, u], inner, step, lanes)


@njit(cache=True, nogil=True, error_model="numpy")
def learn_together(
    x: Floats, y: Labels, importance: Floats, loss: int, step: np.float32, live: int, weight: Floats, bias: Floats,
    out_weight: Floats, out_bias: Floats, weight_g: Floats, bias_g: Floats, out_weight_g: Floats, out_bias_g: Floats,
):  # fmt: skip
    """See `learn`. Here one step is taken on the sum of all gradients, each times the importance of its example."""
    (width, units), rows, lanes = weight.shape, x.shape[0], _whole_eights(live)
    inputs, values = np.empty(width + 1, np.int64), np.empty((1, width), np.float32)
    hidden, columns = np.empty((rows, units), np.float32), np.zeros((width + ROWS, rows), np.float32)
    place, known, listed = np.full(width, -1), np.empty(width, np.int64), 0
    for i in range(rows):
        used = _list(x[i], inputs, values[0])
        listed = _add_to_columns(values[0], inputs, used, columns[:, i], place, known, listed)
        one_product(values, inputs, used, weight, lanes, hidden[i : i + 1])
    _step_together(
        hidden, columns, known, listed, y, importance, loss, step, live,
        weight, bias, out_weight, out_bias, weight_g, bias_g, out_weight_g, out_bias_g,
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def learn_together_sparse(
    data: Floats, indices: NDArray[np.int32], indptr: Ints, y: Labels, importance: Floats, loss: int, step: np.float32,
    live: int, weight: Floats, bias: Floats, out_weight: Floats, out_bias: Floats, weight_g: Floats, bias_g: Floats,
    out_weight_g: Floats, out_bias_g: Floats,
):  # fmt: skip
    """See `learn_sparse`. Here one step is taken on the sum of all gradients."""
    (width, units), rows, lanes = weight.shape, y.shape[0], _whole_eights(live)
    inputs, values = np.empty(width, np.int64), np.empty((1, width), np.float32)
    most = min(width, indptr[rows] - indptr[0])
    hidden, columns = np.empty((rows, units), np.float32), np.zeros((most + ROWS, rows), np.float32)
    place, known, listed = np.full(width, -1), np.empty(most, np.int64), 0
    for i in range(rows):
        used = _copy(data, indices, indptr[i], indptr[i + 1], inputs, values[0])
        listed = _add_to_columns(values[0], inputs, used, columns[:, i], place, known, listed)
        one_product(values, inputs, used, weight, lanes, hidden[i : i + 1])
    _step_together(
        hidden, columns, known, listed, y, importance, loss, step, live,
        weight, bias, out_weight, out_bias, weight_g, bias_g, out_weight_g, out_bias_g,
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _add_to_columns(values: Floats, inputs: Ints, used: int, column: Floats, place: Ints, known: Ints, listed: int):
    """Add an example's inputs to the columns of a minibatch, and return the number of inputs that any example has."""
    for u in range(used):
        k = inputs[u]
        if place[k] < 0:
            place[k], known[listed] = listed, k
            listed += 1
        column[place[k]] = values[u]
    return listed


@njit(cache=True, nogil=True, error_model="numpy")
def _step_together(
    hidden: Floats, columns: Floats, known: Ints, listed: int, y: Labels, importance: Floats, loss: int, step:
    np.float32, live: int, weight: Floats, bias: Floats, out_weight: Floats, out_bias: Floats, weight_g: Floats,
    bias_g: Floats, out_weight_g: Floats, out_bias_g: Floats,
):  # fmt: skip
    """Take one step on examples whose hidden sums are known; row u of `columns` has their inputs known[u].

    The gradients are products too: of the inputs, or of the slopes, of all examples with their `inner` or `hidden`.
    """
    rows, outputs, lanes = y.shape[0], out_bias.shape[0], _whole_eights(live)
    f, own_slopes = np.empty((1, outputs), np.float32), np.empty(outputs, np.float32)
    slopes, inner = np.zeros((outputs + ROWS, rows), np.float32), np.zeros(hidden.shape, np.float32)
    for i in range(rows):
        _outputs(hidden[i : i + 1], lanes, bias, out_weight, out_bias, f)
        _slopes(f[0], y[i], importance[i], loss, own_slopes)
        hidden[i, live:lanes] = _ZERO  # d f / d out_weight
        _inner(own_slopes, out_weight, hidden[i, :lanes], inner[i, :lanes])
        slopes[:outputs, i] = own_slopes
    examples, ones = np.arange(rows), np.ones((ROWS, rows), np.float32)
    gradients = np.empty((ROWS, hidden.shape[1]), np.float32)
    for o in range(0, outputs, ROWS):
        four_products(slopes, o, examples, rows, hidden, lanes, gradients)
        for r in range(min(ROWS, outputs - o)):
            adagrad_row(out_weight, out_weight_g, o + r, _ONE, gradients[r], step, lanes)
    for o in range(outputs):
        own_slopes[o] = _ZERO
        for i in range(rows):
            own_slopes[o] += slopes[o, i]
    _adagrad(out_bias, out_bias_g, own_slopes, step)
    four_products(ones, 0, examples, rows, inner, lanes, gradients)
    _adagrad(bias[:lanes], bias_g[:lanes], gradients[0], step)
    for u in range(0, listed, ROWS):
        four_products(columns, u, examples, rows, inner, lanes, gradients)
        for r in range(min(ROWS, listed - u)):
            adagrad_row(weight, weight_g, known[u + r], _ONE, gradients[r], step, lanes)
