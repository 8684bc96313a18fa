"""The names of ``pycuda.sparse.cg``, conjugate gradients: see PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

CGStateContainer = refused("sparse.cg.CGStateContainer", REASON)
solve_pkt_with_cg = refused("sparse.cg.solve_pkt_with_cg", REASON)


class ConvergenceError(RuntimeError):
    """What programs catch."""
