"""CMake's package PyGPU, which ``find_package(PyGPU)`` loads from this folder.

``python -m PyGPU --cmakedir`` prints the folder; scikit-build-core finds it by the entry point
``cmake.root``.
"""
