"""``python -m PyGPU doctor``: faults of a machine and their remedies (command.py)."""
