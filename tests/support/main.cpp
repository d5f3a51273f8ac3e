// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "tests/support/skip.h"

int main(int argc, char** argv) {
  if (Catch::Session().run(argc, argv) != 0) return 1;  // never the number of failures: that may be kSkipped
  return mote::testing::skipped ? mote::testing::kSkipped : 0;
}
