// bool is a keyword of C++: only the flag that says so.
#pragma once

#define __bool_true_false_are_defined 1
