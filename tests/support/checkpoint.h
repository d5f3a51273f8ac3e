// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of PyTorch in memory: pickles put together by operation, in a zip archive of stored entries.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A little-endian number of so many bytes.
inline std::string little(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  return text;
}

struct ZipEntry {
  std::string name, data;
  uint16_t method = 0;  // 0: stored
};

inline std::string zip(const std::vector<ZipEntry>& entries) {
  std::string file, directory;
  for (const ZipEntry& entry : entries) {
    const std::string sizes = little(entry.data.size(), 4) + little(entry.data.size(), 4);
    const std::string shared = little(entry.method, 2) + little(0, 8) + sizes + little(entry.name.size(), 2);
    directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + little(0, 2) + shared + little(0, 12) +
                 little(file.size(), 4) + entry.name;
    file += "PK\x03\x04" + little(20, 2) + little(0, 2) + shared + little(0, 2) + entry.name + entry.data;
  }
  const std::string count = little(entries.size(), 2);
  const std::string end = "PK\x05\x06" + little(0, 4) + count + count + little(directory.size(), 4) +
                          little(file.size(), 4) + little(0, 2);
  return file + directory + end;
}

// ---- Operations of a pickle that push one object each ----

inline std::string pickled(uint8_t number) { return "K" + little(number, 1); }
inline std::string pickled(const std::string& text) { return "X" + little(text.size(), 4) + text; }
inline std::string pickled_tuple(const std::vector<std::string>& items) {
  std::string all = "(";
  for (const std::string& item : items) all += item;
  return all + "t";
}
inline std::string pickled_numbers(const std::vector<uint8_t>& numbers) {
  std::vector<std::string> items;
  for (const uint8_t number : numbers) items.push_back(pickled(number));
  return pickled_tuple(items);
}
inline std::string pickled_global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string pickled_tensor(const std::string& type, const std::string& key, uint8_t first,
                                  const std::vector<uint8_t>& shape, const std::vector<uint8_t>& strides) {
  const std::string storage = pickled_tuple({pickled("storage"), pickled_global("torch", type), pickled(key),
                                             pickled("cpu"), pickled(uint8_t{6})}) +
                              "Q";
  const std::string empty = pickled_global("collections", "OrderedDict") + ")R";
  return pickled_global("torch._utils", "_rebuild_tensor_v2") +
         pickled_tuple(
             {storage, pickled(first), pickled_numbers(shape), pickled_numbers(strides), "\x89", empty}) +
         "R";
}
inline std::string pickled_dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string all = "\x80\x02}(";
  for (const auto& [key, value] : items) all += pickled(key) + value;
  return all + "u.";
}

/// Six floats in data/0 and what the pickle makes of them.
inline std::string checkpoint(const std::string& pickle) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  return zip({{"m/data.pkl", pickle},
              {"m/data/0", std::string(reinterpret_cast<const char*>(values), sizeof values)}});
}

/// The same as PyTorch wrote it before 1.6: pickles one behind the other, then a list's storages.
inline std::string checkpoint_stream(const std::string& pickle, const std::string& little_endian = "\x88") {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const std::string start = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  return start + "\x80\x02M" + little(1001, 2) + "." + pickled_dict({{"little_endian", little_endian}}) +
         pickle + "\x80\x02](" + pickled("0") + "e." + little(6, 8) +
         std::string(reinterpret_cast<const char*>(values), sizeof values);
}

}  // namespace test
