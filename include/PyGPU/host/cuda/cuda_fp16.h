// CUDA's header of this name, for kernels on the `host` target: __half comes with the language.
#pragma once

#include "../../cuda_on_host.h"
