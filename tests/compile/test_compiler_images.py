"""compile() and what becomes of its images; the rest of pycuda.compiler's names."""

import re

import numpy as np
import pytest
from writing_kernels import FIVE, ONE, WRITE, written

import PyGPU
import PyGPU.driver as drv
from PyGPU import compiler, gpuarray
from PyGPU.compiler import SourceModule

# Images.


def test_images_can_be_kept(tmp_path):
    image = compiler.compile(FIVE)
    assert type(image) is bytes
    path = tmp_path / "kernel.image"
    path.write_bytes(image)
    for load in (drv.module_from_file, compiler.module_from_file):
        assert written(load(path)) == written(load(str(path))) == 5
    for buffer in (image, bytearray(image), memoryview(image), np.frombuffer(image, np.uint8)):
        assert written(drv.module_from_buffer(buffer)) == 5
    told = []
    drv.module_from_buffer(image, [], lambda *news: told.append(news))
    assert told and told[0][0] is True
    with pytest.raises(drv.Error):
        drv.module_from_buffer(b"no image at all", message_handler=lambda *news: told.append(news))
    assert told[1][0] is False and "module load" in told[1][2]


def test_an_image_alone_tells_how_many_arguments():
    kernel = drv.module_from_buffer(compiler.compile(FIVE)).get_function("write")
    out = gpuarray.zeros(1, np.int32)
    kernel(out, **ONE)
    kernel(np.intp(out.ptr), **ONE)
    assert out.get()[0] == 5
    with pytest.raises(drv.ArgumentError, match="takes 1 argument, not 2"):
        kernel(out, out, **ONE)
    if PyGPU.target != "hip":  # whose images tell that it is an address
        with pytest.raises(drv.ArgumentError, match=r"numpy\.int32"):
            kernel(5, **ONE)


def test_ptx():
    if PyGPU.target != "cuda":
        pytest.skip("PTX is NVIDIA's")
    text = compiler.compile(FIVE, target="ptx")
    assert b".entry write" in text
    assert written(drv.module_from_buffer(text.rstrip(b"\0"))) == 5


def test_compile_plain_and_preprocess(tmp_path):
    (tmp_path / "v.h").write_text("#define VALUE 7\n")
    source, options = '#include "v.h"\nextern "C" ' + WRITE, ["-I", str(tmp_path)]
    image = compiler.compile_plain(source, options, False, "nvcc", None)
    assert written(drv.module_from_buffer(image)) == 7
    text = compiler.preprocess_source(source, options, "nvcc")
    assert type(text) is str and "#define VALUE 7" in text


# What is PyCUDA's only.


def test_settings_without_a_meaning_are_taken():
    keywords = {"nvcc": "/opt/nvcc", "code": "sm_90", "cache_dir": None, "arch": None}
    assert written(SourceModule(FIVE, **keywords)) == 5
    assert written(SourceModule(FIVE, "nvcc", None, False, False, None, None, None, [])) == 5


def test_the_compilers_version():
    assert re.search(r"\d", compiler.get_nvcc_version()) and compiler.get_nvcc_version("nvcc")


def test_default_flags(monkeypatch, python):
    monkeypatch.setattr(compiler, "DEFAULT_NVCC_FLAGS", ["-DVALUE=11"])
    assert written(SourceModule(WRITE)) == 11
    assert written(SourceModule(WRITE, options=["-DVALUE=12"])) == 12
    program = f"""
from PyGPU import compiler
assert compiler.DEFAULT_NVCC_FLAGS == ["-DVALUE=5", "-O1"]
compiler.SourceModule({WRITE!r})
compiler.DEFAULT_NVCC_FLAGS.append("-UVALUE")
try:
    compiler.SourceModule({WRITE!r})
except compiler.CompileError:
    pass
else:
    raise SystemExit("what a program appends is not heeded")
"""
    python(program, PYCUDA_DEFAULT_NVCC_FLAGS=" -DVALUE=5  -O1")
    python(program, PYGPU_DEFAULT_NVCC_FLAGS="-DVALUE=5 -O1", PYCUDA_DEFAULT_NVCC_FLAGS="-DX")


def test_damaged_images_are_refused(python):
    """In a process of its own: a loader that believes a damaged header may die of it."""
    python(
        f"""
import PyGPU.driver as drv
from PyGPU.compiler import compile
image = compile({FIVE!r})
for size in (4, 10, 63, 64, 100, len(image) // 3, len(image) // 2):
    try:
        drv.module_from_buffer(image[:size])
    except drv.Error as error:
        assert "module load" in str(error), error
    else:
        raise SystemExit(f"an image of {{size}} bytes was loaded")
drv.module_from_buffer(image).get_function("write")
"""
    )
