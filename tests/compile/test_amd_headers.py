"""CUDA's meaning under AMD's compiler: launch bounds, and errors on GPUs without images.

HIPRTC compiles; no GPU is needed.
"""

import needs
import pytest
from everywhere import by_backend

from PyGPU import errors
from PyGPU._compile.compilers import build, code_object, rtc

pytestmark = pytest.mark.no_device


def image(source, arch, options=()):
    needs.compiler("hiprtc")
    request = build.Request(source, arch=arch, cache_dir=False)
    return by_backend("hip", request, options, arch).image


VALUES = 100
# Every value is loaded before the first is used: each occupies a register, if there are enough.
REGISTERS = f"""
__global__ void BOUNDS kernel(const volatile float *a, volatile float *b)
{{
  float x[{VALUES}];
  #pragma unroll
  for (int i = 0; i < {VALUES}; ++i) x[i] = a[64 * i + threadIdx.x];
  #pragma unroll
  for (int i = {VALUES} - 1; i >= 0; --i) b[64 * i + threadIdx.x] = x[i];
}}
"""


def registers(bounds):
    (notes,) = code_object.notes(image(REGISTERS.replace("BOUNDS", bounds), "gfx908"))
    return notes[".vgpr_count"]


def test_launch_bounds_count_blocks_of_a_multiprocessor():
    """gfx908 has 256 registers for each lane of a SIMD unit, and four such units.

    HIP's compilers take the second number for wavefronts of a SIMD unit: 8 leave 32 registers.
    """
    assert registers("__launch_bounds__(64)") > VALUES
    assert registers("__launch_bounds__(64, 8)") > VALUES  # two wavefronts on each unit
    assert registers("__launch_bounds__(64, 32)") <= 32  # eight
    assert registers("__launch_bounds__(256, 8)") <= 32
    assert registers("__launch_bounds__(256, 1, 2)") > VALUES  # clusters do not count


TEXTURE = """
__global__ void kernel(cudaTextureObject_t image, float *a) { a[0] = tex2D<float>(image, 0, 0); }
"""
SURFACE = """
__global__ void kernel(cudaSurfaceObject_t image) { surf2Dwrite(1.f, image, 0, 0); }
"""
REFERENCE = """
texture<float, 2> image;
__global__ void kernel(float *a) { a[0] = tex2D(image, 0, 0); }
"""
#: Architectures without images. HIPRTC 5.2 does not know them: HIP's macro replaces them there.
WITHOUT_IMAGES = ["gfx908 -D__HIP_NO_IMAGE_SUPPORT=1", "gfx942", "gfx950", "gfx1250"]


@pytest.mark.parametrize("arch", WITHOUT_IMAGES)
@pytest.mark.parametrize(
    "source", [TEXTURE, SURFACE, REFERENCE], ids=["texture", "surface", "reference"]
)
def test_a_gpu_without_images(arch, source):
    arch, *options = arch.split()
    needs.compiler("hiprtc")
    if not rtc.compiles_for(rtc.locate("hiprtc"), arch):
        pytest.skip(f"this HIPRTC does not know {arch}")
    with pytest.raises(errors.CompileError) as caught:
        image(source, arch, options)
    assert "this GPU has no textures and no surfaces" in caught.value.stderr
    # Programs that only declare an image compile.
    assert image("__global__ void kernel(cudaTextureObject_t image) {}", arch, options)
