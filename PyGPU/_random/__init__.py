"""Generators of random numbers: what ``PyGPU.curandom`` is made of."""
