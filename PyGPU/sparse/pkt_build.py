"""The names of ``pycuda.sparse.pkt_build``, packets of a matrix: see PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

build_pkt_data_structure = refused("sparse.pkt_build.build_pkt_data_structure", REASON)
