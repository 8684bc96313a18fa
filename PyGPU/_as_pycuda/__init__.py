"""PyCUDA's name for PyGPU: ``import pycuda`` imports it, ``python -m PyGPU run`` runs programs."""

from PyGPU._as_pycuda.install import install_as_pycuda
from PyGPU._as_pycuda.numpy_names import NumPyCompatWarning

__all__ = ["NumPyCompatWarning", "install_as_pycuda"]
