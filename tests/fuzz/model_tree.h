// SPDX-License-Identifier: Apache-2.0
//
// The metadata of a .mote file as a tree by the schema, which can be changed in any way and written again.
#pragma once

#include "runtime/file/file.h"

#include <flatbuffers/minireflect.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fuzz {

struct TableNode;

/// A field, or the elements of one that is a vector.
struct FieldNode {
  std::string bytes;              // of scalars, structs and of a string that is no element
  std::vector<TableNode> tables;  // of a table one
  std::vector<std::string> strings;
};

struct TableNode {
  const flatbuffers::TypeTable* type;
  std::vector<std::optional<FieldNode>> fields;  // as many as the type has; none: absent
};

/// What a field of a type is.
struct FieldType {
  flatbuffers::ElementaryType element;
  bool repeats;
  const flatbuffers::TypeTable* of;  // of tables, structs, unions and enumerations

  bool is_tables() const;   // or a union of such
  bool is_strings() const;  // that are elements
  size_t size() const { return flatbuffers::InlineSize(element, of); }
};
FieldType field_type(const flatbuffers::TypeTable& type, size_t field);

/// The type of a union's member; null for none.
const flatbuffers::TypeTable* member_type(const flatbuffers::TypeTable& of_union, uint8_t number);

/// None where the metadata is no valid FlatBuffer, has operations of no type, or is as large as no seed.
std::optional<TableNode> read_tree(const uint8_t* file, size_t bytes);

/// The file with that metadata in place of its own; its tensors stay.
std::string write_tree(const TableNode& root, const uint8_t* file, size_t bytes);

}  // namespace fuzz
