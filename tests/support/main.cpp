// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch2.h"

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
