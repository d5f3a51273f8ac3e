// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/pickle.h"

#include "converter/error.h"
#include "tests/support/checkpoint.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace test;
using mote::testing::contains;
using mote::testing::message_of;

namespace {

NamedTensors read(const std::string& file) { return parse_pytorch(std::as_bytes(std::span(file)), "file"); }
std::string pickle_error(const std::string& file) {
  return message_of<Error>([&] { read(file); });
}
std::string error_of_tensor(const std::string& tensor) {
  return pickle_error(checkpoint(pickled_dict({{"w", tensor}})));
}
std::string matrix() { return pickled_tensor("FloatStorage", "0", 0, {2, 3}, {3, 1}); }

}  // namespace

TEST("pickle: tensors have the type of their storage, their shape and their part of it") {
  const std::string file =
      checkpoint(pickled_dict({{"w", matrix()},
                               {"part", pickled_tensor("FloatStorage", "0", 4, {2}, {1})},
                               {"step", pickled(uint8_t{9})}}));
  const NamedTensors tensors = read(file);
  TEST_ASSERT_EQUAL_UINT64(2, tensors.size());
  const NamedTensor& w = tensors.at("w");
  TEST_ASSERT_EQUAL_STRING("F32", w.dtype.c_str());
  TEST_ASSERT_TRUE(w.shape == std::vector<uint64_t>({2, 3}));
  TEST_ASSERT_EQUAL_UINT64(24, w.bytes.size());
  float last = 0;
  std::memcpy(&last, tensors.at("part").bytes.data() + 4, 4);
  TEST_ASSERT_EQUAL_FLOAT(6.0f, last);
}

TEST("pickle: what a file would run is refused by its name, and nothing is run") {
  const std::string call = pickled_global("os", "system") + pickled_tuple({pickled("true")}) + "R";
  TEST_ASSERT_TRUE(contains(error_of_tensor(call), "it asks for os.system, which no tensor needs"));
  const std::string stacked = pickled("builtins") + pickled("eval") + "\x93";
  TEST_ASSERT_TRUE(contains(error_of_tensor(stacked), "it asks for builtins.eval"));
  TEST_ASSERT_TRUE(contains(error_of_tensor("i"), "operation 0x69"));  // INST
  const std::string of_storage = pickled_global("torch", "FloatStorage") + ")R";
  TEST_ASSERT_TRUE(contains(error_of_tensor(of_storage), "it calls torch FloatStorage"));
}

TEST("pickle: tensors that reach out of their storage, or leave gaps in it, are refused") {
  TEST_ASSERT_TRUE(contains(error_of_tensor(pickled_tensor("FloatStorage", "0", 1, {2, 3}, {3, 1})),
                            "data/0 is shorter than its tensor"));
  TEST_ASSERT_TRUE(
      contains(error_of_tensor(pickled_tensor("FloatStorage", "0", 0, {3, 2}, {1, 3})), "not contiguous"));
  TEST_ASSERT_TRUE(contains(error_of_tensor(pickled_tensor("FloatStorage", "1", 0, {1}, {1})), "no data/1"));
  TEST_ASSERT_TRUE(contains(error_of_tensor(pickled_tensor("FloatStorage", "0", 0, {2, 3}, {1})),
                            "shape and strides differ"));
  TEST_ASSERT_TRUE(
      contains(error_of_tensor(pickled_tensor("QInt8Storage", "0", 0, {1}, {1})), "torch.QInt8Storage"));
}

TEST("pickle: a file cut anywhere is an error") {
  const std::string file = checkpoint(pickled_dict({{"w", matrix()}}));
  TEST_ASSERT_EQUAL_STRING("", pickle_error(file).c_str());
  for (size_t bytes = 0; bytes < file.size(); ++bytes)
    TEST_ASSERT_FALSE(pickle_error(file.substr(0, bytes)).empty());
  const std::string pickle = pickled_dict({{"w", matrix()}});
  for (size_t bytes = 0; bytes < pickle.size(); ++bytes)
    TEST_ASSERT_FALSE(pickle_error(checkpoint(pickle.substr(0, bytes))).empty());
}

TEST("pickle: an archive that is compressed, or holds no checkpoint, is refused") {
  TEST_ASSERT_TRUE(contains(pickle_error(zip({{"m/data.pkl", "x", 8}})), "is compressed"));
  TEST_ASSERT_TRUE(contains(pickle_error(zip({{"readme", "x"}})), "no data.pkl"));
  TEST_ASSERT_TRUE(contains(pickle_error(std::string(100, 'x')), "is not an archive"));
  TEST_ASSERT_TRUE(
      contains(pickle_error(zip({{"m/data.pkl", pickled_dict({})}, {"m/byteorder", "big"}})), "big-endian"));
}

TEST("pickle: an object that holds itself is an error or nothing, and no leak") {
  const std::string itself =
      "]q\x01h\x01"
      "a";
  TEST_ASSERT_EQUAL_STRING("", error_of_tensor(itself).c_str());
}
