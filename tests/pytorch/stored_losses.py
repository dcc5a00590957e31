"""stored_losses.py: losses of steps of training, as a header that a test includes."""
import sys

import torch


def of_steps(optimiser, loss_of, steps, behind_gradients=lambda: None):
    """The losses in front of so many steps of the optimiser."""
    found = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = loss_of()
        loss.backward()
        behind_gradients()
        optimiser.step()
        found.append(loss.item())
    return found


def print_header(maker, losses):
    """losses(dtype): those in float64 are printed; how far float32's are from them, on stderr."""
    wide, narrow = losses(torch.float64), losses(torch.float32)
    print(f"/* Made by {maker} with PyTorch {torch.__version__}. */\n// clang-format off")
    print(f"static const double expected[{len(wide)}] = {{")
    for i in range(0, len(wide), 5):
        print("  " + ", ".join(f"{v:.11g}" for v in wide[i:i + 5]) + ",")
    print("};")
    apart = [abs(a - b) for a, b in zip(narrow, wide)]
    print(f"float32: {max(apart):.1e}, {max(a / b for a, b in zip(apart, wide)):.1e} of a loss", file=sys.stderr)
