"""nn_expected.py > nn_expected.h: what PyTorch gives for the rows of nn_*.c, in float64: shapes of results, and digests of
results and of gradients (nn.h says of which numbers).  A function of PyTorch, or the formula where it has none.
Needs PyTorch (2.15 made the file); the tests do not."""
import math

import torch
import torch.nn.functional as F

F64 = torch.float64
SUBJECTS = {}
INF = math.inf


def element(kind, bound, operand, k):
    m = k * 7919 + operand * 1031 + 17
    v = (m % 1009) / 256 - 2
    return {"f": v, "p": 0.25 + abs(v) / 2, "u": (v + 2.02) / 4, "s": 1.0 if m % 1009 % 2 else -1.0,
            "b": m % 1009 % 3 != 0, "i": m % 1009 % bound if bound else 0}[kind]


def digest(t):
    t = t.detach().double().flatten()
    k = torch.arange(t.numel(), dtype=F64)
    return [float((t * torch.cos(1 + k)).sum()), float((t * torch.cos(0.7 + 1.3 * k)).sum())]


def parse(text):
    """"f:2,3" or "i7:2,3" """
    head, _, dims = text.partition(":")
    return head[0], int(head[1:] or 0), tuple(int(d) for d in dims.split(",") if d)


def rows(subject, name, function, *shapes):
    """The function, of tensors, for each list of operands; those that are floating have gradients, but for the last ones
    behind a '/'."""
    for operands in shapes:
        constants = operands.index("/") if "/" in operands else len(operands)
        parsed = [parse(o) for o in operands if o != "/"]
        x = []
        for i, (kind, bound, dims) in enumerate(parsed):
            dtype = {"i": torch.int64, "b": torch.bool}.get(kind, F64)
            t = torch.tensor([element(kind, bound, i, k) for k in range(math.prod(dims))], dtype=dtype).reshape(dims)
            x.append(t.requires_grad_() if dtype == F64 and i < constants else t)
        y = function(*x)
        grads = {}
        leaves = [i for i, t in enumerate(x) if t.requires_grad]
        if leaves and y.requires_grad:
            weights = torch.cos(1 + torch.arange(y.numel(), dtype=F64)).reshape(y.shape)
            grads = dict(zip(leaves, torch.autograd.grad((y * weights).sum(), [x[i] for i in leaves])))
        SUBJECTS.setdefault(subject, []).append((name, parsed, tuple(y.shape), digest(y), [
            digest(grads[i]) if i in grads else [0.0, 0.0] for i in range(len(x))]))


def show(dims):
    return "{" + ", ".join(map(str, dims)) + "}" if dims else "{0}"


def numbers(v):
    return "{" + ", ".join(f"{x:.14g}" for x in v) + "}"


# ---- attention ------------------------------------------------------------------------------------------------------

def attention(q, k, v, causal=False, offset=0, window=0, lengths=None, mask=None, bias=None, slopes=None, softcap=0, scale=None):
    groups = q.shape[-3] // k.shape[-3]
    k, v = k.repeat_interleave(groups, -3), v.repeat_interleave(groups, -3)
    s = q @ k.transpose(-2, -1) * (scale or 1 / math.sqrt(q.shape[-1]))
    query, key = offset + torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    if bias is not None:
        s = s + bias
    if slopes is not None:
        s = s + slopes[:, None, None] * (key - query)
    hidden = torch.zeros(s.shape, dtype=torch.bool)
    if causal:
        hidden = hidden | (key > query)
    if window:
        hidden = hidden | (abs(key - query) >= window)
    if lengths is not None:
        hidden = hidden | (key >= lengths[:, None, None, None])
    if mask is not None:
        hidden = hidden | ~mask
    return torch.softmax(s.masked_fill(hidden, -INF), -1) @ v


def window(q, k, size):
    query, key = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])
    return (key <= query) & (key > query - size)


def rows_but(t, *left_out):
    return ~torch.isin(torch.arange(t), torch.tensor(left_out))[:, None]


def rope(x, cos, sin, interleaved):
    if interleaved:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def qkv(b, h, g, t, s, d, e):
    return [f"f:{b},{h},{t},{d}", f"f:{b},{g},{s},{d}", f"f:{b},{g},{s},{e}"]


same = [qkv(1, 2, 2, 5, 5, 8, 8), qkv(2, 3, 3, 7, 9, 4, 5), qkv(1, 1, 1, 33, 41, 16, 3), qkv(0, 2, 2, 3, 4, 8, 8)]
square = [qkv(1, 2, 2, 5, 5, 8, 8), qkv(2, 1, 1, 37, 37, 6, 3)]
rows("attention", "plain", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), *same)
rows("attention", "scaled", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3), *same)
rows("attention", "causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *square)
rows("attention", "late", lambda q, k, v: attention(q, k, v, causal=True, offset=k.shape[-2] - q.shape[-2], window=6), *same)
rows("attention", "local", lambda q, k, v: attention(q, k, v, window=3), *square)
rows("attention", "grouped", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True),
     qkv(2, 6, 2, 7, 7, 8, 5), qkv(1, 6, 2, 1, 1, 3, 3))
rows("attention", "shared", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
     qkv(2, 4, 1, 7, 9, 8, 5), qkv(1, 4, 1, 40, 3, 3, 3))
rows("attention", "masked", lambda q, k, v, bias, mask: attention(q, k, v, mask=mask, bias=bias),
     qkv(2, 3, 3, 7, 9, 4, 5) + ["f:3,1,9", "b:2,1,7,9"])
rows("attention", "capped", lambda q, k, v, slopes, lengths: attention(q, k, v, softcap=2.5, slopes=slopes, lengths=lengths + 1),
     qkv(2, 3, 3, 7, 9, 4, 5) + ["p:3", "i8:2"])
rows("attention", "padded", lambda q, k, v, mask: F.scaled_dot_product_attention(
    q, k, v, mask & (torch.arange(9) >= 2) & rows_but(7, 1, 3)),
     ["f:2,3,7,4", "f:2,3,9,4", "f:2,3,9,5", "b:2,1,7,9"])
rows("attention", "shorter", lambda q, k, v, n: F.scaled_dot_product_attention(q, k, v, window(q, k, 4) & (torch.arange(k.shape[-2]) < n[:, None, None, None])), ["f:3,2,7,4", "f:3,2,9,4", "f:3,2,9,5", "/", "i5:3"])
rows("attention", "images", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), ["f:5,4", "f:9,4", "f:9,3"])
rows("attention", "rope_halves", lambda x, cos, sin: rope(x, cos, sin, False), ["f:2,3,5,8", "f:5,4", "f:5,4"])
rows("attention", "rope_pairs", lambda x, cos, sin: rope(x, cos, sin, True), ["f:2,3,5,8", "f:5,4", "f:5,4"], ["f:1,1,1,2", "f:1,1", "f:1,1"])

# ---- pooling ----------------------------------------------------------------------------------------------------------

def repeated(x, times=2):
    """Each element twice along the last axis: extrema come in pairs."""
    return x.repeat_interleave(times, -1)


planes = (["f:2,3,9,20"], ["f:1,2,7,8"], ["f:2,1,12,5"], ["f:0,3,9,8"])
lines = (["f:2,3,13"], ["f:1,1,8"], ["f:1,2,40"])
rows("pool", "max_image", lambda x: F.max_pool2d(x, 3, 2, 1), *planes)
rows("pool", "max_no_index", lambda x: F.max_pool2d(x, 3, 2, 1), *planes)
rows("pool", "max_ties", lambda x: F.max_pool2d(repeated(x), 3, 1, 1), *planes)
rows("pool", "max_line", lambda x: F.max_pool1d(x, 3, 2, 1, 2), *lines)
rows("pool", "max_ceil", lambda x: F.max_pool2d(x, (3, 2), (2, 3), (1, 0), (2, 1), ceil_mode=True), *planes)
rows("pool", "max_volume", lambda x: F.max_pool3d(x, 2), ["f:1,2,4,5,6"], ["f:2,1,2,2,9"])
rows("pool", "max_index", lambda x: F.max_pool2d(x, (3, 2), (2, 2), (1, 1), (1, 2), ceil_mode=True, return_indices=True)[1].double(),
     *planes[:3])
rows("pool", "max_index_volume", lambda x: F.max_pool3d(repeated(x), 2, 1, 1, return_indices=True)[1].double(), ["f:1,2,4,5,3"])
rows("pool", "unpool", lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=x.shape[2:]),
     *planes[:3])
rows("pool", "avg_image", lambda x: F.avg_pool2d(x, 3, 2, 1), *planes)
rows("pool", "avg_inside", lambda x: F.avg_pool2d(x, (3, 4), (2, 3), (1, 2), count_include_pad=False), *planes)
rows("pool", "avg_ceil", lambda x: F.avg_pool2d(x, (3, 2), (2, 3), (1, 1), ceil_mode=True), *planes)
rows("pool", "avg_ceil_inside", lambda x: F.avg_pool1d(x, 3, 4, 1, ceil_mode=True, count_include_pad=False), *lines)
rows("pool", "avg_volume", lambda x: F.avg_pool3d(x, 2, 1, 1), ["f:1,2,4,5,6"])
rows("pool", "lp_image", lambda x: F.lp_pool2d(x, 2, (2, 3), 2), *planes[:3])
rows("pool", "lp_line", lambda x: F.lp_pool1d(x, 3, 3, 2, ceil_mode=True), ["p:2,3,13"], ["p:1,1,8"])
rows("pool", "adaptive_avg", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), *planes)
rows("pool", "adaptive_one", lambda x: F.adaptive_avg_pool2d(x, 1), *planes)
rows("pool", "adaptive_line", lambda x: F.adaptive_avg_pool1d(x, 5), *lines, ["f:1,1,3"])
rows("pool", "adaptive_max", lambda x: F.adaptive_max_pool2d(x, (3, 4)), *planes)

# ---- normalisation ----------------------------------------------------------------------------------------------------

def running(x, mean, var):
    mean, var = mean.clone(), var.clone()
    F.batch_norm(x, mean, var, training=True, momentum=0.3)
    return torch.cat([mean, var])


images = (["f:3,6,5,7", "f:6", "f:6"], ["f:1,6,1,9", "f:6", "f:6"], ["f:2,6,20,21", "f:6", "f:6"])
rows("norm", "batch", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True, eps=1e-3), *images)
rows("norm", "batch_rows", lambda x: F.batch_norm(x, None, None, training=True), ["f:7,5"])
rows("norm", "batch_running", running, ["f:3,6,5,7", "/", "f:6", "p:6"])
rows("norm", "group", lambda x, w, b: F.group_norm(x, 3, w, b, 1e-4), *images, ["f:0,6,5,7", "f:6", "f:6"])
rows("norm", "group_rows", lambda x: F.group_norm(x, 2), ["f:5,8"])
rows("norm", "instance", lambda x, w, b: F.instance_norm(x, None, None, w, b), images[0], images[2])
rows("norm", "response", lambda x: F.local_response_norm(x, 4, 0.2, 0.6, 1.5), ["f:2,6,5,7"], ["f:1,2,9,3"], ["f:0,6,5,7"])
rows("norm", "weight", lambda v, g: torch._weight_norm(v, g, 0), ["f:5,4,3", "f:5,1,1"])
rows("norm", "weight_last", lambda v, g: torch._weight_norm(v, g, 1), ["f:5,4", "f:1,4"])
rows("norm", "layer", lambda x, w, b: F.layer_norm(x, x.shape[1:], w, b), ["f:3,5,7", "f:5,7", "f:5,7"])
rows("norm", "rms", lambda x, w: F.rms_norm(x, x.shape[1:], w, 1e-5), ["f:5,7", "f:7"])

# ---- losses -----------------------------------------------------------------------------------------------------------

def focal(x, t):
    p, ce = torch.sigmoid(x), F.binary_cross_entropy_with_logits(x, t, reduction="none")
    return ((0.3 * t + 0.7 * (1 - t)) * ce * (1 - (p * t + (1 - p) * (1 - t))) ** 2).mean()


both = (["f:5,7", "f:5,7"], ["f:3,1", "f:3,1"])
signed = (["f:5,7", "/", "s:5,7"], ["f:13,1", "/", "s:13,1"])
rows("loss", "l1_none", lambda x, t: F.l1_loss(x, t, reduction="none"), *both)
rows("loss", "l1_empty", lambda x, t: F.l1_loss(x, t, reduction="sum"), ["f:0,7", "f:0,7"])
rows("loss", "smooth", lambda x, t: F.smooth_l1_loss(x, t, beta=0.7), *both)
rows("loss", "huber", lambda x, t: F.huber_loss(x, t, delta=0.7, reduction="sum"), *both)
rows("loss", "bce", lambda x, t, w: F.binary_cross_entropy(x, t, w), ["u:5,7", "u:5,7", "/", "p:7"])
rows("loss", "bce_logits", lambda x, t, w, p: F.binary_cross_entropy_with_logits(x, t, w, pos_weight=p),
     ["f:5,7", "u:5,7", "/", "p:7", "p:7"])
rows("loss", "bce_logits_plain", lambda x, t: F.binary_cross_entropy_with_logits(x, t), ["f:5,7", "u:5,7"])
rows("loss", "focal", focal, ["f:5,7", "u:5,7"])
rows("loss", "kl", lambda x, t: F.kl_div(x, t, reduction="sum"), ["f:5,7", "u:5,7"])
rows("loss", "kl_log", lambda x, t: F.kl_div(x, t, log_target=True, reduction="none").mean(), *both)
rows("loss", "poisson", lambda x, t: F.poisson_nll_loss(x, t * 3, full=True), ["f:5,7", "/", "u:5,7"])
rows("loss", "poisson_rate", lambda x, t: F.poisson_nll_loss(x, t, log_input=False, eps=1e-3), ["p:5,7", "/", "u:5,7"])
rows("loss", "gaussian", lambda x, t, v: F.gaussian_nll_loss(x, t, v, full=True), ["f:5,7", "f:5,7", "p:5,7"])
rows("loss", "entropy", lambda x, t: F.cross_entropy(x, t), ["f:9,5", "i5:9"], ["f:2,70", "i70:2"])
rows("loss", "entropy_weighted", lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.2, ignore_index=2),
     ["f:9,5", "i5:9", "/", "p:5"], ["f:40,3", "i3:40", "/", "p:3"])
rows("loss", "entropy_images", lambda x, t, w: F.cross_entropy(x, t, w, reduction="none", label_smoothing=0.1, ignore_index=1),
     ["f:2,5,4,3", "i5:2,4,3", "/", "p:5"])
rows("loss", "entropy_one", lambda x, t: F.cross_entropy(x, t[()], reduction="sum"), ["f:5", "i5:"])
rows("loss", "entropy_soft", lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1), ["f:9,5", "u:9,5", "/", "p:5"])
rows("loss", "entropy_padded", lambda x, t: F.cross_entropy(x, torch.where(t == 0, -100, t), reduction="sum"), ["f:9,5", "i5:9"])
rows("loss", "nll", lambda x, t, w: F.nll_loss(x, t, w, ignore_index=0), ["f:9,5", "i5:9", "/", "p:5"])
rows("loss", "multi_margin", lambda x, t: F.multi_margin_loss(x, t, 2, 0.6), ["f:9,5", "i5:9"])
rows("loss", "hinge", lambda x, t: F.hinge_embedding_loss(x, t, 0.8), *signed)
rows("loss", "ranking", lambda a, b, t: F.margin_ranking_loss(a, b, t, 0.3), ["f:41", "f:41", "/", "s:41"])
rows("loss", "soft_margin", lambda x, t: F.soft_margin_loss(x, t), *signed)
rows("loss", "cosine", lambda a, b: F.cosine_similarity(a, b, 1), ["f:5,7,3", "f:5,7,3"], ["f:0,4,3", "f:0,4,3"])
rows("loss", "cosine_broadcast", lambda a, b: F.cosine_similarity(a, b, -2), ["f:5,1,6", "f:3,6"])
rows("loss", "distance", lambda a, b: F.pairwise_distance(a, b, 3), *both)
rows("loss", "normal", lambda x: F.normalize(x, dim=1), ["f:5,7,3"])
rows("loss", "embedding", lambda a, b, t: F.cosine_embedding_loss(a, b, t, 0.2), ["f:9,5", "f:9,5", "/", "s:9"])
rows("loss", "triplet", lambda a, p, n: F.triplet_margin_loss(a, p, n, 0.7), ["f:9,5", "f:9,5", "f:9,5"])
rows("loss", "triplet_swap", lambda a, p, n: F.triplet_margin_loss(a, p, n, 0.7, swap=True, reduction="none"), ["f:9,5", "f:9,5", "f:9,5"])

# ---- resampling, folding ------------------------------------------------------------------------------------------------

def interpolate(mode, corners=None, size=None, factor=None):
    def run(x):
        return F.interpolate(x, size or [n * factor for n in x.shape[2:]], mode=mode, align_corners=corners)
    return run


planes = (["f:2,3,5,7"], ["f:1,2,9,4"], ["f:0,2,5,5"])
rows("resample", "reflect", lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), *planes)
rows("resample", "replicate", lambda x: F.pad(x, (1, 0, 4, 1), mode="replicate"), *planes)
rows("resample", "circular", lambda x: F.pad(x, (1, 2, 2, 0), mode="circular"), *planes)
rows("resample", "nearest", interpolate("nearest", size=(7, 3)), *planes)
rows("resample", "nearest_exact", interpolate("nearest-exact", size=(8, 3)), *planes)
rows("resample", "nearest_up", interpolate("nearest", factor=2), *planes)
rows("resample", "linear", interpolate("bilinear", False, (8, 3)), *planes)
rows("resample", "linear_corners", interpolate("bilinear", True, (8, 1)), *planes)
rows("resample", "linear_up", interpolate("bilinear", False, factor=2), *planes)
rows("resample", "linear_line", interpolate("linear", True, 9), ["f:2,3,5"], ["f:1,1,1"])
rows("resample", "linear_volume", interpolate("trilinear", False, (3, 5, 6)), ["f:1,2,4,3,5"])
rows("resample", "cubic", interpolate("bicubic", False, (8, 4)), *planes)
rows("resample", "cubic_corners", interpolate("bicubic", True, (3, 9)), *planes)
rows("resample", "area", interpolate("area", None, (3, 2)), *planes)
grid = (["f:2,3,5,7", "f:2,4,3,2"], ["f:1,2,9,4", "f:1,1,17,2"], ["f:0,2,5,5", "f:0,4,3,2"])
rows("resample", "grid", lambda x, g: F.grid_sample(x, g * 0.7, align_corners=False), *grid)
rows("resample", "grid_border", lambda x, g: F.grid_sample(x, g * 0.7, padding_mode="border", align_corners=True), *grid)
rows("resample", "grid_nearest", lambda x, g: F.grid_sample(x, g * 0.7, "nearest", align_corners=False), *(g[:1] + ["/"] + g[1:] for g in grid))
rows("resample", "grid_reflect", lambda x, g: F.grid_sample(x, g * 1.7, padding_mode="reflection", align_corners=False), *grid)
rows("resample", "grid_reflect_corners", lambda x, g: F.grid_sample(x, g * 2.3, padding_mode="reflection", align_corners=True), *grid)
rows("resample", "grid_cubic", lambda x, g: F.grid_sample(x, g * 0.7, "bicubic", align_corners=False), *grid)
rows("resample", "grid_cubic_border", lambda x, g: F.grid_sample(x, g * 0.7, "bicubic", "border", align_corners=True), *grid)
rows("resample", "grid_cubic_reflect", lambda x, g: F.grid_sample(x, g * 1.7, "bicubic", "reflection", align_corners=False), *grid)
rows("resample", "grid_volume", lambda x, g: F.grid_sample(x, g * 0.7, align_corners=False), ["f:2,2,3,4,5", "f:2,2,3,2,3"])
rows("resample", "affine", lambda t: torch.cat([F.affine_grid(t, (2, 1, 3, 4), a) for a in (False, True)]), ["f:2,2,3"])
rows("resample", "shuffle", lambda x: F.pixel_shuffle(x, 2), ["f:2,8,3,5"], ["f:1,4,1,7"])
rows("resample", "unshuffle", lambda x: F.pixel_unshuffle(x, 2), ["f:2,3,4,6"])
rows("resample", "channels", lambda x: F.channel_shuffle(x, 3), ["f:2,6,3,5"])
rows("resample", "columns", lambda x: F.unfold(x, (3, 2), (1, 2), (1, 0), (2, 1)), *planes)
rows("resample", "image", lambda x: F.fold(x, (7, 6), (3, 2), (1, 2), (1, 0), (2, 1)), ["f:2,18,16"], ["f:1,6,16"], ["f:0,6,16"])
rows("resample", "image_gaps", lambda x: F.fold(x, (9, 8), 2, 1, 0, 3), ["f:2,12,9"])
rows("resample", "image_dilated", lambda x: F.fold(x, (9, 8), 3, 2, 1, 2), ["f:2,18,12"])
rows("resample", "transposed", lambda x, w, b: F.conv_transpose2d(x, w, -b, 2, 1, 1), ["f:2,3,4,5", "f:3,4,3,3", "f:4"],
     ["f:1,5,1,7", "f:5,2,3,3", "f:2"], ["f:0,3,4,5", "f:3,4,3,3", "f:4"])
rows("resample", "transposed_one", lambda x, w: F.conv_transpose2d(x, w, None, 1, 1, 0, 1, (1, 2)), ["f:2,3,4,5", "f:3,4,3,2"])
rows("resample", "transposed_groups", lambda x, w: F.conv_transpose2d(x, w, None, (3, 2), (0, 1), (2, 1), 3), ["f:2,6,4,5", "f:6,2,2,3"])
rows("resample", "transposed_dilated", lambda x, w: F.conv_transpose1d(x, w, None, 2, 0, 1, 1, 3), ["f:2,3,6", "f:3,2,3"])
rows("resample", "transposed_volume", lambda x, w: F.conv_transpose3d(x, w, None, 2), ["f:1,2,2,3,2", "f:2,3,2,2,2"])

# ---- recurrent networks, activations, embeddings ------------------------------------------------------------------------

def network(kind, reverse=False, states=True):
    def run(x, h, c, *w):
        w = [t * 0.5 for t in w]
        flat = [torch.flip(x, [0]) if reverse else x, (h[None], c[None]) if kind == "lstm" else h[None]]
        call = {"lstm": torch.lstm, "gru": torch.gru, "tanh": torch.rnn_tanh, "relu": torch.rnn_relu}[kind]
        y, *last = call(*flat, w, True, 1, 0.0, False, False, False)
        y = torch.flip(y, [0]) if reverse else y
        return torch.cat([y, *last] + ([] if kind == "lstm" else [0 * c[None]]))
    return run


def cell(kind):
    def run(x, h, c, *w):
        w = [t * 0.5 for t in w]
        if kind == "lstm":
            return torch.cat(torch.lstm_cell(x, (h, c), *w))
        call = {"gru": torch.gru_cell, "tanh": torch.rnn_tanh_cell, "relu": torch.rnn_relu_cell}[kind]
        return torch.cat([call(x, h, *w), c])
    return run


def recurrent(gates, t, n, i, h):
    g = gates * h
    return [f"f:{t},{n},{i}" if t else f"f:{n},{i}", f"f:{n},{h}", f"f:{n},{h}", f"f:{g},{i}", f"f:{g},{h}", f"f:{g}", f"f:{g}"]


for kind, gates in (("tanh", 1), ("relu", 1), ("gru", 3), ("lstm", 4)):
    rows("recurrent", f"{kind}_cell", cell(kind), recurrent(gates, 0, 3, 5, 4), recurrent(gates, 0, 1, 1, 9))
    if kind != "relu":
        rows("recurrent", f"{kind}_layer", network(kind), recurrent(gates, 5, 3, 4, 6))
rows("recurrent", "gru_reverse", network("gru", True), recurrent(3, 5, 2, 3, 4))
rows("recurrent", "lstm_reverse", network("lstm", True), recurrent(4, 5, 2, 3, 4))


def halves(function):
    def run(x):
        a, b = x.chunk(2, 1)
        return function(a) * b
    return run


def bag(mode, padding=None):
    def run(w, i, *share):
        return F.embedding_bag(i, w, mode=mode, per_sample_weights=share[0] if share else None, padding_idx=padding)
    return run


def offsets(mode):
    def run(w, i, o, *share):
        begin = torch.cumsum(o, 0) - o[0]
        return F.embedding_bag(i, w, begin, mode=mode, per_sample_weights=share[0] if share else None)
    return run


matrix = (["f:5,8"], ["f:3,2"])
rows("other", "shrinks", lambda x: F.hardshrink(x, 0.7) + 2 * F.softshrink(x, 0.4) + 3 * F.tanhshrink(x), *matrix)
rows("other", "units", lambda x: F.celu(x, 0.6) + 2 * F.selu(x) + 3 * F.elu(x, 0.6), *matrix)
rows("other", "signs", lambda x: F.softsign(x) + 2 * F.logsigmoid(3 * x) + 3 * F.softmin(x, 1), *matrix)
rows("other", "bounds", lambda x: F.threshold(x, 0.3, -2) + 2 * F.hardtanh(x, -0.8, 0.6), *matrix)
rows("other", "prelu", lambda x, w: F.prelu(x, w), ["f:5,8,3", "f:8"])
rows("other", "prelu_one", lambda x, w: F.prelu(x, w), ["f:5,8", "f:1"])
rows("other", "glu", lambda x: F.glu(x, 1), ["f:5,8,3"])
rows("other", "gated", lambda x: halves(F.relu)(x) + 2 * halves(F.gelu)(x) + 3 * halves(F.silu)(x), ["f:5,8,3"])
rows("other", "bilinear", lambda a, b, w, bias: F.bilinear(a, b, w, bias), ["f:5,3", "f:5,4", "f:2,3,4", "f:2"], ["f:1,1", "f:1,9", "f:7,1,9", "f:7"])
rows("other", "embedding_padded", lambda w, i: F.embedding(i, w, 2), ["f:7,3", "i7:2,5"])
rows("other", "bag_sum", bag("sum"), ["f:7,3", "i7:4,5", "f:4,5"])
rows("other", "bag_mean", bag("mean", 2), ["f:7,3", "i7:4,5"], ["f:3,3", "i3:6,1"])
rows("other", "bag_max", bag("max", 2), ["f:7,3", "i7:4,5"], ["f:3,3", "i3:6,1"])
rows("other", "bag_offsets", offsets("sum"), ["f:7,3", "i7:9", "i3:5", "f:9"])
rows("other", "bag_offsets_mean", offsets("mean"), ["f:7,3", "i7:9", "i3:5"])

rows("statistics", "kth", lambda x: torch.kthvalue(x, 2, -1).values, ["f:5,8"], ["f:3,2"])
rows("statistics", "middle", lambda x: x.median(1, True).values, ["f:5,8"], ["f:4,1"], ["f:3,7"])
rows("statistics", "middle_at", lambda x: x.median(0, True).indices, ["f:5,8"], ["f:1,3"])
rows("statistics", "middle_one", lambda x: x.median(0).values, ["f:"])
rows("statistics", "kth_one", lambda x: x.kthvalue(1, -1, True).values, ["f:"])
rows("statistics", "quantile_one", lambda x: torch.quantile(x, 0.3, -1), ["f:"])
rows("statistics", "quantile", lambda x: torch.quantile(x, 0.3, 0), ["f:5,8"], ["f:1,3"], ["f:11,2"])
rows("statistics", "largest", lambda x: torch.quantile(x, 1.0, 1, keepdim=True), ["f:5,8"])
rows("statistics", "places", lambda a, b: torch.searchsorted(a.sort(-1).values, b), ["i20:3,9", "i20:3,5"], ["i20:2,1", "i20:2,3"])
rows("statistics", "buckets", lambda a, b: torch.bucketize(b, a.sort(-1).values, right=True), ["i20:9", "i20:3,5"])
rows("statistics", "counts", lambda i: torch.bincount(i.flatten(), minlength=6), ["i6:4,5"])
rows("statistics", "shares", lambda w, i: torch.zeros(6, dtype=F64).index_add(0, i, w), ["f:9", "i6:9"])
rows("statistics", "histogram", lambda i: torch.histc(i.double(), 4, 1, 7), ["i9:4,8"])
rows("statistics", "distances", lambda a, b: torch.cdist(a, b, 2.0), ["f:2,5,3", "f:2,4,3"])
rows("statistics", "sums_of_distances", lambda a, b: torch.cdist(a, b, 1.0), ["f:5,3", "f:4,3"])

rows("indexing", "at", lambda x, i, j: x[i, j - 4], ["f:5,4,3", "i5:7", "i8:7"], ["f:5,4,1", "i5:0", "i8:0"])
rows("indexing", "at_broadcast", lambda x, i, j: x[i, j - 4], ["f:5,4", "i5:2,1", "i8:1,3"])
rows("indexing", "inside", lambda x, i, j: x[:, i - 3, j], ["f:2,3,4,3", "i6:3,2", "i4:2"], ["f:1,3,4,1", "i6:2,0", "i4:0"])
rows("indexing", "rows_at", lambda x, i: x[i - 5], ["f:5,2", "i10:3,2"], ["f:5,0", "i10:1,1"])
rows("indexing", "put", lambda x, i, j, v: x.index_put((i, j - 4), v), ["f:5,4,3", "i5:1", "i8:1", "f:3"])
rows("indexing", "put_add", lambda x, i, j, v: x.index_put((i, j - 4), v, accumulate=True), ["f:5,4,3", "i5:9", "i8:9", "f:9,3"])
rows("indexing", "put_add_broadcast", lambda x, i, j, v: x.index_put((i, j - 4), v, accumulate=True), ["f:5,4,2", "i5:3,1", "i8:1,2", "f:1"])
rows("indexing", "taken", lambda x, i: x.take(i - 12), ["f:3,4", "i24:2,5"])
rows("indexing", "rows_added", lambda x, i, s: x.index_add(1, i, s, alpha=-0.5), ["f:3,4,2", "i4:6", "f:3,6,2"], ["f:1,4,1", "i4:0", "f:1,0,1"])
rows("indexing", "rows_copied", lambda x, i, s: x.index_copy(-1, i, s), ["f:3,5", "i5:1", "f:3,1"])
rows("indexing", "below_1", lambda x: torch.tril_indices(*x.shape, 1), ["f:3,5"], ["f:6,4"], ["f:0,3"], ["f:1,1"])
rows("indexing", "far_below", lambda x: torch.tril_indices(*x.shape, -2), ["f:5,3"], ["f:2,2"], ["f:9,2"])
rows("indexing", "above_1", lambda x: torch.triu_indices(*x.shape, 1), ["f:3,5"], ["f:6,4"], ["f:3,0"], ["f:1,1"])
rows("indexing", "far_above", lambda x: torch.triu_indices(*x.shape, -2), ["f:5,3"], ["f:2,2"], ["f:2,9"])
rows("indexing", "difference", lambda x: x.diff(dim=0), ["f:5,8"], ["f:1,3"])
rows("indexing", "second", lambda x: x.diff(2, -1), ["f:5,8"], ["f:3,2"], ["f:3,1"])
rows("indexing", "changes", lambda x: x.diff(), ["b:4,9"])
rows("indexing", "none", lambda x: x.diff(0), ["f:5,8"])

# ---- the file -------------------------------------------------------------------------------------------------------

print(f"/* Made by nn_expected.py with PyTorch {torch.__version__}: nn.h says what a row is. */")
print("// clang-format off")
for subject, list_of in SUBJECTS.items():
    print(f"#ifdef NN_{subject.upper()}")
    print(f"static const nn_row {subject}_expected[] = {{")
    for name, parsed, shape, y, grads in list_of:
        x = ", ".join(f"{{'{kind}', {bound}, {len(dims)}, {show(dims)}}}" for kind, bound, dims in parsed)
        print(f'  {{"{name}", {len(parsed)}, {{{x}}}, {len(shape)}, {show(shape)},')
        print(f"   {numbers(y)}, {{{', '.join(numbers(g) for g in grads)}}}}},")
    print("};")
    print("#endif")
