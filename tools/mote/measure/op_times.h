// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a run goes, operation by operation.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "tools/mote/measure/op_work.h"
#include "tools/mote/session.h"

namespace mote::cli {

/// Operations of one kind, together.
struct OpTime {
  OpWork work;  // of all calls
  uint64_t calls = 0;
  double ms = 0;
};

/// The most that the machine can do per second; 0: not known.
struct Limits {
  double bytes = 0, integer = 0, floating = 0;
};

/// The tokens that are generated on sequence 0, after its present tokens: `tokens` 1 times a prompt, ids of
/// one token times decoding.
struct GenerationWork {
  std::span<const int32_t> ids;
  uint32_t chunk;  // of the session
  uint32_t tokens;
  DType kv;  // the type of the session's cache
};
std::vector<OpTime> time_generation_ops(const ModelFile& file, Session& session, const GenerationWork& work);

/// A batch of sequences, of an encoder.
struct EncodeWork {
  mote_batch batch;
  uint32_t threads;  // of the session
  DType kv;
};
std::vector<OpTime> time_encode_ops(const ModelFile& file, Session& session, const EncodeWork& work);

/// The slowest first.
void print_op_times(const char* title, const std::vector<OpTime>& times, const Limits& limits);
nlohmann::json op_times_json(const std::vector<OpTime>& times);

}  // namespace mote::cli
