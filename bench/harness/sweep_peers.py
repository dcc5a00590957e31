"""What the formulas of sweep_families.py call, of PyTorch and of JAX."""
import math


class Torch:
    def __init__(self, torch):
        f = torch.nn.functional
        self.exp, self.tanh, self.where, self.sigmoid = torch.exp, torch.tanh, torch.where, torch.sigmoid
        self.gelu, self.silu, self.relu, self.conv2d = f.gelu, f.silu, torch.relu, f.conv2d
        self.sum, self.max = torch.sum, torch.amax
        self.rms = f.rms_norm
        self.scaled_dot_product = f.scaled_dot_product_attention
        self.log_softmax_of = torch.log_softmax

    def log_softmax(self, x):
        return self.log_softmax_of(x, -1)

    def rms_norm(self, x, w):
        return self.rms(x, x.shape[-1:], w, 1e-5)

    def transposed(self, x):
        return x.transpose(-1, -2)

    def dense(self, x):
        return x.contiguous()

    def embedding(self, table, index):
        return table[index]

    def attention(self, q, k, v, causal):
        return self.scaled_dot_product(q, k, v, is_causal=causal)

    def conv(self, x, w, b, stride, padding):
        return self.conv2d(x, w, b, stride, padding, 1, x.shape[1] // w.shape[1])


class Jax:
    def __init__(self, jax, jnp):
        self.jax, self.jnp = jax, jnp
        self.exp, self.tanh, self.where, self.sigmoid = jnp.exp, jnp.tanh, jnp.where, jax.nn.sigmoid
        self.silu, self.relu, self.sum, self.max = jax.nn.silu, jax.nn.relu, jnp.sum, jnp.max

    def gelu(self, x):
        return self.jax.nn.gelu(x, approximate=False)

    def log_softmax(self, x):
        return self.jax.nn.log_softmax(x, -1)

    def rms_norm(self, x, w):
        wide = x.astype(self.jnp.float32)
        return (wide * self.jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-5) * w).astype(x.dtype)

    def transposed(self, x):
        return x.swapaxes(-1, -2)

    def dense(self, x):
        return x

    def embedding(self, table, index):
        return table[index]

    def attention(self, q, k, v, causal):
        scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]))
        if causal:
            scores = self.jnp.where(self.jnp.tri(*scores.shape[-2:], dtype=bool), scores, -self.jnp.inf)
        return self.jax.nn.softmax(scores, -1) @ v

    def conv(self, x, w, b, stride, padding):
        y = self.jax.lax.conv_general_dilated(x, w, (stride, stride), ((padding, padding), (padding, padding)),
                                              feature_group_count=x.shape[1] // w.shape[1])
        return y + b[:, None, None]
