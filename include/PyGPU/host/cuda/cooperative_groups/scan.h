// <cooperative_groups/scan.h> for kernels of the `host` target: not supported.
#error "the host machine has no scans of cooperative groups"
