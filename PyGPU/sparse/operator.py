"""Placeholders for ``pycuda.sparse.operator``, linear operators. See PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

__all__ = ["DiagonalPreconditioner", "IdentityOperator", "OperatorBase"]

OperatorBase = refused("sparse.operator.OperatorBase", REASON)
IdentityOperator = refused("sparse.operator.IdentityOperator", REASON)
DiagonalPreconditioner = refused("sparse.operator.DiagonalPreconditioner", REASON)
