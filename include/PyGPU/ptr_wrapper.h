// ptr_wrapper<T>: the name of PyGPU::pointer_wrapper<T> in the first version of PyGPU.
#pragma once

#include "view.h"

template <class T>
using ptr_wrapper = PyGPU::pointer_wrapper<T>;
