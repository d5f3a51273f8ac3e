// SPDX-License-Identifier: Apache-2.0
//
// Of every golden model: programs of whole sequences give a sequence the same bits alone and in any company,
// for any threads, lanes and passes.
#include "tests/support/every_golden.h"
#include "tests/support/thread_pool.h"

namespace {

using Rows = std::vector<std::vector<float>>;  // of each sequence

/// Sequences are of these lengths, or the nearest that the program takes; sequence i is text i.
using Lengths = std::vector<uint32_t>;

class WholeProgram {
 public:
  WholeProgram(const test::OpenModel& model, uint32_t program)
      : model_(model), number_(program), program_(*model.get()->root->programs()->Get(program)) {
    mote_model_get_program(model.get(), program, &info_);
  }

  Lengths fit(const Lengths& asked) const {
    Lengths fitting;
    const uint32_t least = mote::least_tokens(program_), most = std::max(least, info_.context);
    for (const uint32_t length : asked) fitting.push_back(std::clamp(length, least, most));
    return fitting;
  }

  mote_session_options options(const Lengths& lengths, const mote_platform& platform,
                               mote_kv_dtype cache = MOTE_KV_AUTO) const {
    uint32_t rows = 0, outputs = 0;
    for (const uint32_t length : lengths) {
      rows += length;
      outputs += outputs_of(length);
    }
    const auto batch = static_cast<uint32_t>(lengths.size());
    mote_session_options options = mote_session_options_default(model_.get());
    options.batch = batch;
    options.chunk = std::max({rows, batch, model_.get()->sources ? options.chunk : 1u});
    options.logit_rows = std::max(outputs, batch);
    options.platform = platform;
    options.kv_dtype = cache;
    return options;
  }

  Rows run(mote_session* session, const Lengths& lengths, uint32_t first_text = 0) const {
    std::vector<mote_row> rows;
    std::vector<float> values;
    for (uint32_t s = 0; s < lengths.size(); ++s) {
      for (uint32_t i = 0; i < lengths[s]; ++i) {
        const uint32_t text = first_text + s;
        rows.push_back({s, info_.ids != 0 ? test::id_of(text, i, model_.info().vocab) : 0, 0, 1});
        test::add_values(text, i, info_.input_width, &values);
      }
    }
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.program = number_;
    if (info_.input_width != 0) call.values = values.data();
    mote_error error{};
    const mote_status status = mote_compute(session, &call, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
    return outputs(session, lengths);
  }

 private:
  bool of_sequences() const {
    using Kind = mote::file::OutputKind;
    return program_.output_kind() == Kind::sequence_labels || program_.output_kind() == Kind::embedding;
  }
  uint32_t outputs_of(uint32_t length) const {
    return of_sequences() ? 1 : mote::rows_of_sequence(program_, mote::selected_of(program_), length);
  }
  Rows outputs(const mote_session* session, const Lengths& lengths) const {
    Rows all;
    uint32_t row = 0;
    for (const uint32_t length : lengths) {
      all.emplace_back();
      for (uint32_t end = row + outputs_of(length); row < end; ++row) {
        const float* values = mote_session_output(session, row);
        REQUIRE(values != nullptr);
        all.back().insert(all.back().end(), values, values + info_.output_width);
      }
    }
    REQUIRE(mote_session_output(session, row) == nullptr);
    return all;
  }

  const test::OpenModel& model_;
  uint32_t number_;
  const mote::file::Program& program_;
  mote_program_info info_{};
};

bool equal(const Rows& a, const Rows& b) {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i)
    same = a[i].size() == b[i].size() && std::memcmp(a[i].data(), b[i].data(), a[i].size() * 4) == 0;
  return same;
}

/// Each sequence in a run of its own, by one thread.
Rows alone(const test::OpenModel& model, const WholeProgram& program, const Lengths& lengths,
           mote_kv_dtype cache = MOTE_KV_AUTO) {
  Rows all;
  const Lengths longest = {*std::max_element(lengths.begin(), lengths.end())};
  const test::OpenSession session(model, program.options(longest, mote_platform_default(), cache));
  for (uint32_t i = 0; i < lengths.size(); ++i)
    all.push_back(program.run(session.get(), {lengths[i]}, i).front());
  return all;
}

/// Sequences in lanes whose ends are theirs, parted by lanes, and in several passes of equal and other
/// lengths.
std::vector<Lengths> companies() {
  std::vector<Lengths> all = {Lengths(4, 8), Lengths(2, 16), Lengths(10, 18), {}};
  for (uint32_t i = 0; i < 24; ++i) all.back().push_back(1 + i * 5 % 23);
  return all;
}

void check_company(const std::string& type) {
  const test::ThreadPool two(2), three(3), four(4);
  test::each_golden(type, [&](const test::OpenModel& model) {
    for (uint32_t p = 0; p < mote_model_programs(model.get()); ++p) {
      if (!mote::is_whole(*model.get()->root->programs()->Get(p))) continue;
      const WholeProgram program(model, p);
      for (const Lengths& asked : companies()) {
        const Lengths lengths = program.fit(asked);
        const Rows expected = alone(model, program, lengths);
        for (const auto& platform :
             {mote_platform_default(), two.platform(), three.platform(), four.platform()}) {
          CAPTURE(p, lengths.size(), lengths.front(), platform.threads);
          const test::OpenSession session(model, program.options(lengths, platform));
          const bool same = equal(expected, program.run(session.get(), lengths)) &&
                            equal(expected, program.run(session.get(), lengths));
          REQUIRE(same);
        }
      }
    }
  });
}

/// Runs that are parted in any way, over each type of cache.
void check_caches(const std::string& type) {
  const test::ThreadPool four(4);
  test::each_golden(type, [&](const test::OpenModel& model) {
    for (uint32_t p = 0; p < mote_model_programs(model.get()); ++p) {
      if (!mote::is_whole(*model.get()->root->programs()->Get(p))) continue;
      const WholeProgram program(model, p);
      const Lengths lengths = program.fit(companies().back());
      for (const mote_kv_dtype cache : test::cache_types(model)) {
        CAPTURE(p, static_cast<int>(cache));
        const test::OpenSession session(model, program.options(lengths, four.platform(), cache));
        const bool same = equal(alone(model, program, lengths, cache), program.run(session.get(), lengths));
        REQUIRE(same);
      }
    }
  });
}

}  // namespace

TEST("a whole sequence has the same bits alone and in any company, in every golden model in f32") {
  check_company("f32");
}

TEST("a whole sequence has the same bits alone and in any company, in every golden model in 8 bits") {
  check_company("q8g32");
}

TEST("a whole sequence has the same bits in company over each type of cache, in every golden model",
     "[values]") {
  check_caches("f32");
  check_caches("q8g32");
}
