"""Placeholders for ``pycuda.sparse.cg``, the method of conjugate gradients. See PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

__all__ = ["CGStateContainer", "ConvergenceError", "solve_pkt_with_cg"]

CGStateContainer = refused("sparse.cg.CGStateContainer", REASON)
solve_pkt_with_cg = refused("sparse.cg.solve_pkt_with_cg", REASON)


class ConvergenceError(RuntimeError):
    """An exception that programs of PyCUDA catch; PyGPU never raises it."""
