// cuRAND's device functions have no twin on the host machine.
#pragma once

#error "curand_kernel.h: cuRAND's device functions are not there on the host target"
