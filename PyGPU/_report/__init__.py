"""``python -m PyGPU report``: one text file about a machine and what works there (command.py)."""
