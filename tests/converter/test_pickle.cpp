// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/pickle.h"

#include "host/base/error.h"
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

TEST("pickle: what protocols 2 to 4 write beside tensors is read over, and tensors come by the memo") {
  const std::string wide = "J" + little(2, 4), longer = "\x8a\x01\x03", short_text = "\x8c\x01w";
  const std::string shape = "(" + wide + longer + "t", strides = pickled_numbers({3, 1});
  const std::string storage = pickled_tuple({pickled("storage"), pickled_global("torch", "FloatStorage"),
                                             pickled("0"), pickled("cpu"), "N"}) +
                              "Q\x94";  // its number is 0
  const std::string tensor = pickled_global("torch._utils", "_rebuild_tensor_v2") +
                             pickled_tuple({storage, pickled(uint8_t{0}), shape, strides}) + "R";
  const std::string again =
      pickled_global("torch._utils", "_rebuild_parameter") + "(" +
      pickled_global("torch._utils", "_rebuild_tensor_v2") +
      pickled_tuple({"j" + little(0, 4), pickled(uint8_t{4}), "K\x02\x85", "K\x01\x85"}) + "R\x88tR";
  const std::string rest = pickled("f") + "G" + std::string(8, '\0') + "s" + pickled("list") +
                           "](K\x01K\x02"
                           "es";
  const std::string pickle = "\x80\x04\x95" + std::string(8, '\0') + "}" + short_text + tensor + "s" +
                             pickled("part") + again + "s" + rest + "}b.";
  const NamedTensors tensors = read(checkpoint(pickle));
  REQUIRE(tensors.size() == 2);
  REQUIRE(tensors.at("w").shape == std::vector<uint64_t>{2, 3});
  REQUIRE(tensors.at("part").shape == std::vector<uint64_t>{2});
  TEST_ASSERT_TRUE(
      contains(error_of_tensor(std::string("\x8a\x09") + std::string(9, '\1')), "more than 64 bits"));
  const std::string less =
      pickled_global("torch._utils", "_rebuild_tensor_v2") +
      pickled_tuple({storage, "\x8a\x01\xff", pickled_numbers({1}), pickled_numbers({1})}) + "R";
  TEST_ASSERT_TRUE(contains(error_of_tensor(less), "a size is negative"));
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
  TEST_ASSERT_TRUE(contains(pickle_error(std::string(100, 'x')), "is neither an archive"));
  TEST_ASSERT_TRUE(
      contains(pickle_error(zip({{"m/data.pkl", pickled_dict({})}, {"m/byteorder", "big"}})), "big-endian"));
}

TEST("pickle: a stream of before PyTorch 1.6 has the tensors of the archive, views of a storage too") {
  const std::string view =
      pickled_tuple({pickled("storage"), pickled_global("torch", "FloatStorage"), pickled("0"),
                     pickled("cpu"), pickled(uint8_t{6}),
                     pickled_tuple({pickled("1"), pickled(uint8_t{2}), pickled(uint8_t{4})})}) +
      "Q";
  const std::string of_view =
      pickled_global("torch._utils", "_rebuild_tensor") +
      pickled_tuple({view, pickled(uint8_t{1}), pickled_numbers({3}), pickled_numbers({1})}) + "R";
  const std::string pickle = pickled_dict({{"w", matrix()}, {"view", of_view}});
  const std::string file = checkpoint_stream(pickle),
                    archive = checkpoint(pickle);  // whose bytes the tensors are
  const NamedTensors tensors = read(file), of_archive = read(archive);
  REQUIRE(tensors.size() == 2);
  for (const char* name : {"w", "view"}) {
    const NamedTensor &tensor = tensors.at(name), &same = of_archive.at(name);
    REQUIRE(tensor.dtype == same.dtype);
    REQUIRE(tensor.shape == same.shape);
    REQUIRE(std::equal(tensor.bytes.begin(), tensor.bytes.end(), same.bytes.begin(), same.bytes.end()));
  }
  float first = 0;
  std::memcpy(&first, tensors.at("view").bytes.data(), 4);
  REQUIRE(first == 4.0f);
}

TEST("pickle: a stream that is cut, of big-endian numbers, or asks for code is an error") {
  const std::string file = checkpoint_stream(pickled_dict({{"w", matrix()}}));
  TEST_ASSERT_EQUAL_STRING("", pickle_error(file).c_str());
  for (size_t bytes = 0; bytes < file.size(); ++bytes)
    TEST_ASSERT_FALSE(pickle_error(file.substr(0, bytes)).empty());
  TEST_ASSERT_TRUE(contains(pickle_error(file.substr(0, file.size() - 1)), "the storage 0 is cut off"));
  TEST_ASSERT_TRUE(contains(pickle_error(checkpoint_stream(pickled_dict({}), "\x89")), "big-endian"));
  const std::string call = pickled_global("os", "system") + pickled_tuple({pickled("true")}) + "R";
  TEST_ASSERT_TRUE(
      contains(pickle_error(checkpoint_stream(pickled_dict({{"w", call}}))), "it asks for os.system"));
  const auto of_storage = [](const std::string& name, uint8_t rows) {
    return checkpoint_stream(pickled_dict({{"w", pickled_tensor("FloatStorage", name, 0, {rows}, {1})}}));
  };
  TEST_ASSERT_TRUE(contains(pickle_error(of_storage("0", 7)), "storage 0 is shorter than its tensor"));
  TEST_ASSERT_TRUE(contains(pickle_error(of_storage("1", 1)), "no tensor is of the storage 0"));
  const std::string two =
      pickled_dict({{"a", matrix()}, {"b", pickled_tensor("HalfStorage", "0", 0, {1}, {1})}});
  TEST_ASSERT_TRUE(contains(pickle_error(checkpoint_stream(two)), "a storage has two types"));
}

TEST("pickle: an object that holds itself is an error or nothing, and no leak") {
  const std::string itself =
      "]q\x01h\x01"
      "a";
  TEST_ASSERT_EQUAL_STRING("", error_of_tensor(itself).c_str());
}
