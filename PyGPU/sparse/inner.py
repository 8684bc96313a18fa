"""The names of ``pycuda.sparse.inner``, products that are fetched later: see PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

AsyncInnerProduct = refused("sparse.inner.AsyncInnerProduct", REASON)
get_stream = refused("sparse.inner.get_stream", REASON)
