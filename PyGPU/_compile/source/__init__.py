"""Kernel text: signatures, includes and rewrites, without a compiler."""
