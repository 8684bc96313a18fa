"""Placeholders for ``pycuda.sparse.coordinate``, coordinate-format matrices. See PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

__all__ = ["CoordinateSpMV"]

CoordinateSpMV = refused("sparse.coordinate.CoordinateSpMV", REASON)
