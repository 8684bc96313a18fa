"""Placeholders for ``pycuda.sparse.pkt_build``, builders of packeted matrices. See PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

__all__ = ["build_pkt_data_structure"]

build_pkt_data_structure = refused("sparse.pkt_build.build_pkt_data_structure", REASON)
