// EOF; printf is built into the compiler, and a GPU has no files.
#pragma once

#include "stddef.h"

#ifndef EOF
#define EOF (-1)
#endif
#define BUFSIZ 8192
