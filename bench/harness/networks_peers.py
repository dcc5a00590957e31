"""What peers.py runs for the families of networks.py, and their references: PyTorch in float64.

Operands of what is in GRADIENTS: leaves, other operands, cotangent, as in training_peers.py.
"""
import models_peers
import training_peers

# name: leaves, other operands, what follows
GRADIENTS = {
    "attention_grad": (3, 0, "cotangent"),
    "attention_causal_grad": (3, 0, "cotangent"),
    "conv3x3_grad": (2, 0, "cotangent"),
    "max_pool_grad": (1, 0, "cotangent"),
    "batch_norm_grad": (3, 2, "cotangent"),
}
# name: the operands that are weights, which compiled modes freeze
WEIGHTS = {
    "conv3x3": (1, 2), "conv1x1": (1, 2), "conv7x7": (1, 2), "conv_depthwise": (1, 2), "conv_groups": (1, 2),
    "lstm_100": (1, 2, 3, 4), "linear_int8": (1, 2),
}
PLAIN = ("attention", "attention_causal", "attention_decode", "max_pool", "avg_pool")
FAMILIES = (*GRADIENTS, *WEIGHTS, *PLAIN, *models_peers.FAMILIES)


def torch_forward(torch, name):
    f = torch.nn.functional

    def attention(q, k, v):
        return f.scaled_dot_product_attention(q, k, v)

    def attention_causal(q, k, v):
        return f.scaled_dot_product_attention(q, k, v, is_causal=True)

    def convolution(stride, padding):
        def conv(x, w, b=None):
            y = f.conv2d(x, w, b, stride, padding, 1, x.shape[1] // w.shape[1])
            return y if b is None else torch.relu(y)
        return conv

    def max_pool(x):
        return f.max_pool2d(x, 3, 2, 1)

    def avg_pool(x):
        return f.avg_pool2d(x, 2)

    def batch_norm(x, w, b, mean, var):
        return torch.relu(f.batch_norm(x, mean, var, w, b, True, 0.1, 1e-5))

    def lstm(x, w_ih, w_hh, b_ih, b_hh, h, c):
        return torch.lstm(x, (h[None], c[None]), (w_ih, w_hh, b_ih, b_hh), True, 1, 0.0, False, False, False)[0]

    def linear_int8(x, q, scale):
        if x.dtype == torch.bfloat16:
            return torch._weight_int8pack_mm(x, q, scale)
        return f.linear(x, q.to(x.dtype)) * scale

    same = convolution(1, 1)
    return {
        "attention": attention, "attention_grad": attention, "attention_decode": attention,
        "attention_causal": attention_causal, "attention_causal_grad": attention_causal,
        "conv3x3": same, "conv_depthwise": same, "conv_groups": same, "conv3x3_grad": same,
        "conv1x1": convolution(1, 0), "conv7x7": convolution(2, 3),
        "max_pool": max_pool, "max_pool_grad": max_pool, "avg_pool": avg_pool, "batch_norm_grad": batch_norm,
        "lstm_100": lstm, "linear_int8": linear_int8,
    }[name]


class Frozen:
    """forward(all operands) as a module whose parameters are the weights, made of the first operands, compiled."""

    def __init__(self, torch, forward, weights, options):
        self.torch, self.forward, self.weights, self.options = torch, forward, weights, options
        self.run = None

    def module(self, operands):
        forward, places, count = self.forward, self.weights, len(operands)
        torch = self.torch

        class Network(torch.nn.Module):
            def __init__(self):
                super().__init__()
                for i in places:
                    self.register_parameter(f"w{i}", torch.nn.Parameter(operands[i].clone(), requires_grad=False))

            def forward(self, *others):
                rest = iter(others)
                return forward(*(getattr(self, f"w{i}") if i in places else next(rest) for i in range(count)))

        return torch.compile(Network().eval(), fullgraph=True, dynamic=False, **self.options)

    def __call__(self, operands):
        with self.torch.no_grad():
            if self.run is None:
                self.run = self.module(operands)
            return (self.run(*(x for i, x in enumerate(operands) if i not in self.weights)),)


def torch_function(torch, name, mode):
    """A function of a set of operands, and how many of these are results."""
    if name in models_peers.FAMILIES:
        return models_peers.torch_function(torch, name, mode, Frozen)
    forward, mode = torch_forward(torch, name), "eager" if mode == "channels-last" else mode
    torch.compiler.reset()
    if name in GRADIENTS:
        return training_peers.torch_step(torch, GRADIENTS[name], forward, None, *training_peers.torch_mode(mode))
    if mode == "eager":
        def call(operands):
            with torch.inference_mode():
                return (forward(*operands),)

        return call, 0
    return Frozen(torch, forward, WEIGHTS.get(name, ()), training_peers.torch_mode(mode)[1]), 0


def torch_layout(torch, mode, x):
    """Images as the mode has them."""
    return x.contiguous(memory_format=torch.channels_last) if mode == "channels-last" and x.dim() == 4 else x


def reference(name, operands):
    """What PyTorch gives in float64, as arrays."""
    import torch

    call, _ = torch_function(torch, name, "eager")
    tensors = [torch.from_numpy(a) for a in operands]
    return [y.detach().numpy() for y in call(tensors)]
