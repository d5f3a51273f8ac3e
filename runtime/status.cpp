// SPDX-License-Identifier: Apache-2.0
#include "mote/status.h"

#include "kernels/families.h"
#include "mote/platform.h"
#include "runtime/error.h"
#include "runtime/isa.h"

namespace mote {

mote_status fail_without_text(mote_error* error, mote_status code, int32_t op) {
  if (error != nullptr) {
    error->code = code;
    error->op = op;
    error->text[0] = '\0';
  }
  return code;
}

}  // namespace mote

extern "C" {

const char* mote_status_name(mote_status status) {
#ifndef MOTE_MODEL_CONFIG  // hosts' statuses, which firmware never sees
  if (status == MOTE_CANCELLED) return "cancelled";
  if (status == MOTE_OUT_OF_MEMORY) return "out of memory";
  if (status == MOTE_BAD_INPUT) return "bad input";
#endif
  switch (status) {
    case MOTE_OK:
      return "ok";
    case MOTE_INVALID_ARGUMENT:
      return "invalid argument";
    case MOTE_NOT_ALIGNED:
      return "not aligned";
    case MOTE_TOO_SMALL:
      return "too small";
    case MOTE_CONTEXT_FULL:
      return "context full";
    case MOTE_WRONG_STATE:
      return "wrong state";
    case MOTE_TEXT_TOO_LONG:
      return "text too long";
    case MOTE_TRUNCATED:
      return "truncated file";
    case MOTE_NOT_A_MODEL:
      return "not a model";
    case MOTE_CORRUPT_FILE:
      return "corrupt file";
    case MOTE_UNSUPPORTED_FILE:
      return "unsupported file";
    case MOTE_SELF_TEST_FAILED:
      return "self test failed";
    case MOTE_UNSUPPORTED_ISA:
      return "unsupported kernel family";
    case MOTE_WRONG_SNAPSHOT:
      return "wrong snapshot";
    case MOTE_CANCELLED:
    case MOTE_OUT_OF_MEMORY:
    case MOTE_BAD_INPUT:
      break;
  }
  return "unknown status";
}

const char* mote_isa_name(mote_isa isa) {
  mote::Isa level;
  return mote::isa_from_public(isa, &level) ? mote::isa_name(level) : "auto";
}

int mote_isa_from_name(const char* name, mote_isa* isa) {
  mote::Isa level;
  *isa = MOTE_ISA_AUTO;
  if (name == nullptr || !mote::isa_from_name(name, &level)) return 0;
  *isa = mote::isa_to_public(level);
  return 1;
}

}  // extern "C"
