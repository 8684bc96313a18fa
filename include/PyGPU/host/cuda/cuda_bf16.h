// CUDA's header of this name.
#error "the host machine has no bfloat16"
