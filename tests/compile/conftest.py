"""Fixtures of the tests of compilers: caches of their own."""

import pytest
from cache_tools import SETTINGS
from everywhere import by_backend

from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers import host_compiler
from PyGPU.compiler import CompileError


@pytest.fixture(scope="session")
def prelude(tmp_path_factory):
    """A folder with nothing but what the host's compiler makes once, the precompiled header."""
    folder = tmp_path_factory.mktemp("prelude")
    (folder / "prelude").mkdir()
    try:
        host_compiler.compiler()
    except CompileError:
        return folder / "prelude"
    request = _build.Request("__global__ void nothing() {}", cache_dir=folder)
    by_backend("host", request)
    return folder / "prelude"


@pytest.fixture
def cache(prelude, tmp_path, monkeypatch):
    """A folder for kernels, with a header precompiled; only the test's own settings count."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "prelude").symlink_to(prelude)
    return folder
