// SPDX-License-Identifier: Apache-2.0
//
// A target is a file fuzz_<name>.cpp that defines this function. libFuzzer calls it with inputs that it makes
// (scripts/fuzz), replay.cpp with the files of corpus/<name> (ctest). A finding is a crash, a report of a
// sanitizer, an exception other than convert::Error, a timeout or a must() that does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
