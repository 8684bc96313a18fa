"""Placeholder for ``pycuda.sparse.packeted``, which is not supported. See PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

__all__ = ["PacketedSpMV"]

PacketedSpMV = refused("sparse.packeted.PacketedSpMV", REASON)
