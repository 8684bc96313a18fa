"""Modules that PyCUDA shares with PyOpenCL: array layouts, and names of dtypes in C."""

from PyGPU.compyte import array, dtypes

__all__ = ["array", "dtypes"]
