"""Kernel texts: the source code of an expression for each kind of plan."""
