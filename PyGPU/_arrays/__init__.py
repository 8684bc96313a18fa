"""Implementation of GPUArray's functions."""
