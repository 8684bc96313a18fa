// CUDA's header of this name, for kernels on the `host` target.
#pragma once

#include "../../cuda_on_host.h"
