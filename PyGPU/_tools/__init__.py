"""The commands ``bench``, ``doctor`` and ``report`` of ``python -m PyGPU``, each in its module."""
