"""python -m PyGPU run: a program sees the interpreter as if it were run by python itself."""

import os
import subprocess
import sys

import pytest

import PyGPU

PROBE = """
import json, os, sys, warnings
import helper
print(json.dumps({
    "argv": sys.argv, "path": sys.path[0], "name": __name__, "file": __file__,
    "main": sys.modules["__main__"].__dict__ is globals(), "cwd": os.getcwd(),
    "stdin": sys.stdin.read(), "helper": helper.__file__, "spec": __spec__ is None,
}))
"""
