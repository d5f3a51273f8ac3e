// SPDX-License-Identifier: Apache-2.0
//
// Changes what a .mote file consists of, which changes in place cannot: it is read as a tree and written
// again, and is a valid FlatBuffer afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fuzz {

enum class StructureChange {
  drop,    // an operation, a state or another element of a vector of tables goes
  repeat,  // one is there once more, somewhere
  move,    // one is somewhere else, perhaps in another program
  stream,  // a program has one more, which a buffer may have its rows of
  empty,   // a vector is there and has no elements
  add,     // a table has a field that it lacked
};
constexpr StructureChange kStructureChanges[] = {StructureChange::drop,  StructureChange::repeat,
                                                 StructureChange::move,  StructureChange::stream,
                                                 StructureChange::empty, StructureChange::add};

/// Makes that change, of what and where the seed says. None where the metadata is no valid FlatBuffer or has
/// nothing to change so. `file` is 8-byte aligned.
std::optional<std::string> change_structure(const uint8_t* file, size_t bytes, StructureChange change,
                                            uint32_t seed);

}  // namespace fuzz
