// SPDX-License-Identifier: Apache-2.0
#include "runtime/file/parts.h"

#include "runtime/error.h"

namespace mote {

#ifdef MOTE_MODEL_CONFIG
mote_status check_operations(const file::Program& program, mote_error* error) {
  for (uint32_t i = 0; i < program.ops()->size(); ++i) {
    const file::OpArgs type = program.ops()->Get(i)->args_type();
    bool known = false;
#define OP(op, operation, types) MOTE_OP_OF_MODEL(op, known = known || type == file::OpArgs::op;)
#include "kernels/op_list.inc"
    if (known) continue;
    return fail_at(error, MOTE_UNSUPPORTED_FILE, static_cast<int32_t>(i), "op ", i,
                   ": unknown operation; the build is for another model");
  }
  return MOTE_OK;
}
#else
mote_status check_operations(const file::Program&, mote_error*) { return MOTE_OK; }
#endif

mote_status check_media(const mote_model& model, mote_error* error) {
  if constexpr (kHasMedia) {
    mote_status status = check_sound(model, error);
    if (status == MOTE_OK) status = check_speech(model, error);
    if (status == MOTE_OK) status = check_picture(model, error);
    if (status == MOTE_OK) status = check_sight(model, error);
    if (status == MOTE_OK) status = check_voice(model, error);
    return status;
  }
  if (model.root->sound() == nullptr && model.root->speech() == nullptr && model.root->picture() == nullptr &&
      model.root->sight() == nullptr && model.root->voice() == nullptr)
    return MOTE_OK;
  return fail(error, MOTE_UNSUPPORTED_FILE, "the build, for another model, takes no sound or pictures");
}

}  // namespace mote
