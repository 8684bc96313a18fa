"""What every test shares. The suite runs on the target in use (see PYGPU_TARGET)."""

import os
import subprocess
import sys

import hypothesis
import pytest

import PyGPU

hypothesis.settings.register_profile("suite", deadline=None, max_examples=60, derandomize=True)
hypothesis.settings.load_profile("suite")


def device_count():
    return PyGPU.cudaGetDeviceCount()[0]


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "no_device: checks a target on a machine where it has no device; needs none"
    )


def pytest_collection_modifyitems(items):
    """A GPU target without a device can run only the tests that are about that."""
    if device_count() > 0:
        return
    skip = pytest.mark.skip(reason=f"the target {PyGPU.target} has no device here")
    for item in items:
        if "no_device" not in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def clean_last_error():
    """A test that provokes errors leaves none to the next."""
    yield
    PyGPU.cudaGetLastError()


@pytest.fixture
def python():
    """Run a program in a fresh interpreter on this target: python(source, **environment)."""

    def run(source, expect=0, **environment):
        env = {**os.environ, "PYGPU_TARGET": PyGPU.target}
        env.update({name: str(value) for name, value in environment.items()})
        done = subprocess.run(
            [sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    return run
