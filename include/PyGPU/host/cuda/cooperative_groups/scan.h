// CUDA's header of this name, for kernels on the `host` target.
#error "the host machine has no scans of cooperative groups"
