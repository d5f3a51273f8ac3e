// SPDX-License-Identifier: Apache-2.0
//
// A list that a file may leave out and an empty one mean the same.
#include "tests/support/every_golden.h"

namespace {

using mote::file::Model;

/// The file with another self test: that of before, and a list of values without any.
test::AlignedBytes with_empty_values(const test::AlignedBytes& file) {
  const Model* root = mote::file::GetSizePrefixedModel(file.data());
  const mote::file::SelfTest& old = *root->self_test();
  flatbuffers::FlatBufferBuilder builder;
  const auto ids = builder.CreateVector(old.ids()->data(), old.ids()->size());
  const auto continuation = builder.CreateVector(old.expected_ids()->data(), old.expected_ids()->size());
  const auto logits = builder.CreateVector(old.expected_logits()->data(), old.expected_logits()->size());
  const auto values = builder.CreateVector(std::vector<float>{});
  builder.Finish(mote::file::CreateSelfTest(builder, ids, continuation, logits, old.tolerance(), values));

  // Behind the metadata, which become longer, so that the weights lie further behind.
  const size_t metadata = flatbuffers::GetPrefixedSize(file.data()) + sizeof(uint32_t),
               weights = mote::align_up(metadata, mote::kAlignment), added = weights,
               all = mote::align_up(added + builder.GetSize(), mote::kAlignment);
  test::AlignedBytes longer(all + file.size() - weights);
  std::memset(longer.data(), 0, all);
  std::memcpy(longer.data(), file.data(), metadata);
  std::memcpy(longer.data() + added, builder.GetBufferPointer(), builder.GetSize());
  std::memcpy(longer.data() + all, file.data() + weights, file.size() - weights);
  const auto size = static_cast<uint32_t>(all - sizeof(uint32_t));
  std::memcpy(longer.data(), &size, sizeof size);
  const auto* table =
      reinterpret_cast<const flatbuffers::Table*>(mote::file::GetSizePrefixedModel(longer.data()));
  uint8_t* field = const_cast<uint8_t*>(table->GetAddressOf(Model::VT_SELF_TEST));
  const uint8_t* test = longer.data() + added + flatbuffers::ReadScalar<uint32_t>(longer.data() + added);
  flatbuffers::WriteScalar(field, static_cast<uint32_t>(test - field));
  return longer;
}

mote_status self_test(const test::AlignedBytes& file) {
  const test::OpenModel model(file);
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  mote_self_test result{};
  mote_error error{};
  const mote_status status = mote_session_self_test(session.get(), &result, &error);
  INFO(error.text);
  return status;
}

}  // namespace

TEST("a self test with an empty list of floats is one without floats") {
  // A source of ids, a decoder beside which pictures stand, a decoder and an encoder.
  for (const char* name : {"bart", "qwen3_vl", "llama", "bert"}) {
    CAPTURE(name);
    const test::AlignedBytes file = test::golden_files(name, "f32").front();
    REQUIRE(self_test(file) == MOTE_OK);
    REQUIRE(self_test(with_empty_values(file)) == MOTE_OK);
  }
}
