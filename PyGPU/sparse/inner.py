"""Placeholders for ``pycuda.sparse.inner``, asynchronous inner products. See PyGPU.sparse."""

from PyGPU._as_pycuda.refused import refused
from PyGPU.sparse import REASON

__all__ = ["AsyncInnerProduct", "get_stream"]

AsyncInnerProduct = refused("sparse.inner.AsyncInnerProduct", REASON)
get_stream = refused("sparse.inner.get_stream", REASON)
