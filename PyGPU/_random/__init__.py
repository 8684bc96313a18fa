"""Random number generators behind ``PyGPU.curandom``."""
