// SPDX-License-Identifier: Apache-2.0
//
// Every encoder in tests/golden/models, from its files to the outputs of the original implementation.
#include <cmath>

#include "schema/mote_generated.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/relative_error.h"

namespace {

using mote::convert::SafetensorsFile;

/// The golden input: rows without their padding.
struct Input {
  size_t rows, columns;
  std::vector<std::vector<int32_t>> ids, types;
  size_t first = 0;  // of the stored rows
};

/// In the original these see the padding behind shorter rows, which are no texts by themselves then: their
/// rows without padding come first, and only these are compared.
bool sees_padding(const std::string& name) { return name == "big_bird" || name == "mobilebert_classifier"; }

/// In the original the inverse of all texts of a batch starts from the largest sum of a column of any of
/// them: of these texts the second's, which alone is as it is by itself.
bool starts_from_second(const std::string& name) { return name == "nystromformer"; }

/// What goes on from the memory of the first input.
bool is_of_memory(const std::string& stored) { return stored.starts_with("second."); }

Input read_input(const std::string& name, const SafetensorsFile& golden, const test::OpenModel& model,
                 const std::string& prefix = "") {
  const auto& shape = golden.shape(prefix + "input_ids");
  Input input{shape.at(0), shape.at(1), {}, {}};
  const std::vector<int64_t> ids = golden.i64(prefix + "input_ids");
  const auto array = [&](const std::string& key, int64_t otherwise) {
    return golden.has(prefix + key) ? golden.i64(prefix + key) : std::vector<int64_t>(ids.size(), otherwise);
  };
  const std::vector<int64_t> mask = array("attention_mask", 1);
  std::vector<int64_t> types = array("token_type_ids", 0);
  if (golden.has("global_attention_mask")) {
    mote_output_info output;
    mote_model_get_output(model.get(), &output);
    const std::vector<int64_t> global = golden.i64("global_attention_mask");
    for (size_t i = 0; i < ids.size(); ++i) types[i] += global[i] * (output.global_type);
  }
  for (size_t row = 0; row < input.rows; ++row) {
    input.ids.emplace_back();
    input.types.emplace_back();
    for (size_t i = row * input.columns; i < (row + 1) * input.columns; ++i) {
      if (mask[i] == 0) continue;  // at the end of the row
      input.ids.back().push_back(static_cast<int32_t>(ids[i]));
      input.types.back().push_back(static_cast<int32_t>(types[i]));
    }
  }
  while (sees_padding(name) && input.ids[input.rows - 1].size() != input.columns) --input.rows;
  if (starts_from_second(name)) {  // the first row is as it would be beside others, not alone
    input.first = 1;
    input.rows -= 1;
    input.ids.erase(input.ids.begin());
    input.types.erase(input.types.begin());
  }
  REQUIRE(input.rows > 0);
  return input;
}

/// The stored values of the input's rows.
std::vector<float> stored_rows(const SafetensorsFile& golden, const std::string& stored, const Input& input) {
  const std::vector<float> values = golden.f32(stored);
  const size_t of_row = values.size() / golden.shape("input_ids").at(0);
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(of_row * input.first);
  return {begin, begin + static_cast<std::ptrdiff_t>(of_row * input.rows)};
}

/// Arrays by their golden name, 0 where a row is padding.
using Arrays = std::map<std::string, std::vector<float>>;

/// Takes what a run gives of the sequences from `first` on.
struct Collector {
  const Input& input;
  Arrays& arrays;
  size_t first = 0, count = 0;

  void token_rows(const std::string& name, const float* data, uint32_t width, size_t stride) {
    std::vector<float>& to = arrays[name];
    to.resize(input.rows * input.columns * width);
    for (size_t row = first; row < first + count; ++row) {
      for (size_t i = 0; i < input.ids[row].size(); ++i, data += stride) {
        std::copy_n(data, width, to.begin() + static_cast<std::ptrdiff_t>((row * input.columns + i) * width));
      }
    }
  }
  void sequence_rows(const std::string& name, const float* data, uint32_t width, size_t stride) {
    std::vector<float>& to = arrays[name];
    to.resize(input.rows * width);
    for (size_t row = first; row < first + count; ++row, data += stride) {
      std::copy_n(data, width, to.begin() + static_cast<std::ptrdiff_t>(row * width));
    }
  }
  /// As many rows of each sequence, `each`, whatever its tokens are.
  void fixed_rows(const std::string& name, const float* data, uint32_t each, uint32_t width, size_t stride) {
    std::vector<float>& to = arrays[name];
    to.resize(input.rows * each * width);
    for (size_t i = first * each; i < (first + count) * each; ++i, data += stride)
      std::copy_n(data, width, to.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  static void trace(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                    size_t stride) {
    auto& self = *static_cast<Collector*>(user);
    size_t tokens = 0;
    for (size_t row = self.first; row < self.first + self.count; ++row) tokens += self.input.ids[row].size();
    if (std::string(name) == "pooler_output") {
      self.sequence_rows(name, data, width, stride);
    } else if (rows != tokens) {
      self.fixed_rows(name, data, rows / static_cast<uint32_t>(self.count), width, stride);
    } else {
      self.token_rows(name, data, width, stride);
    }
  }
};

/// Column `column` of rows of 2.
std::vector<float> column_of(const std::vector<float>& rows, size_t column) {
  std::vector<float> values;
  for (size_t i = column; i < rows.size(); i += 2) values.push_back(rows[i]);
  return values;
}

/// The output under its golden name; outputs lie one after the other.
void collect_output(mote_session* session, const mote_output_info& output, Collector& collector) {
  const float* first = mote_session_output(session, 0);
  REQUIRE(first != nullptr);
  const size_t stride = output.of_sequences != 0 && collector.count == 1
                            ? output.width
                            : static_cast<size_t>(mote_session_output(session, 1) - first);
  const char* name = output.kind == MOTE_OUTPUT_EMBEDDING ? "sentence_embedding"
                     : output.kind == MOTE_OUTPUT_HIDDEN  ? "last_hidden_state"
                                                          : "logits";
  if (output.of_sequences != 0) {
    collector.sequence_rows(name, first, output.width, stride);
  } else {
    collector.token_rows(name, first, output.width, stride);
  }
}

/// The collector's sequences in one run.
void encode(const test::OpenSession& session, const mote_output_info& output, Collector& collector,
            bool continues = false) {
  const Input& input = collector.input;
  std::vector<int32_t> ids, types;
  std::vector<uint32_t> lengths;
  for (size_t row = collector.first; row < collector.first + collector.count; ++row) {
    ids.insert(ids.end(), input.ids[row].begin(), input.ids[row].end());
    types.insert(types.end(), input.types[row].begin(), input.types[row].end());
    lengths.push_back(static_cast<uint32_t>(input.ids[row].size()));
  }
  const auto count = static_cast<uint32_t>(lengths.size());
  const mote_batch batch{ids.data(), types.data(), lengths.data(), count, nullptr,
                         0,          nullptr,      continues,      {},    {}};
  mote_error error{};
  const mote_status status = mote_encode(session.get(), &batch, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  collect_output(session.get(), output, collector);
}

/// Of a session for runs of `together` sequences of the input, which is traced.
mote_session_options options_for(const test::OpenModel& model, mote_isa isa, const Input& input,
                                 size_t together, mote_kv_dtype kv = MOTE_KV_AUTO) {
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.kv_dtype = kv;
  options.batch = static_cast<uint32_t>(together);
  options.chunk = options.logit_rows = static_cast<uint32_t>(input.rows * input.columns);
  return options;
}

/// Sequences in runs of `together`.
Arrays encode(const test::OpenModel& model, mote_isa isa, const Input& input, size_t together,
              mote_kv_dtype kv = MOTE_KV_AUTO) {
  Arrays arrays;
  Collector collector{input, arrays};
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  mote_session_options options = options_for(model, isa, input, together, kv);
  options.trace = Collector::trace;
  options.trace_user = &collector;
  const test::OpenSession session(model, options);
  for (collector.count = together; collector.first < input.rows; collector.first += together)
    encode(session, output, collector);
  if (output.kind == MOTE_OUTPUT_ANSWER_SPAN) {
    arrays["start_logits"] = column_of(arrays["logits"], 0);
    arrays["end_logits"] = column_of(arrays["logits"], 1);
  }
  return arrays;
}

/// The relative error of a model in exact arithmetic whose weights alone are rounded to 8 bits, measured
/// outside mote, where it exceeds what other models show. Activations, and keys and values, are rounded to as
/// many bits, each independent of it.
double error_of_rounded_weights(const std::string& name) {
  return name == "embedding_gemma2_text" ? 4.03e-2 : 0.0;
}

/// Linears one after the other: of two layers of two branches 8. MobileBERT has one of the embedding and, in
/// each layer, those into and out of the bottleneck, two of attention and two of each of two feed-forwards.
double linears_in_a_row(const std::string& name) { return name == "mobilebert_classifier" ? 17 : 8; }

/// In attention over bytes, of two layers.
constexpr double kAttentionErrors = 4;

/// Whether feed-forwards multiply two halves.
bool is_gated(const test::AlignedBytes& file) {
  for (const auto* op : *mote::file::GetSizePrefixedModel(file.data())->programs()->Get(0)->ops()) {
    if (op->args_type() == mote::file::OpArgs::Gate) return true;
  }
  return false;
}

}  // namespace

TEST("every golden encoder gives every stored output, padded rows too, alone and together") {
  const auto check = [](const std::string& name, const test::OpenModel& model,
                        const SafetensorsFile& golden) {
    const Input input = read_input(name, golden, model);
    for (const mote_isa isa : test::all_families()) {
      for (const size_t together : {size_t{1}, input.rows}) {
        const Arrays arrays = encode(model, isa, input, together);
        for (const auto& [stored, tensor] : golden.tensors()) {
          if (tensor.dtype != "F32" || is_of_memory(stored)) continue;
          CAPTURE(name, mote_isa_name(isa), together, stored);
          REQUIRE(arrays.count(stored) == 1);
          const std::vector<float> expected = stored_rows(golden, stored, input);
          TEST_ASSERT_EQUAL_UINT32(expected.size(), arrays.at(stored).size());
          TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(name), expected.data(),
                                         arrays.at(stored).data(), expected.size());
        }
      }
    }
  };
  test::for_each_golden(test::golden_names("encoder"), 8, check);
}

TEST("a text goes on from the memory of the one before, and only where that is asked for") {
  const test::OpenModel model(test::golden_file("xlnet", "f32"));
  const SafetensorsFile golden(test::golden_folder() / "xlnet" / "golden.safetensors");
  const Input first = read_input("xlnet", golden, model),
              second = read_input("xlnet", golden, model, "second.");
  const std::vector<float> expected = golden.f32("second.last_hidden_state");
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  TEST_ASSERT_EQUAL_UINT32(first.columns, output.memory);
  for (const mote_isa isa : test::all_families()) {
    const test::OpenSession session(model, options_for(model, isa, first, first.rows));
    Arrays arrays, alone, again;
    Collector of_first{first, arrays, 0, first.rows}, of_second{second, arrays, 0, second.rows};
    encode(session, output, of_first);
    const std::vector<float> before = arrays.at("last_hidden_state");
    encode(session, output, of_second, true);
    CAPTURE(mote_isa_name(isa));
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance("xlnet"), expected.data(),
                                   arrays.at("last_hidden_state").data(), expected.size());
    Collector fresh{first, again, 0, first.rows};
    encode(session, output, fresh);
    TEST_ASSERT_TRUE(again.at("last_hidden_state") == before);
  }
}

TEST("encoders in 16 and 8 bits stay near the stored outputs", "[values]") {
  // Relative error of the last hidden states; of random weights, whose errors do not cancel as trained ones'
  // do. A row or group of n normal values has its largest at about 2.1 of their root mean square, so a step
  // of 8 bits, a 127th of that, rounds by 2.1 / (127 sqrt 12) = 0.5 % of it, and a linear whose weights and
  // inputs are both rounded is off by 0.7 %. Two layers of two branches with two linears one after the other
  // are 8 such errors at most, sqrt(8) 0.7 % = 2 %, where no branch is larger than the stream it is added to;
  // of more linears so many.
  // A gated feed-forward multiplies two values of independent errors, and the activation of one of them can
  // grow its error where its slope is more than value / input: no more than all 8 errors twice, sqrt(2).
  // Attention over bytes rounds queries and keys before its scores, and weights and values before its sums:
  // two more such errors in each layer.
  for (const std::string& name : test::golden_names("encoder")) {
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    for (const auto& [type, bound] :
         {std::pair(std::string("f16"), 2e-3), std::pair(std::string("q8g32"), 2e-2),
          std::pair(std::string("q8c"), 2e-2)}) {
      const test::AlignedBytes& file = test::golden_file(name, type);
      const test::OpenModel model(file);
      const Input input = read_input(name, golden, model);
      std::string last = "last_hidden_state";  // where no others are stored
      for (uint32_t layer = 0; golden.has("hidden." + std::to_string(layer)); ++layer) {
        last = "hidden." + std::to_string(layer);
      }
      const std::vector<float> expected = stored_rows(golden, last, input);
      const double rounded = type == "f16" ? 0.0 : error_of_rounded_weights(name);
      for (const mote_kv_dtype kv : {MOTE_KV_F32, MOTE_KV_AUTO}) {
        const Arrays arrays = encode(model, MOTE_ISA_AUTO, input, input.rows, kv);
        const double in_attention = kv == MOTE_KV_AUTO && type != "f16" ? kAttentionErrors : 0;
        const double errors = (linears_in_a_row(name) + in_attention) / 8 * (is_gated(file) ? 2 : 1);
        CAPTURE(name, type, kv);
        TEST_ASSERT_LESS_THAN(std::max(bound * std::sqrt(errors), std::sqrt(3.0) * rounded),
                              test::relative_error(expected, arrays.at(last)));
      }
    }
  }
}
