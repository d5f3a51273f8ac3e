// SPDX-License-Identifier: Apache-2.0
//
// What tests ask of the operating system.
#pragma once

#if defined(_WIN32)
#include "tests/support/pages_windows.h"
#else
#include "tests/support/pages_posix.h"
#endif
