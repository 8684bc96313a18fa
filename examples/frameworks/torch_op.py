"""A kernel of PyGPU as an operator of torch: shapes for the compiler, gradients, torch's own check.

    python torch_op.py

Tensors and GPUArrays share their memory by DLPack. Without a GPU, the tensors are on the CPU.
"""

import numpy as np
import torch

import PyGPU
from PyGPU.elementwise import ElementwiseKernel

DEVICE = "cpu" if PyGPU.target == "host" else "cuda"
ARGUMENTS = "const double *x, double *y"
EXPRESSIONS = ("x[i] * e", "(1 - 2 * x[i] * x[i]) * e", "(4 * x[i] * x[i] - 6) * x[i] * e")
KERNELS = [
    ElementwiseKernel(ARGUMENTS, f"double e = exp(-x[i] * x[i]); y[i] = {text}", "bump")
    for text in EXPRESSIONS
]


@torch.library.custom_op("pygpu::bump", mutates_args=(), device_types=DEVICE)
def bump(x: torch.Tensor, order: int) -> torch.Tensor:
    """Compute x * exp(-x * x), or its first or second derivative."""
    if x.dtype != torch.float64:
        raise TypeError(f"bump: x: expected float64, got {x.dtype}")
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    if x.numel():
        stream = torch.cuda.current_stream() if x.is_cuda else None
        arrays = (PyGPU.from_dlpack(t, stream=stream) for t in (x.detach().contiguous(), y))
        KERNELS[order](*arrays, stream=stream)
    return y


@bump.register_fake
def _(x, order):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def remember(ctx, inputs, output):
    x, ctx.order = inputs
    ctx.save_for_backward(x)


def backward(ctx, gradient):
    (x,) = ctx.saved_tensors
    if ctx.order + 1 == len(KERNELS):
        raise NotImplementedError("bump has derivatives up to the second")
    return gradient * bump(x, ctx.order + 1), None


bump.register_autograd(backward, setup_context=remember)


def main():
    x = torch.linspace(-2, 2, 12, dtype=torch.float64, device=DEVICE).reshape(3, 4)
    x.requires_grad_()
    values = x.detach().cpu().numpy()
    y = bump(x, 0)
    np.testing.assert_allclose(y.detach().cpu(), values * np.exp(-(values**2)))
    y.sum().backward()
    slope = (1 - 2 * values**2) * np.exp(-(values**2))
    np.testing.assert_allclose(x.grad.cpu(), slope, atol=1e-15)
    turned = x.detach().T.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: bump(x, 0), turned)
    assert torch.autograd.gradgradcheck(lambda x: bump(x, 0), turned)
    torch.library.opcheck(bump, (x, 0))
    torch.library.opcheck(bump, (turned, 0))
    print("values and gradients agree with NumPy, and opcheck finds nothing")


if __name__ == "__main__":
    main()
