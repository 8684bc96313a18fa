"""For type checkers: the names of PyGPU.cumath, which are imported at first use."""

from PyGPU._arrays.mathematics import *  # noqa: F403
