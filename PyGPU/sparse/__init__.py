"""Placeholders for the modules of ``pycuda.sparse``, for programs that import them."""

__all__: list[str] = []

REASON = (
    "PyCUDA does not document these classes; other packages have sparse matrices, and import "
    "GPUArrays by __cuda_array_interface__"
)
