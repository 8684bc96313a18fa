"""What PyCUDA and PyOpenCL share under this name: layouts, and names of dtypes in C."""
