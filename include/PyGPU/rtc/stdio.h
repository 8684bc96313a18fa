// <stdio.h> for run-time compilers: EOF and BUFSIZ. The compiler has printf built in. Files do not
// exist on a GPU.
#pragma once

#include "stddef.h"

#ifndef EOF
#define EOF (-1)
#endif
#define BUFSIZ 8192
