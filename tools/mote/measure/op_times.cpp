// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/op_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "runtime/exec/passes.h"
#include "runtime/file/model.h"
#include "runtime/isa.h"
#include "schema/mote_generated.h"
#include "tools/mote/measure/timer.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

/// Adds up what operations of one kind take.
class Profile {
 public:
  explicit Profile(const ModelFile& file)
      : model_(*file::GetSizePrefixedModel(file.bytes().data())), program_(*model_.programs()->Get(0)) {}

  /// A run of so many rows, or a pass of one; `step` does its next operation.
  template <class Step>
  void run(uint64_t tokens, uint64_t selected, uint64_t sequences, uint64_t seen, DType kv, Step step) {
    for (const file::Op* op : *program_.ops()) {
      Timer timer;
      step();
      const double ms = timer.ms();
      const uint32_t stream = op_stream(model_, program_, *op);
      const file::StreamKind kind = program_.streams()->Get(stream)->kind();
      const uint64_t positions =
          has_positions(kind) ? rows_of_sequence(program_, stream, static_cast<uint32_t>(seen)) : seen;
      const uint64_t rows = kind == file::StreamKind::selected   ? selected
                            : kind == file::StreamKind::sequence ? sequences
                                                                 : tokens * positions / seen;
      if (rows != 0) add(op_work(model_, program_, *op, {rows, positions, kv}), ms);
    }
  }

  void add(const OpWork& work, double ms) {
    const auto same = [&](const OpTime& time) { return time.work.kind == work.kind; };
    auto found = std::find_if(times_.begin(), times_.end(), same);
    if (found == times_.end()) {
      found = times_.insert(times_.end(), OpTime{});
      found->work.kind = work.kind;
      found->work.integer = work.integer;
    }
    found->work.bytes += work.bytes;
    found->work.multiply_adds += work.multiply_adds;
    found->ms += ms;
    ++found->calls;
  }

  std::vector<OpTime> slowest_first() && {
    std::sort(times_.begin(), times_.end(), [](const OpTime& a, const OpTime& b) { return a.ms > b.ms; });
    return std::move(times_);
  }

 private:
  const file::Model& model_;
  const file::Program& program_;
  std::vector<OpTime> times_;
};

}  // namespace

std::vector<OpTime> time_generation_ops(const ModelFile& file, Session& session, const GenerationWork& work) {
  mote_error error = {};
  mote_event event = {};
  const auto step = [&] {
    check(mote_session_step(session.get(), 1, &event, &error), error, "bench: --ops");
  };
  Profile profile(file);
  mote_generation generation = mote_generation_default();
  generation.max_tokens = work.tokens;
  check(mote_generation_begin(session.get(), work.ids.data(), static_cast<uint32_t>(work.ids.size()),
                              &generation, &error),
        error, "bench: --ops");
  uint64_t position = mote_session_length(session.get(), 0);
  for (uint64_t left = work.ids.size(); event.finish == MOTE_FINISH_NONE; left = left == 0 ? 1 : left) {
    const uint64_t rows = std::min<uint64_t>(left, work.chunk);
    left -= rows;
    profile.run(rows, left == 0 ? 1 : 0, 1, position + (rows + 1) / 2, work.kv, step);
    position += rows;
    if (left != 0) continue;
    Timer timer;
    step();
    profile.add({"Sample", uint64_t{4} * file.info().vocab, 0, false}, timer.ms());
  }
  return std::move(profile).slowest_first();
}

std::vector<OpTime> time_encode_ops(const ModelFile& file, Session& session, const EncodeWork& work) {
  const mote_batch& batch = work.batch;
  mote_error error = {};
  int done = 0;
  std::vector<uint32_t> starts(batch.count + 1);
  std::partial_sum(batch.lengths, batch.lengths + batch.count, starts.begin() + 1);
  const uint32_t tokens = starts.back();
  check(mote_encode_begin(session.get(), &batch, &error), error, "bench: --ops");
  Isa isa = Isa::kRef;
  isa_from_public(mote_session_isa(session.get()), &isa);
  const uint32_t most_rows = pass_rows(*family(isa).tuning, work.threads);
  Profile profile(file);
  for (uint32_t first = 0, end; first < batch.count && done == 0; first = end) {
    end = end_of_pass(starts.data(), first, batch.count, most_rows);
    const bool last = end == batch.count;  // the head waits for it
    profile.run(starts[end] - starts[first], last ? tokens : 0, last ? batch.count : 0, tokens / batch.count,
                work.kv,
                [&] { check(mote_encode_step(session.get(), 1, &done, &error), error, "bench: --ops"); });
  }
  return std::move(profile).slowest_first();
}

void print_op_times(const char* title, const std::vector<OpTime>& times, const Limits& limits) {
  using enum Table::Align;
  Table table({{title},
               {"calls", right},
               {"time", right},
               {"share", right},
               {"GB/s", right},
               {"of the limit", right},
               {"G multiply-adds/s", right},
               {"of the limit", right}});
  const double total = std::accumulate(times.begin(), times.end(), 0.0,
                                       [](double sum, const OpTime& t) { return sum + t.ms; });
  const auto share = [](double rate, double limit) {
    return limit > 0.0 && rate > 0.0 ? fmt::format("{:.0f} %", 100.0 * rate / limit) : std::string();
  };
  for (const OpTime& time : times) {
    const double bytes = per_second(static_cast<double>(time.work.bytes), time.ms);
    const double macs = per_second(static_cast<double>(time.work.multiply_adds), time.ms);
    table.row({time.work.kind, std::to_string(time.calls), human_ms(time.ms), share(time.ms, total),
               fmt::format("{:.1f}", bytes / 1e9), share(bytes, limits.bytes),
               macs > 0.0 ? fmt::format("{:.1f}", macs / 1e9) : "",
               share(macs, time.work.integer ? limits.integer : limits.floating)});
  }
  table.print();
}

nlohmann::json op_times_json(const std::vector<OpTime>& times) {
  nlohmann::json all = nlohmann::json::array();
  for (const OpTime& time : times) {
    all.push_back({{"op", time.work.kind},
                   {"calls", time.calls},
                   {"ms", time.ms},
                   {"bytes", time.work.bytes},
                   {"multiply_adds", time.work.multiply_adds}});
  }
  return all;
}

}  // namespace mote::cli
