// SPDX-License-Identifier: Apache-2.0
//
// The hashes of a model's weights, one part at a time.
#include "runtime/error.h"
#include "runtime/file/model.h"
#include "runtime/file/xxh64.h"

using mote::fail;

extern "C" {

uint32_t mote_model_parts(const mote_model* model) {
  return model->root->tensors()->size() + (model->root->tokenizer() == nullptr ? 0 : 1);
}

mote_status mote_model_check_part(const mote_model* model, uint32_t part, mote_error* error) {
  const auto& tensors = *model->root->tensors();
  if (part >= mote_model_parts(model))
    return fail(error, MOTE_INVALID_ARGUMENT, "part ", part, " of ", mote_model_parts(model));
  if (part == tensors.size()) {
    mote::Tokenizer tokenizer;
    const bool more =
        (model->root->required_features() & mote::file::Feature::more_tokens) != mote::file::Feature::NONE;
    return mote::open_tokenizer(*model->root->tokenizer(), {model->segment, model->root->segment_bytes()},
                                model->root->vocab(), more, true, &tokenizer, error);
  }
  const mote::file::Tensor& tensor = *tensors.Get(part);
  const uint8_t* const data = model->segment + tensor.offset();
  if (mote::xxh64(data, static_cast<size_t>(tensor.bytes())) == tensor.xxh64()) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "tensor ", tensor.name()->c_str(),
              ": hash differs; copy or download the file again");
}

}  // extern "C"
