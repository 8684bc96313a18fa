"""The compilers of each target and the linkers of device code."""
