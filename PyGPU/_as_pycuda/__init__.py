"""PyCUDA's name for PyGPU: ``import pycuda`` imports it, ``python -m PyGPU run`` runs programs."""
