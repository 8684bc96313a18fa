// <hip/hip_complex.h> for the `host` target: not supported.
#error "the host machine has no <hip/hip_complex.h>: use std::complex or <cuComplex.h>"
