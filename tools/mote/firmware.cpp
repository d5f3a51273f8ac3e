// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/firmware.h"

#include <fmt/format.h>

#include <algorithm>

#include "schema/mote_generated.h"

namespace mote::cli {
namespace {

/// Bytes of the widened activations of a row.
uint64_t widened_bytes(const ModelFile& file) {
  uint64_t widest = 0;
  for (const file::Tensor* tensor : *file::GetSizePrefixedModel(file.bytes().data())->tensors()) {
    if (tensor->packing() == file::Packing::p16k4) widest = std::max<uint64_t>(widest, tensor->cols());
  }
  return (widest + 63) / 64 * 72 * 2;  // and two words a group
}

bool heads_fit_i8(const ModelFile& file) {
  const auto* states = file::GetSizePrefixedModel(file.bytes().data())->states();
  if (states == nullptr) return false;
  return std::all_of(states->begin(), states->end(), [](const file::State* state) {
    return state->key_dim() % 4 == 0 && state->value_dim() % 4 == 0;
  });
}

}  // namespace

mote_session_options firmware_options(const ModelFile& file, const FirmwareFlags& flags) {
  mote_session_options options = mote_session_options_default(file.model());
  options.context = std::min(flags.context, file.info().context);
  options.chunk = is_encoder(file) ? options.context : std::min(flags.chunk, options.context);
  options.logit_rows = 1;
  options.threads = 1;
  options.isa = MOTE_ISA_REF;
  options.text_bytes = file.info().tokens == 0 ? 0 : flags.text_bytes;
  if (heads_fit_i8(file)) options.kv_dtype = MOTE_KV_I8;
  return options;
}

mote_memory firmware_memory(const ModelFile& file, const mote_session_options& options) {
  mote_memory memory = {};
  mote_error error = {};
  check(mote_session_memory(file.model(), &options, &memory, &error), error, file.path());
  memory.scratch += widened_bytes(file);
  return memory;
}

uint64_t total(const mote_memory& memory) {
  return memory.session + memory.activations + memory.scratch + memory.kv_cache + memory.sampler +
         memory.text + memory.states;
}

std::string page_remark(const ModelFile& file, uint32_t context) {
  const auto keys_and_values = [&](uint32_t positions) {
    FirmwareFlags flags;
    flags.context = positions;
    return firmware_memory(file, firmware_options(file, flags)).kv_cache;
  };
  const uint64_t taken = keys_and_values(context);
  uint32_t same = context;
  while (same < file.info().context && keys_and_values(same + 1) == taken) ++same;
  if (taken == 0 || same == context) return "";
  return fmt::format("keys and values lie in pages: for a context of {} they take as much as for one of {}",
                     context, same);
}

}  // namespace mote::cli
