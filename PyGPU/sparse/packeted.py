"""The names of ``pycuda.sparse.packeted``, products of matrices in packets: see PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

PacketedSpMV = refused("sparse.packeted.PacketedSpMV", REASON)
