"""The name of ``pycuda.gl.autoinit``, whose import is its use: a context for OpenGL."""

from PyGPU.gl import REASON

raise ImportError(f"gl.autoinit is not in PyGPU: {REASON}")
