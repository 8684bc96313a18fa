"""Users' compiled libraries: building them from sources, loading them, calling their functions."""
