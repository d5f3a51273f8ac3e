// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "runtime/file/file.h"
#include "schema/block_formats.h"
#include "tests/support/any_file.h"
#include "tests/support/test_model.h"

namespace {

mote_status open(const uint8_t* data, size_t bytes, mote_error* error, uint32_t flags = 0) {
  static test::AlignedBytes storage(mote_model_bytes());
  mote_model* model = nullptr;
  return mote_model_open(data, bytes, flags, storage.data(), storage.size(), &model, error);
}

/// Opening says so, in a sentence with these words.
void expect_refused(const test::AlignedBytes& file, mote_status status, const char* words,
                    uint32_t flags = 0) {
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(status, open(file.data(), file.size(), &error, flags));
  INFO(error.text);
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, words));
}

size_t metadata_bytes(const test::AlignedBytes& file) {
  uint32_t size;
  std::memcpy(&size, file.data(), 4);
  return size + 4;
}

}  // namespace

TEST("a converted model opens and tells of itself") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  const mote_model_info info = model.info();
  TEST_ASSERT_EQUAL_STRING("llama", info.architecture);
  TEST_ASSERT_EQUAL_UINT32(100, info.vocab);
  TEST_ASSERT_EQUAL_UINT32(32, info.width);
  TEST_ASSERT_EQUAL_UINT32(66, info.context);
  TEST_ASSERT_EQUAL_UINT32(2, info.layers);
  TEST_ASSERT_EQUAL_UINT32(1, info.stop_count);
  TEST_ASSERT_EQUAL_INT(2, info.stop_ids[0]);
}

TEST("a file cut at any byte is refused") {
  const test::AlignedBytes& file = test::golden_file("llama", "q4g32");
  for (size_t bytes = 0; bytes < file.size(); bytes += bytes < metadata_bytes(file) ? 1 : 61) {
    // A copy of exactly that size, so that a sanitizer sees any read past its end.
    test::AlignedBytes part(bytes);
    if (bytes != 0) std::memcpy(part.data(), file.data(), bytes);
    mote_error error{};
    CAPTURE(bytes);
    const mote_status status = open(part.data(), bytes, &error);
    REQUIRE((status == MOTE_TRUNCATED || status == MOTE_NOT_A_MODEL));
  }
}

TEST("any byte of the metadata flipped gives an error or a normal run", "[text]") {
  const auto [name, type] = GENERATE(std::pair("qwen3", "q4mg32"), std::pair("distilbert_classifier", "q8c"));
  CAPTURE(name);
  test::AlignedBytes file(test::golden_file(name, type));
  uint32_t refused = 0;
  for (size_t at = 0; at < metadata_bytes(file); ++at) {
    for (const uint8_t mask : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xFF}}) {
      const uint8_t original = file.data()[at];
      file.data()[at] = static_cast<uint8_t>(original ^ mask);
      refused += test::open_and_run(file) != MOTE_OK;
      file.data()[at] = original;
    }
  }
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_and_run(file));
  TEST_ASSERT_GREATER_THAN(metadata_bytes(file) / 4, refused);
}

TEST("any byte of the tokenizer flipped gives an error or a normal run", "[text]") {
  test::AlignedBytes file(test::text_file("q4g32"));
  const auto* root = mote::file::GetSizePrefixedModel(file.data());
  const auto* tokenizer = root->tokenizer();
  TEST_ASSERT_NOT_NULL(tokenizer);
  const size_t tables = mote::align_up(metadata_bytes(file), 64) + tokenizer->token_offsets()->offset();
  const size_t table_metadata =
      static_cast<size_t>(reinterpret_cast<const uint8_t*>(tokenizer) - file.data());
  uint32_t refused = 0;
  const auto flip = [&](size_t at) {
    file.data()[at] ^= 0x81;
    refused += test::open_and_run(file) != MOTE_OK;
    file.data()[at] ^= 0x81;
  };
  for (size_t at = table_metadata < 512 ? 0 : table_metadata - 512; at < table_metadata + 1024; ++at) {
    if (at < metadata_bytes(file)) flip(at);
  }
  for (size_t at = tables; at < file.size(); at += at < tables + 2048 ? 1 : 61) flip(at);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_and_run(file));
  TEST_ASSERT_GREATER_THAN(300, refused);
}

TEST("a changed weight is found when hashes are checked") {
  test::AlignedBytes file(test::golden_file("gpt2", "f32"));
  file.data()[file.size() - 200] ^= 1;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, open(file.data(), file.size(), &error));
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, open(file.data(), file.size(), &error, MOTE_OPEN_CHECK_HASHES));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "hash differs"));
}

TEST("bytes that are not a model are refused as such") {
  test::AlignedBytes text(4096);
  std::memset(text.data(), 'x', text.size());
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_NOT_A_MODEL, open(text.data(), text.size(), &error));
}

TEST("activations quantized otherwise than a weight takes them are refused") {
  for (const bool by_row : {false, true}) {
    test::AlignedBytes file(test::golden_file("llama", by_row ? "q8c" : "q8g32"));
    const auto from = by_row ? mote::file::DType::q8c : mote::file::DType::q8g32;
    const auto to = by_row ? mote::file::DType::q8g32 : mote::file::DType::q8c;
    auto* root = flatbuffers::GetMutableRoot<mote::file::Model>(file.data() + 4);
    auto* program = root->mutable_programs()->GetMutableObject(0);
    for (uint32_t i = 0; i < program->buffers()->size(); ++i) {
      auto* buffer = program->mutable_buffers()->GetMutableObject(i);
      if (buffer->dtype() == from) TEST_ASSERT_TRUE(buffer->mutate_dtype(to));
    }
    expect_refused(file, MOTE_CORRUPT_FILE, "in is quantized otherwise than its weight");
  }
}

TEST("row-major tensors of types that have panels alone are refused") {
  test::AlignedBytes file(test::golden_file("bert", "q8g32"));
  const auto* tensors = flatbuffers::GetMutableRoot<mote::file::Model>(file.data() + 4)->tensors();
  uint32_t refused = 0;
  for (const mote::file::Tensor* found : *tensors) {
    if (found->dtype() != mote::file::DType::q8g32) continue;
    auto* tensor = const_cast<mote::file::Tensor*>(found);
    TEST_ASSERT_TRUE(tensor->mutate_packing(mote::file::Packing::rows));
    expect_refused(file, MOTE_UNSUPPORTED_FILE, found->name()->c_str());
    TEST_ASSERT_TRUE(tensor->mutate_packing(mote::file::Packing::p16k4));
    ++refused;
  }
  TEST_ASSERT_GREATER_THAN(0u, refused);
}

TEST("a quantized table of positions is refused") {
  test::AlignedBytes file(test::golden_file("bert", "q8c"));
  auto* root = flatbuffers::GetMutableRoot<mote::file::Model>(file.data() + 4);
  auto* ops = root->mutable_programs()->GetMutableObject(0)->mutable_ops();
  const int32_t embedding = ops->Get(0)->args_as_Embed()->table();
  TEST_ASSERT_TRUE(root->tensors()->Get(static_cast<uint32_t>(embedding))->packing() ==
                   mote::file::Packing::rows);
  uint32_t refused = 0;
  for (uint32_t i = 0; i < ops->size(); ++i) {
    const auto* found = ops->Get(i)->args_as_Positions();
    if (found == nullptr) continue;
    auto* positions = const_cast<mote::file::Positions*>(found);
    const int32_t original = positions->table();
    TEST_ASSERT_TRUE(positions->mutate_table(embedding));
    expect_refused(file, MOTE_CORRUPT_FILE, "quantized");
    TEST_ASSERT_TRUE(positions->mutate_table(original));
    ++refused;
  }
  TEST_ASSERT_GREATER_THAN(0u, refused);
}

TEST("columns of a quantization that are not f32 of its width are refused") {
  test::AlignedBytes file(test::golden_file("bert", "q8c"));
  auto* root = flatbuffers::GetMutableRoot<mote::file::Model>(file.data() + 4);
  auto* ops = root->mutable_programs()->GetMutableObject(0)->mutable_ops();
  const auto tensors = static_cast<int32_t>(root->tensors()->size());
  uint32_t accepted = 0, refused = 0;
  for (uint32_t i = 0; i < ops->size(); ++i) {
    const auto* found = ops->Get(i)->args_as_Quantize();
    if (found == nullptr) continue;
    auto* quantize = const_cast<mote::file::Quantize*>(found);
    const int32_t original = quantize->columns();
    for (int32_t index = -3; index < tensors + 2; ++index) {
      TEST_ASSERT_TRUE(quantize->mutate_columns(index));
      mote_error error{};
      const mote_status status = open(file.data(), file.size(), &error);
      bool fits = index == -1;
      if (index >= 0 && index < tensors) {
        const auto* tensor = root->tensors()->Get(static_cast<uint32_t>(index));
        fits = tensor->dtype() == mote::file::DType::f32 && tensor->packing() == mote::file::Packing::rows &&
               tensor->rows() == 1 && tensor->cols() == quantize->in()->width();
      }
      CAPTURE(i, index, error.text);
      TEST_ASSERT_EQUAL_INT(fits ? MOTE_OK : MOTE_CORRUPT_FILE, status);
      TEST_ASSERT_TRUE(fits || std::strstr(error.text, "columns") != nullptr);
      ++(fits ? accepted : refused);
    }
    TEST_ASSERT_TRUE(quantize->mutate_columns(original));
  }
  TEST_ASSERT_GREATER_THAN(0u, accepted);
  TEST_ASSERT_GREATER_THAN(0u, refused);
}

TEST("a file of another format version is refused") {
  test::AlignedBytes file(test::golden_file("llama", "f32"));
  auto* root = flatbuffers::GetMutableRoot<mote::file::Model>(file.data() + 4);
  TEST_ASSERT_TRUE(root->mutate_format_version(root->format_version() + 1));
  expect_refused(file, MOTE_UNSUPPORTED_FILE, "format version");
}

TEST("a static array of MOTE_MODEL_BYTES holds a model, a byte less does not") {
  alignas(8) static uint8_t storage[MOTE_MODEL_BYTES];
  TEST_ASSERT_EQUAL_UINT64(mote_model_bytes(), sizeof storage);
  for (const char* name : {"llama", "mpnet_sentence"}) {
    const test::AlignedBytes& file = test::golden_file(name, "f32");
    mote_model* model = nullptr;
    mote_error error{};
    TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, mote_model_open(file.data(), file.size(), 0, storage,
                                                          sizeof storage - 1, &model, &error));
    TEST_ASSERT_NULL(model);
    TEST_ASSERT_NOT_NULL(std::strstr(error.text, std::to_string(MOTE_MODEL_BYTES).c_str()));
    TEST_ASSERT_EQUAL_INT(
        MOTE_OK, mote_model_open(file.data(), file.size(), 0, storage, sizeof storage, &model, &error));
    TEST_ASSERT_TRUE(static_cast<void*>(model) == storage);
  }
}

TEST("misaligned bytes, small storage and null pointers are refused") {
  const test::AlignedBytes& file = test::golden_file("llama", "f32");
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_NOT_ALIGNED, open(file.data() + 16, file.size() - 16, &error));
  alignas(8) uint8_t storage[8];
  mote_model* model = nullptr;
  TEST_ASSERT_EQUAL_INT(
      MOTE_TOO_SMALL, mote_model_open(file.data(), file.size(), 0, storage, sizeof storage, &model, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "has 8 bytes, it takes "));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, open(nullptr, 0, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, open(file.data(), file.size(), nullptr, 8));
}
