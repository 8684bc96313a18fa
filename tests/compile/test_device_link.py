"""NVIDIA's linkers, for devices that are not here: what NVRTC makes of several texts is linked."""

import needs
import pytest
from everywhere import by_backend

import PyGPU
from PyGPU._compile.compilers import backend, build, definitions, device_link, link
from PyGPU._runtime import core, errors
from PyGPU.compiler import CompileError

pytestmark = [
    pytest.mark.no_device,
    pytest.mark.skipif(build.own.why_not_linked != "", reason="this target links nothing"),
]

CUDA = build.backend_named("cuda")
CALLER = """
extern __device__ int twice(int);
extern __device__ int offset[2];
extern __constant__ int scale;
extern __global__ void child(int *out);
__global__ void parent(int *out) {
  out[0] = scale * twice(out[1]) + offset[1];
  child<<<1, 4>>>(out);
  child<<<dim3(2), dim3(4), 0, cudaStreamTailLaunch>>>(out);
}
"""
CALLED = """
__constant__ int scale = 10;
__device__ int offset[2] = {100, 200};
__device__ int twice(int x) { return 2 * x; }
static __device__ int own() { return 3; }
__global__ void child(int *out) { out[threadIdx.x] = own(); }
"""


def compiled(source, arch="sm_90", name="text", words=(), want="cubin"):
    """Compile a text to an input of the linker."""
    needs.compiler("nvrtc")
    request = build.Request(
        source, tuple(words), arch, want=want, cache_dir=False, relocatable=True
    )
    inputs = link.Inputs(CUDA)
    inputs.add_entry(by_backend("cuda", request, words, arch), name)
    return inputs.images[0]


def linked(inputs, arch="sm_90", **settings):
    """The image that nvJitLink makes."""
    library = needs.device_linker()
    told = {"options": {}, "verbose": False, **settings}
    return library.link(inputs, arch, told["options"], told["verbose"])


@pytest.mark.parametrize("words", [(), ("-dlto",)], ids=["", "link-time optimization"])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_texts_and_the_device_runtime(arch, words):
    needs.device_linker()
    inputs = [compiled(CALLER, arch, "a", words), compiled(CALLED, arch, "b", words)]
    assert {one.kind for one in inputs} == {backend.LTO_IR if words else backend.CUBIN}
    image, _ = linked([*inputs, needs.device_runtime()], arch)
    assert {"parent", "child"} <= definitions.names(image)


def test_ptx_is_linked_for_a_newer_device():
    needs.device_linker()
    inputs = [compiled(one, "compute_75", want="ptx") for one in (CALLER, CALLED)]
    assert {one.kind for one in inputs} == {backend.PTX}
    image, _ = linked([*inputs, needs.device_runtime()], "sm_90")
    assert {"parent", "child"} <= definitions.names(image)


def test_what_is_missing_and_what_is_twice():
    needs.device_linker()
    caller, called = compiled(CALLER, name="caller"), compiled(CALLED, name="called")
    with pytest.raises(CompileError, match="Undefined reference to 'twice'"):
        linked([caller, needs.device_runtime()])
    with pytest.raises(CompileError, match="cudaCDP2LaunchDevice"):
        linked([caller, called])
    for arch, want in (("sm_90", "cubin"), ("compute_75", "ptx")):
        two = [compiled(CALLED, arch, name, want=want) for name in "ab"]
        with pytest.raises(CompileError) as caught:
            linked(two)
        for name in ("child", "offset", "scale", "twice"):
            assert f"{name!r} is defined in 'a' and in 'b'" in caught.value.stderr
        assert "own" not in caught.value.stderr


def test_settings_of_the_linker():
    needs.device_linker()
    text = compiled("__global__ void f(int *p) { *p = 1; }")
    for level in (0, 1, 4):
        assert linked([text], options={0: 32, 7: level})[0].startswith(b"\x7fELF")
    as_ptx = compiled("__global__ void f(int *p) { *p = 1; }", "compute_75", want="ptx")
    assert "registers" in linked([as_ptx], verbose=True)[1]
    with pytest.raises(CompileError, match="AddData of text"):
        linked([text._replace(data=b"no image")])


def test_a_device_that_nvjitlink_does_not_know(monkeypatch):
    """nvJitLink 12.9 crashes in some processes that name one; the driver's linker may know it."""
    needs.device_linker()
    compiler = needs.compiler("nvrtc")
    words = (compiler.path, compiler.version()[0], "sm_999", False)

    class Driver:
        pass

    monkeypatch.setattr(device_link, "DriverLinker", Driver)
    assert isinstance(device_link.linker(*words), Driver)

    def missing():
        raise OSError("no driver")

    monkeypatch.setattr(device_link, "DriverLinker", missing)
    with pytest.raises(CompileError, match="this toolkit does not know sm_999"):
        device_link.linker(*words)


def test_links_are_kept(tmp_path, monkeypatch):
    needs.device_linker()
    parts = [compiled(CALLER, name="a"), compiled(CALLED, name="b"), needs.device_runtime()]
    calls = []
    real = device_link.NvJitLink.link
    monkeypatch.setattr(
        device_link.NvJitLink, "link", lambda *words: calls.append(words) or real(*words)
    )

    def made(images, **settings):
        inputs = link.Inputs(CUDA, **settings)
        inputs.images = images
        return inputs.link("sm_90", tmp_path).image

    first = made(parts)
    assert made(parts) == first and len(calls) == 1
    other = compiled(CALLED.replace("10", "11"), name="b")
    for different in (
        lambda: made([parts[0], other, parts[2]]),
        lambda: made(parts, options=[(0, 32)]),
        lambda: made(parts, verbose=True),
    ):
        before = len(calls)
        different()
        assert len(calls) == before + 1


def test_without_nvjitlink_and_without_a_driver(monkeypatch):
    needs.compiler("nvrtc")
    monkeypatch.setenv("PYGPU_NVJITLINK", "/nowhere/libnvJitLink.so")

    def no_driver(self):
        raise OSError("no libcuda")

    monkeypatch.setattr(device_link.DriverLinker, "__init__", no_driver)
    device_link.nvjitlink.cache_clear()
    try:
        with pytest.raises(CompileError, match="PYGPU_NVJITLINK"):
            device_link.linker("/nowhere/libnvrtc.so", 13, "sm_90", True)
    finally:
        monkeypatch.undo()
        device_link.nvjitlink.cache_clear()


def test_the_drivers_linker(monkeypatch):
    if PyGPU.target != "cuda" or PyGPU.cudaGetDeviceCount()[1]:
        pytest.skip("the driver links for its own devices alone")
    words = (build.device_architecture(), {}, False)
    arch = words[0]
    parts = [compiled(CALLER, arch, "a"), compiled(CALLED, arch, "b")]
    errors.check(core._context_handle(), "cuCtxGetCurrent")  # the linker works in the current one
    linker = device_link.DriverLinker()
    image, _ = linker.link([*parts, needs.device_runtime()], *words)
    assert {"parent", "child"} <= definitions.names(image)
    with pytest.raises(CompileError, match="twice"):
        linker.link([parts[0], needs.device_runtime()], *words)
    with pytest.raises(CompileError, match="nvJitLink"):
        linker.link([compiled(CALLED, arch, "b", ["-dlto"])], *words)


def test_device_code_does_not_wait():
    needs.compiler("nvrtc")
    with pytest.raises(CompileError) as caught:
        compiled("__global__ void f() { cudaDeviceSynchronize(); }")
    assert '"cudaDeviceSynchronize" is undefined' in caught.value.stderr
