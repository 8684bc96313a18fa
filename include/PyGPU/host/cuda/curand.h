// The types of cuRAND's host library that its device functions take.
#pragma once

#include "../../cuda_on_host.h"
#include "../../device/random/states.h"
