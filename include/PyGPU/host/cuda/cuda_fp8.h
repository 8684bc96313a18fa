// <cuda_fp8.h> for kernels of the `host` target: not supported.
#error "the host machine has no floating-point numbers of eight bits"
