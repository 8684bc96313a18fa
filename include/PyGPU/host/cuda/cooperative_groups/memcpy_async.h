// <cooperative_groups/memcpy_async.h> for kernels of the `host` target: not supported.
#error "the host machine has no asynchronous copies of cooperative groups"
