"""Kernel text: what an expression becomes for a plan."""
