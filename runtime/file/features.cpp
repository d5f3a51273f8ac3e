// SPDX-License-Identifier: Apache-2.0
#include "runtime/file/features.h"

#include "mote/beams.h"
#include "runtime/error.h"
#include "runtime/exec/token_rules.h"

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

mote_status check_choosing(const file::Model& root, mote_error* error) {
  const file::BeamSearch* search = root.beam_search();
  if ((!kHasSearch && search != nullptr) || (!kHasGeneration && root.generation() != nullptr))
    return fail(error, MOTE_UNSUPPORTED_FILE,
                "the build, for another model, has no beam search or rules of sampling");
  if (search != nullptr && (search->beams() == 0 || search->stop() > MOTE_STOP_NEVER))
    return fail(error, MOTE_CORRUPT_FILE, search->beams(), " beams, stop ", uint32_t{search->stop()});
  if (const char* problem = generation_problem(root.generation()))
    return fail(error, MOTE_CORRUPT_FILE, "generation: ", problem);
  return MOTE_OK;
}

mote_status check_texts(const file::Model& root, mote_error* error) {
  const file::Globals* globals = root.globals();
  const uint32_t prompts = size_of(root.prompts());
  if constexpr (!kHasWholeSequences) {
    if (globals == nullptr && prompts == 0) return MOTE_OK;
    return fail(error, MOTE_UNSUPPORTED_FILE, "the build, for another model, takes no whole sequences");
  }
  if (globals != nullptr && (globals->type() == 0 || globals->type() >= root.token_types() ||
                             globals->by_default() > file::GlobalDefault::MAX)) {
    return fail(error, MOTE_CORRUPT_FILE, "global tokens of type ", globals->type(), " of ",
                root.token_types());
  }
  if (prompts > kMaxLabels || root.default_prompt() < -1 ||
      root.default_prompt() >= static_cast<int32_t>(prompts)) {
    return fail(error, MOTE_CORRUPT_FILE, prompts, " prompts, the default is ", root.default_prompt());
  }
  if (root.similarity() > file::Similarity::MAX) return fail(error, MOTE_CORRUPT_FILE, "unknown similarity");
  return MOTE_OK;
}

mote_status check_media(const mote_model& model, mote_error* error) {
  if constexpr (kHasMedia) {
    mote_status status = check_sound(model, error);
    if (status == MOTE_OK) status = check_speech(model, error);
    if (status == MOTE_OK) status = check_picture(model, error);
    if (status == MOTE_OK) status = check_vision_input(model, error);
    if (status == MOTE_OK) status = check_voice(model, error);
    return status;
  }
  if (model.root->sound() == nullptr && model.root->speech() == nullptr && model.root->picture() == nullptr &&
      model.root->vision_input() == nullptr && model.root->voice() == nullptr)
    return MOTE_OK;
  return fail(error, MOTE_UNSUPPORTED_FILE, "the build, for another model, takes no sound or pictures");
}

}  // namespace mote
