"""Products, normalisation, softmax and losses."""
import numpy as np

from values import ints
from .reductions import reduced
from .table import axis_of, operator


@operator("MatMul")
def matmul(c, n):
    a, b = c.value(n, 0), c.value(n, 1)
    c.result(n, a.dtype, np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape, f"tc_matmul({c.tensor(a)}, {c.tensor(b)})")


@operator("Gemm")
def gemm(c, n):
    a, b, bias = (c.value(n, i) for i in range(3))
    left, right = c.tensor(a), c.tensor(b)
    alpha, beta, turned = n.attributes.get("alpha", 1), n.attributes.get("beta", 1), n.attributes.get("transB")
    shape = [a.shape[1 if n.attributes.get("transA") else 0], b.shape[0 if turned else 1]]
    if n.attributes.get("transA"):
        left = f"tc_transpose({left}, 0, 1)"
    text = f"tc_linear({left}, {right}, NULL)" if turned else f"tc_matmul({left}, {right})"
    if alpha != 1:
        text = f"tc_mul_s({text}, {alpha})"
    if bias is not None:
        text = f"tc_add({text}, {c.tensor(bias) if beta == 1 else f'tc_mul_s({c.tensor(bias)}, {beta})'})"
    c.result(n, a.dtype, shape, text)


@operator("Einsum")
def einsum(c, n):
    operands, spec = [c.value(n, i) for i in range(len(n.inputs))], n.attributes["equation"]
    texts, parts = [c.tensor(v) for v in operands], c.identifier("operands")
    c.say(f"const tc_tensor *{parts}[] = {{{', '.join(texts)}}};")
    shape = np.einsum(spec, *(np.zeros(v.shape) for v in operands)).shape
    c.result(n, operands[0].dtype, shape, f'tc_einsum("{spec}", {parts}, {len(operands)})')


@operator("Softmax", "LogSoftmax")
def softmax(c, n):
    x = c.value(n, 0)
    axis = n.attributes.get("axis", -1 if c.version >= 13 else 1)
    function = "tc_softmax" if n.op == "Softmax" else "tc_log_softmax"
    c.result(n, x.dtype, x.shape, f"{function}({c.tensor(x)}, {axis})")


@operator("BatchNormalization")
def batch_norm(c, n):
    x = c.value(n, 0)
    t, scale, bias, mean, var = c.tensors(n)
    eps, keep = n.attributes.get("epsilon", 1e-5), n.attributes.get("momentum", 0.9)
    if not n.attributes.get("training_mode"):
        return c.result(n, x.dtype, x.shape, f"tc_batch_norm({t}, {mean}, {var}, {scale}, {bias}, {eps})")
    axes, here = ints(i for i in range(x.rank) if i != 1), c.declare("mean_of_batch")
    spread = c.temporary("var_of_batch", f"tc_var_mean({t}, {axes}, 0, false, &{here})")
    c.result(n, x.dtype, x.shape, f"tc_batch_norm({t}, {here}, {spread}, {scale}, {bias}, {eps})")
    for i, (old, new) in enumerate(((mean, here), (var, spread))):
        c.result(n, x.dtype, x.shape[1:2], f"tc_lerp({new}, {old}, {keep})", i + 1)
    return None


@operator("InstanceNormalization")
def instance_norm(c, n):
    x = c.value(n, 0)
    t, scale, bias = c.tensors(n)
    c.result(n, x.dtype, x.shape, f"tc_instance_norm({t}, {scale}, {bias}, {n.attributes.get('epsilon', 1e-5)})")


@operator("LayerNormalization")
def layer_norm(c, n):
    x, eps = c.value(n, 0), n.attributes.get("epsilon", 1e-5)
    axis = axis_of(n.attributes.get("axis", -1), x.rank)
    axes, t = range(axis, x.rank), c.tensor(x)
    c.result(n, x.dtype, x.shape, f"tc_layer_norm({t}, {x.rank - axis}, {c.tensor(c.value(n, 1))}, {c.tensor(c.value(n, 2))}, {eps})")
    shape = reduced(x.shape, axes, True)
    c.result(n, x.dtype, shape, f"tc_mean({t}, {ints(axes)}, true)", 1)
    c.result(n, x.dtype, shape, f"tc_rsqrt(tc_add_s(tc_var({t}, {ints(axes)}, 0, true), {eps}))", 2)


@operator("LRN")
def local_response_norm(c, n):
    x, a = c.value(n, 0), n.attributes
    c.result(n, x.dtype, x.shape,
             f"tc_local_response_norm({c.tensor(x)}, {a['size']}, {a.get('alpha', 1e-4)}, {a.get('beta', 0.75)}, {a.get('bias', 1)})")


@operator("MeanVarianceNormalization")
def mean_variance_norm(c, n):
    x, axes = c.value(n, 0), ints(n.attributes.get("axes", [0, 2, 3]))
    t, mean = c.tensor(x), c.declare("mean")
    var = c.temporary("var", f"tc_var_mean({t}, {axes}, 0, true, &{mean})")
    c.result(n, x.dtype, x.shape, f"tc_div(tc_sub({t}, {mean}), tc_add_s(tc_sqrt({var}), 1e-9))")


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(c, n):
    x, target, weight = (c.value(n, i) for i in range(3))
    function = "tc_nll_with" if n.op == "NegativeLogLikelihoodLoss" else "tc_cross_entropy_with"
    fields, reduction = [], n.attributes.get("reduction", "mean")
    if weight is not None:
        fields.append(f".weight = {c.tensor(weight)}")
    if "ignore_index" in n.attributes:
        fields += [".ignores = true", f".ignore_index = {n.attributes['ignore_index']}"]
    options = f"(tc_class_options){{{', '.join(fields) or '0'}}}"
    shape = target.shape if reduction == "none" else []
    c.result(n, x.dtype, shape, f"{function}({c.tensor(x)}, {c.tensor(target)}, {options}, TC_{reduction.upper()})")
    c.result(n, x.dtype, x.shape, f"tc_log_softmax({c.tensor(x)}, 1)", 1)
