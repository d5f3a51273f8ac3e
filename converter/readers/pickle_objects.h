// SPDX-License-Identifier: Apache-2.0
//
// The objects that a pickle of a state dictionary may make.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mote::convert {

struct Object;
using Ref = Object*;  // of those that the machine made, which live as long as it

struct None {};
struct Mark {};
/// The name of something that a pickle would call or use.
struct Global {
  std::string name;
};
/// A persistent id: numbers of a type, by the name of an entry of the archive or, in a stream, of a part.
struct Storage {
  std::string dtype, key;
  uint64_t first = 0;  // of a view of it, in elements
};
/// A part of a storage, whose bytes may come after the pickle.
struct StoredTensor {
  std::string dtype, key;
  std::vector<uint64_t> shape;
  uint64_t first, count;  // elements
};
struct List {
  std::vector<Ref> items;  // of a tuple too
};
struct Dict {
  std::vector<std::pair<Ref, Ref>> items;
};
struct Object {
  std::variant<None, Mark, int64_t, std::string, Global, Storage, List, Dict, StoredTensor> value;
};

struct StorageType {
  const char* name;
  const char* dtype;  // safetensors'
  uint64_t bytes;
};
inline constexpr StorageType kStorages[] = {
    {"torch FloatStorage", "F32", 4},  {"torch HalfStorage", "F16", 2}, {"torch BFloat16Storage", "BF16", 2},
    {"torch DoubleStorage", "F64", 8}, {"torch LongStorage", "I64", 8}, {"torch IntStorage", "I32", 4},
    {"torch ShortStorage", "I16", 2},  {"torch CharStorage", "I8", 1},  {"torch ByteStorage", "U8", 1},
    {"torch BoolStorage", "BOOL", 1},
};

inline const StorageType* storage_type(const std::string& name) {
  for (const StorageType& type : kStorages) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

}  // namespace mote::convert
