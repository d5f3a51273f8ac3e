// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/advice.h"

namespace mote::cli {

const char* advice(mote_remedy remedy) {
  switch (remedy) {
#define REMEDY(which, words) \
  case which:                \
    return words;
#include "tools/mote/remedies.inc"
#undef REMEDY
  }
  return "";
}

}  // namespace mote::cli
