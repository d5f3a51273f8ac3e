// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/model_tree.h"

#include <algorithm>
#include <cstring>

#include "schema/block_formats.h"

namespace fuzz {

using namespace flatbuffers;
using mote::file::Model;

namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // of a tree: a table may be shared by many

size_t metadata_bytes(const uint8_t* file) { return size_t{GetPrefixedSize(file)} + sizeof(uoffset_t); }

class Reader {
 public:
  TableNode table(const uint8_t* at, const TypeTable* type) {
    TableNode node{type, std::vector<std::optional<FieldNode>>(type->num_elems)};
    for (size_t i = 0; i < type->num_elems; ++i) {
      const uint8_t* value =
          reinterpret_cast<const Table*>(at)->GetAddressOf(FieldIndexToOffset(static_cast<voffset_t>(i)));
      if (value == nullptr || too_large()) continue;
      const FieldType field = field_type(*type, i);
      FieldNode read;
      if (field.repeats) {
        vector(value + ReadScalar<uoffset_t>(value), field, &read);
      } else if (field.is_tables()) {
        const TypeTable* of = field.of;
        if (of->st == ST_UNION) of = member_type(*of, static_cast<uint8_t>(node.fields[i - 1]->bytes[0]));
        read.tables.push_back(table(value + ReadScalar<uoffset_t>(value), of));
      } else if (field.element == ET_STRING) {
        read.bytes = string(value);
      } else {
        read.bytes = bytes(value, field.size());
      }
      node.fields[i] = std::move(read);
    }
    return node;
  }
  bool too_large() const { return bytes_ > kMostBytes; }

 private:
  void vector(const uint8_t* at, const FieldType& field, FieldNode* read) {
    const auto count = ReadScalar<uoffset_t>(at);
    at += sizeof count;
    if (!field.is_tables() && !field.is_strings()) {
      read->bytes = bytes(at, count * field.size());
      return;
    }
    for (uoffset_t i = 0; i < count && !too_large(); ++i, at += sizeof(uoffset_t)) {
      if (field.is_strings()) {
        read->strings.push_back(string(at));
      } else {
        read->tables.push_back(table(at + ReadScalar<uoffset_t>(at), field.of));
      }
    }
  }
  std::string string(const uint8_t* reference) {
    const auto* text = reinterpret_cast<const String*>(reference + ReadScalar<uoffset_t>(reference));
    return bytes(text->Data(), text->size());
  }
  std::string bytes(const uint8_t* at, size_t count) {
    bytes_ += count;
    return too_large() ? std::string() : std::string(reinterpret_cast<const char*>(at), count);
  }

  size_t bytes_ = 0;
};

/// Writes forwards: what a reference names lies behind it.
class Writer {
 public:
  explicit Writer(const TableNode& root) {
    out_.resize(sizeof(uoffset_t));  // the size
    const size_t reference = reserve(sizeof(uoffset_t));
    out_ += mote::file::ModelIdentifier();
    refer(reference, table(root));
    put(0, static_cast<uoffset_t>(out_.size() - sizeof(uoffset_t)));
  }
  std::string take() { return std::move(out_); }

 private:
  template <class T>
  void put(size_t at, T value) {
    std::memcpy(out_.data() + at, &value, sizeof value);
  }
  size_t reserve(size_t count) {
    const size_t at = out_.size();
    out_.resize(at + count);
    return at;
  }
  void align(size_t to, size_t behind = 0) {
    while ((out_.size() + behind) % to != 0) out_ += '\0';
  }
  void refer(size_t at, size_t to) { put(at, static_cast<uoffset_t>(to - at)); }

  size_t string(const std::string& text) {
    align(sizeof(uoffset_t));
    const size_t at = reserve(sizeof(uoffset_t));
    put(at, static_cast<uoffset_t>(text.size()));
    out_ += text;
    out_ += '\0';
    return at;
  }

  size_t vector(const FieldType& field, const FieldNode& node) {
    const size_t tables = node.tables.size(), count = tables + node.strings.size();
    const bool references = field.is_tables() || field.is_strings();
    align(8, sizeof(uoffset_t));
    const size_t at = reserve(sizeof(uoffset_t));
    if (!references) {
      put(at, static_cast<uoffset_t>(node.bytes.size() / field.size()));
      out_ += node.bytes;
      return at;
    }
    put(at, static_cast<uoffset_t>(count));
    const size_t first = reserve(count * sizeof(uoffset_t));
    for (size_t i = 0; i < count; ++i)
      refer(first + i * sizeof(uoffset_t),
            i < tables ? table(node.tables[i]) : string(node.strings[i - tables]));
    return at;
  }

  /// Where a field lies in its table; larger ones come first.
  struct Place {
    size_t field, bytes, at;
  };

  size_t table(const TableNode& node) {
    std::vector<Place> places;
    for (size_t i = 0; i < node.fields.size(); ++i) {
      if (!node.fields[i]) continue;
      const FieldType field = field_type(*node.type, i);
      const bool in_place = !field.repeats && !field.is_tables() && field.element != ET_STRING;
      places.push_back({i, in_place ? node.fields[i]->bytes.size() : sizeof(uoffset_t), 0});
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.bytes % 8 == 0 && b.bytes % 8 != 0; });
    align(8);
    const size_t vtable = reserve((2 + node.fields.size()) * sizeof(voffset_t));
    align(8);
    const size_t start = reserve(sizeof(soffset_t));
    put(start, static_cast<soffset_t>(start - vtable));
    for (Place& place : places) {
      align(std::min<size_t>(place.bytes % 8 == 0 ? 8 : place.bytes % 4 == 0 ? 4 : place.bytes, 8));
      place.at = reserve(place.bytes);
      put(vtable + FieldIndexToOffset(static_cast<voffset_t>(place.field)),
          static_cast<voffset_t>(place.at - start));
    }
    put(vtable, static_cast<voffset_t>((2 + node.fields.size()) * sizeof(voffset_t)));
    put(vtable + sizeof(voffset_t), static_cast<voffset_t>(out_.size() - start));
    for (const Place& place : places) fill(node, place);
    return start;
  }

  void fill(const TableNode& node, const Place& place) {
    const FieldType field = field_type(*node.type, place.field);
    const FieldNode& value = *node.fields[place.field];
    if (field.repeats) {
      refer(place.at, vector(field, value));
    } else if (field.is_tables()) {
      refer(place.at, table(value.tables.front()));
    } else if (field.element == ET_STRING) {
      refer(place.at, string(value.bytes));
    } else {
      std::memcpy(out_.data() + place.at, value.bytes.data(), place.bytes);
    }
  }

  std::string out_;
};

}  // namespace

bool FieldType::is_tables() const {
  return element == ET_SEQUENCE && (of->st == ST_TABLE || of->st == ST_UNION);
}
bool FieldType::is_strings() const { return element == ET_STRING && repeats; }

FieldType field_type(const TypeTable& type, size_t field) {
  const TypeCode code = type.type_codes[field];
  return {static_cast<ElementaryType>(code.base_type), code.is_repeating != 0,
          code.sequence_ref < 0 ? nullptr : type.type_refs[code.sequence_ref]()};
}

const TypeTable* member_type(const TypeTable& of_union, uint8_t number) {
  if (number == 0 || number >= of_union.num_elems) return nullptr;
  return of_union.type_refs[of_union.type_codes[number].sequence_ref]();
}

std::optional<TableNode> read_tree(const uint8_t* file, size_t bytes) {
  if (bytes < 16 || !BufferHasIdentifier(file, mote::file::ModelIdentifier(), true)) return std::nullopt;
  if (metadata_bytes(file) > bytes) return std::nullopt;
  Verifier verifier(file, metadata_bytes(file), 8, 1 << 16);
  if (!mote::file::VerifySizePrefixedModelBuffer(verifier)) return std::nullopt;
  const Model* model = mote::file::GetSizePrefixedModel(file);
  for (const auto* program : *model->programs()) {
    for (const auto* op : *program->ops()) {
      const auto type = op->args_type();  // the verifier skips what it does not know
      if (type == mote::file::OpArgs::NONE || type > mote::file::OpArgs::MAX) return std::nullopt;
    }
  }
  Reader reader;
  TableNode root = reader.table(reinterpret_cast<const uint8_t*>(model), mote::file::ModelTypeTable());
  if (reader.too_large()) return std::nullopt;
  return root;
}

std::string write_tree(const TableNode& root, const uint8_t* file, size_t bytes) {
  std::string out = Writer(root).take();
  const size_t segment = mote::align_up(metadata_bytes(file), mote::kAlignment);
  if (segment >= bytes) return out;
  out.resize(mote::align_up(out.size(), mote::kAlignment));
  return out + std::string(reinterpret_cast<const char*>(file) + segment, bytes - segment);
}

}  // namespace fuzz
