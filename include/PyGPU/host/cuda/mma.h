// <mma.h> for kernels of the `host` target: not supported.
#error "the host machine has no tensor cores"
