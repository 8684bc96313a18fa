"""nanobind's ndarray accepts GPUArrays, without a line of ours."""

import importlib.util
import subprocess
import sysconfig
from pathlib import Path

import needs
import numpy as np
import pytest

from PyGPU import gpuarray

SOURCE = """
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <cstdint>

namespace nb = nanobind;

NB_MODULE(with_nanobind, m) {
  m.def("facts", [](nb::ndarray<const double, nb::ndim<2>, nb::any_contig> a) {
    return nb::make_tuple(std::uintptr_t(a.data()), a.shape(0), a.shape(1), a.stride(0),
                          int(a.device_type()));
  });
}
"""


@pytest.mark.campaign
def test_nanobind_accepts_our_arrays(tmp_path):
    nanobind = needs.module("nanobind")
    source, out = tmp_path / "with_nanobind.cpp", tmp_path / "with_nanobind.so"
    source.write_text(SOURCE)
    root = Path(nanobind.source_dir())
    folders = [nanobind.include_dir(), root.parent / "ext" / "robin_map" / "include"]
    includes = [f"-I{one}" for one in [*folders, sysconfig.get_path("include")]]
    words = [needs.program("g++"), "-std=c++17", "-O0", "-fPIC", "-shared", "-fvisibility=hidden"]
    words += ["-fno-strict-aliasing", "-DNDEBUG", *includes, source, root / "nb_combined.cpp"]
    subprocess.run([*map(str, words), "-o", str(out)], check=True)
    spec = importlib.util.spec_from_file_location("with_nanobind", out)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    a = gpuarray.to_gpu(np.arange(6.0).reshape(2, 3))
    kind = a.__dlpack_device__()[0]
    assert module.facts(a) == (a.ptr, 2, 3, 3, kind)
    assert module.facts(a[1:]) == (a.ptr + 24, 1, 3, 3, kind)
    for wrong in (a.astype(np.float32), a.ravel(), a[:, ::2]):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            module.facts(wrong)
