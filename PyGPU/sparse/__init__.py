"""The modules of ``pycuda.sparse``, for programs that import them: they have no matrices here."""

__all__: list[str] = []

REASON = (
    "PyCUDA does not document it; other packages have sparse matrices, and take GPUArrays by "
    "__cuda_array_interface__"
)
