"""Fixtures that several files of the driver's tests use."""

import kernel_sources
import pytest

from PyGPU.compiler import SourceModule
from PyGPU.driver import Device


@pytest.fixture
def device():
    return Device(0)


@pytest.fixture(scope="module")
def pointers():
    return SourceModule(kernel_sources.POINTERS.source)


@pytest.fixture(scope="module")
def structures():
    return SourceModule(kernel_sources.STRUCTURES.source)
