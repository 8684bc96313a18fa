"""Placeholder for ``pycuda.gl.autoinit``, whose import creates a context for OpenGL."""

from PyGPU.gl import REASON

raise ImportError(f"gl.autoinit is not in PyGPU: {REASON}")
