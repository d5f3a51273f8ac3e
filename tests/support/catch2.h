// SPDX-License-Identifier: Apache-2.0
// Catch2's header, version 2 or 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_FAST_COMPILE  // an exception in an assertion ends the test, not named by its line
#include <catch2/catch.hpp>
#endif
