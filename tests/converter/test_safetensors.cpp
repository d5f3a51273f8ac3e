// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/safetensors.h"

#include <signal.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string text(8, '\0');
  const uint64_t size = header.size();
  memcpy(text.data(), &size, 8);
  return text + header + data;
}

std::string parse_error(const std::string& file) {
  return message_of<Error>([&] { parse_safetensors(as_bytes(file), "t"); });
}

}  // namespace

TEST("safetensors: what is written is read back") {
  const TempDirectory directory;
  const std::vector<float> logits{1.5f, -2.0f, 0.25f, 3.0f, -0.0f, 1e-40f};
  const std::vector<int64_t> ids{1, -2, int64_t{1} << 40};
  write_safetensors(
      directory / "a.safetensors",
      {{"logits", f32_tensor({2, 3}, logits)}, {"ids", i64_tensor({3}, ids)}, {"none", i64_tensor({0}, {})}});
  const SafetensorsFile file(directory / "a.safetensors");
  TEST_ASSERT_EQUAL_UINT64(3, file.tensors().size());
  TEST_ASSERT_TRUE(file.shape("logits") == std::vector<uint64_t>({2, 3}));
  const auto read = file.f32("logits");
  TEST_ASSERT_EQUAL_UINT64(6, read.size());
  TEST_ASSERT_EQUAL_MEMORY(logits.data(), read.data(), 24);
  TEST_ASSERT_TRUE(file.i64("ids") == ids);
  TEST_ASSERT_TRUE(file.has("none"));
  TEST_ASSERT_TRUE(file.i64("none").empty());
}

TEST("safetensors: a tensor asked for by a wrong name or type is named") {
  const TempDirectory directory;
  const std::vector<float> one{1.0f};
  write_safetensors(directory / "a.safetensors", {{"x", f32_tensor({}, one)}});
  const SafetensorsFile file(directory / "a.safetensors");
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { file.i64("x"); }), "tensor 'x' is F32, expected I64"));
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { file.f32("y"); }), "no tensor 'y'"));
}

TEST("safetensors: a full disk leaves nothing behind") {
  const TempDirectory directory;
  const std::vector<float> values(100'000, 1.0f);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  const auto message = message_of<Error>([&] {
    write_safetensors(directory / "a.safetensors", {{"x", f32_tensor({100'000}, values)}});
  });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  TEST_ASSERT_TRUE(contains(message, "cannot write"));
  TEST_ASSERT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST("safetensors: a file that exists is replaced only by a complete one, and a device never") {
  const TempDirectory directory;
  const std::vector<float> one{1.0f};
  write_text(directory / "a.safetensors", "old");
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] {
                              write_safetensors(directory / "a.safetensors", {{"x", f32_tensor({2}, one)}});
                            }),
                            "tensor 'x' has 4 bytes"));
  TEST_ASSERT_EQUAL_STRING("old", read_text(directory / "a.safetensors"));
  write_safetensors(directory / "a.safetensors", {{"x", f32_tensor({1}, one)}});
  TEST_ASSERT_TRUE(SafetensorsFile(directory / "a.safetensors").f32("x") == one);
  TEST_ASSERT_TRUE(
      contains(message_of<Error>([&] { write_safetensors("/dev/full", {}); }), "not a regular file"));
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { write_safetensors(directory / "no" / "a", {}); }),
                            "No such file or directory"));
}

TEST("safetensors: damaged headers are refused by what is wrong") {
  const struct {
    std::string file;
    const char* message;
  } cases[] = {
      {"", "too few"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10), "more than safetensors allows"},
      {std::string("\x10\0\0\0\0\0\0\0{}", 10), "header needs 16 bytes, the file has 2"},
      {file_of("[]", ""), "expected a JSON object"},
      {file_of("{", ""), "not valid JSON"},
      {file_of(R"({"a":{"b":{"c":{}}}})", ""), "nested deeper"},
      {file_of(R"({"a":1})", ""), "not an object"},
      {file_of(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", "1234"),
       "tensor a: dtype is missing, expected a text"},
      {file_of(R"({"a":{"dtype":"F13","shape":[1],"data_offsets":[0,4]}})", "1234"), "unknown dtype 'F13'"},
      {file_of(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "1234"),
       "tensor a: shape is missing, expected a list"},
      {file_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234"), "whole number"},
      {file_of(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", "1234"), "whole number"},
      {file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", "1234"), "[begin, end]"},
      {file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "1234"), "[begin, end]"},
      {file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "123"),
       "ends at byte 4 of the data"},
      {file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234"),
       "do not make the 4 bytes"},
      {file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,3]}})", "1234"),
       "do not make the 3 bytes"},
      // 2^32 * 2^32 * 1 wraps around to 0 in 64 bits.
      {file_of(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", ""),
       "do not make"},
      {file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}})", ""), "'a' occurs twice"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.message);
    TEST_ASSERT_TRUE(contains(parse_error(c.file), c.message));
  }
}

TEST("safetensors: metadata is skipped and integer types are kept by name") {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  const std::string file = file_of(header, "12");
  const auto tensors = parse_safetensors(as_bytes(file), "t");
  TEST_ASSERT_EQUAL_UINT64(1, tensors.size());
  TEST_ASSERT_EQUAL_STRING("BOOL", tensors.at("a").dtype);
}

TEST("safetensors: any cut and any changed byte gives tensors inside the file or an error") {
  const std::string header =
      R"({"w":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]},"i":{"dtype":"I64","shape":[1],"data_offsets":[12,20]}})";
  for_each_damage(file_of(header, std::string(20, 'x')), [](std::span<const std::byte> file) {
    NamedTensors tensors;
    if (!message_of<Error>([&] { tensors = parse_safetensors(file, "t"); }).empty()) return;
    for (const auto& [name, tensor] : tensors) {
      const bool inside = tensor.bytes.data() >= file.data() &&
                          tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size();
      if (!inside) TEST_ASSERT_TRUE(inside);
    }
  });
}
