"""Compilation of kernel text to an image: reading the text, the compilers, the cache on disk."""
