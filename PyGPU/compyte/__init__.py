"""What PyCUDA and PyOpenCL share under this name: layouts, and names of dtypes in C."""

from PyGPU.compyte import array, dtypes

__all__ = ["array", "dtypes"]
