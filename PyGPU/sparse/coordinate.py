"""The names of ``pycuda.sparse.coordinate``, matrices by coordinates: see PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

CoordinateSpMV = refused("sparse.coordinate.CoordinateSpMV", REASON)
