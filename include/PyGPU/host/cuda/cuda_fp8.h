// CUDA's header of this name.
#error "the host machine has no floating-point numbers of eight bits"
