"""PyGPU under the name of PyCUDA, and ``python -m PyGPU run``."""
