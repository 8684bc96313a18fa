"""Images on disk: the cache of compiled kernels, and files compiled ahead of time."""
