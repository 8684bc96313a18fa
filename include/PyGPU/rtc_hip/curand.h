// The types of cuRAND's host library that its device functions take.
#pragma once

#include "../device/random/states.h"
