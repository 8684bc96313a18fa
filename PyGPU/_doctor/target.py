"""Checks of the targets that are built, the one in use, and the settings."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from PyGPU._doctor.findings import Finding, ok, warn
from PyGPU._doctor.vendors import VENDORS, Vendor
from PyGPU._runtime import capabilities, settings, targets

# Variables of the build and of the tests.
_OTHERS = (
    *("PYGPU_PARTS", "PYGPU_ARCHITECTURES", "PYGPU_HIP_ROOTS"),
    *("PYGPU_REQUIRE", "PYGPU_HYPOTHESIS"),
)


def choice() -> Iterator[Finding]:
    """Find the targets that are built, the one in use, and the reasons against the others."""
    built = ", ".join(target for target in targets.TARGETS if targets.is_built(target))
    yield ok(f"built: {built}; in use: {capabilities.target} ({targets.reason})")
    if targets.reason != targets.NO_GPU:
        return
    for vendor in VENDORS:
        why, is_missing = targets.refused[vendor.target], targets.missing_node(vendor.target)
        if vendor.is_built and (is_missing or targets.hidden_from(vendor.target)):
            continue  # the checks of nodes and of visibility report it
        if vendor.is_built:
            yield warn(f"{vendor.target} is built but not used: {why}", _remedy(vendor, why))
        elif not is_missing:
            yield warn(
                f"{vendor.name} GPUs are here, but the target {vendor.target} is not built",
                f"Install {vendor.toolkit}, then PyGPU again with "
                f"PYBIND_GPU_TARGET={vendor.architecture}.",
            )


def _remedy(vendor: Vendor, why: str) -> str:
    if "do not load" in why:
        return (
            f"Load the module of {vendor.toolkit}, add the library's folder to LD_LIBRARY_PATH, or "
            "install PyGPU again with the version that is installed."
        )
    return vendor.driver_remedy


def variables() -> Iterator[Finding]:
    """Find invalid settings, and variables whose names are close to a setting's."""
    names = [name for name in os.environ if name.startswith(("PYGPU_", "PYCUDA_"))]
    wrong = settings.invalid()
    for message in wrong:
        found, _, default = message.partition("; ")
        yield warn(found, f"Correct or unset the variable; {default}.")
    known = {*settings.SETTINGS, *(row.alias for row in settings.ROWS), *_OTHERS}
    for name in names:
        meant = difflib.get_close_matches(name, sorted(known), 1, 0.8)
        if name not in known and meant:
            yield warn(f"{name} is no setting of PyGPU", f"Set {meant[0]}, if that was meant.")
    if not wrong:
        text = ", ".join(f"{name}={os.environ[name]}" for name in sorted(names) if name in known)
        yield ok(f"settings: {text or 'all have their defaults'}")
