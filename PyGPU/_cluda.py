"""The name of ``pycuda._cluda``: macros that let one kernel text compile for CUDA and OpenCL."""

CLUDA_PREAMBLE = """
#define KERNEL extern "C" __global__
#define WITHIN_KERNEL __device__
#define GLOBAL_MEM
#define LOCAL_MEM __shared__
#define LOCAL_MEM_ARG
#define REQD_WG_SIZE(x, y, z) __launch_bounds__((x) * (y) * (z), 1)
#define local_barrier() __syncthreads();
""" + "".join(
    f"#define {name}_{axis} {variable}.{letter}\n"
    for name, variable in [
        *[("LID", "threadIdx"), ("GID", "blockIdx"), ("LDIM", "blockDim"), ("GDIM", "gridDim")]
    ]
    for axis, letter in enumerate("xyz")
)
