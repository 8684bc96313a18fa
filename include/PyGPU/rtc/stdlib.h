// RAND_MAX and exit codes; malloc, free and abs are built into the compiler.
#pragma once

#include "stddef.h"

#define RAND_MAX 2147483647
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
