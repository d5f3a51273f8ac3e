// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_structure.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/fuzz/model_tree.h"

namespace fuzz {
namespace {

using namespace flatbuffers;

/// A field of a table of the tree.
struct Where {
  TableNode* table;
  size_t field;

  FieldType type() const { return field_type(*table->type, field); }
  std::optional<FieldNode>& value() const { return table->fields[field]; }
  bool named(const char* name) const { return std::strcmp(table->type->names[field], name) == 0; }
};

class StructureMutator {
 public:
  StructureMutator(TableNode* root, uint32_t seed) : random_(seed) { walk(root); }

  bool make(StructureChange change) {
    switch (change) {
      case StructureChange::drop:
        return drop();
      case StructureChange::repeat:
        return repeat();
      case StructureChange::move:
        return move();
      case StructureChange::stream:
        return add_stream();
      case StructureChange::empty:
        return empty();
      case StructureChange::add:
        return add();
    }
    return false;
  }

 private:
  size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

  void walk(TableNode* table) {
    for (size_t i = 0; i < table->fields.size(); ++i) {
      all_.push_back({table, i});
      if (!table->fields[i]) continue;
      for (TableNode& child : table->fields[i]->tables) walk(&child);
    }
  }

  template <class Fits>
  std::optional<Where> pick(Fits fits) {
    std::vector<Where> found;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(found), fits);
    if (found.empty()) return std::nullopt;
    return found[below(found.size())];
  }

  /// A vector of tables that has some: of operations or states mostly.
  std::optional<Where> pick_list() {
    const size_t which = below(8);
    const char* const name = which < 4 ? "ops" : which < 6 ? "states" : nullptr;
    const auto has_some = [](const Where& at) {
      return at.type().repeats && at.type().is_tables() && at.value() && !at.value()->tables.empty();
    };
    const auto of_name =
        pick([&](const Where& at) { return has_some(at) && (name == nullptr || at.named(name)); });
    return of_name ? of_name : pick(has_some);
  }

  bool drop() {
    const auto list = pick_list();
    if (!list) return false;
    auto& tables = list->value()->tables;
    tables.erase(tables.begin() + static_cast<ptrdiff_t>(below(tables.size())));
    return true;
  }

  bool repeat() {
    const auto list = pick_list();
    if (!list) return false;
    auto& tables = list->value()->tables;
    const TableNode copy = tables[below(tables.size())];
    tables.insert(tables.begin() + static_cast<ptrdiff_t>(below(tables.size() + 1)), copy);
    return true;
  }

  bool move() {
    const auto from = pick_list();
    if (!from) return false;
    const auto to = pick([&](const Where& at) {
      return at.type().repeats && at.type().of == from->type().of && at.type().is_tables() && at.value();
    });
    auto& source = from->value()->tables;
    auto& target = to->value()->tables;
    if (&source == &target && source.size() < 2) return false;
    const size_t index = below(source.size());
    TableNode moved = std::move(source[index]);
    source.erase(source.begin() + static_cast<ptrdiff_t>(index));
    size_t place = below(target.size() + 1);
    if (&source == &target && place == index) place = (index + 1) % (target.size() + 1);
    target.insert(target.begin() + static_cast<ptrdiff_t>(place), std::move(moved));
    return true;
  }

  bool add_stream() {
    const auto streams = pick([](const Where& at) {
      return at.named("streams") && at.type().repeats && at.value();  // mix_streams has a number of that name
    });
    if (!streams) return false;
    auto& tables = streams->value()->tables;
    const bool copies = !tables.empty() && below(2) == 0;
    TableNode stream = copies ? tables[below(tables.size())] : made(*streams->type().of);
    if (copies) change_numbers(&stream);
    const auto number = static_cast<uint32_t>(tables.size());
    tables.push_back(std::move(stream));
    if (below(2) == 0) return true;
    TableNode* const program = streams->table;
    const auto buffer = pick([&](const Where& at) {
      const auto& own = at.table == program ? at.value() : std::optional<FieldNode>();
      return own && at.named("buffers") && !own->tables.empty();
    });
    if (!buffer) return true;
    auto& buffers = buffer->value()->tables;
    TableNode& moved = buffers[below(buffers.size())];
    for (size_t i = 0; i < moved.fields.size(); ++i) {
      if (!Where{&moved, i}.named("stream")) continue;
      moved.fields[i] = FieldNode();
      moved.fields[i]->bytes.assign(reinterpret_cast<const char*>(&number), sizeof number);
    }
    return true;
  }

  bool empty() {
    const auto vector = pick([](const Where& at) {
      const auto& value = at.value();
      const bool some = !value || !value->bytes.empty() || !value->tables.empty() || !value->strings.empty();
      return at.type().repeats && some;
    });
    if (!vector) return false;
    vector->value() = FieldNode();
    return true;
  }

  bool add() {
    const auto lacking = pick([](const Where& at) {
      const FieldType type = at.type();
      const bool of_union = type.element == ET_UTYPE || (type.is_tables() && type.of->st == ST_UNION);
      return !at.value() && !of_union;
    });
    if (!lacking) return false;
    lacking->value() = made_field(lacking->type());
    return true;
  }

  /// Small numbers, most of which could be meant.
  std::string made_number(size_t bytes) {
    constexpr uint64_t kNumbers[] = {0, 1, 1, 1, 2, 3, 4, 8, 16, 64, ~uint64_t{0}, 0x3F800000};
    const uint64_t number = kNumbers[below(std::size(kNumbers))];
    return std::string(reinterpret_cast<const char*>(&number), bytes);
  }

  std::string made_bytes(const FieldType& type) {
    if (type.element != ET_SEQUENCE) return made_number(type.size());
    std::string bytes;  // of a struct
    for (size_t at = 0; at < type.size(); at += sizeof(uint32_t)) bytes += made_number(sizeof(uint32_t));
    return bytes;
  }

  FieldNode made_field(const FieldType& type) {
    FieldNode field;
    if (type.is_strings()) {
      field.strings.emplace_back("a");
    } else if (type.element == ET_STRING) {
      field.bytes = "a";
    } else if (type.is_tables()) {
      field.tables.push_back(made(*type.of));
    } else {
      const size_t count = type.repeats ? 1 + below(4) : 1;
      for (size_t i = 0; i < count; ++i) field.bytes += made_bytes(type);
    }
    return field;
  }

  /// A table with all that it may be required to have.
  TableNode made(const TypeTable& type) {
    TableNode table{&type, std::vector<std::optional<FieldNode>>(type.num_elems)};
    for (size_t i = 0; i < type.num_elems; ++i) {
      const FieldType field = field_type(type, i);
      if (field.element == ET_UTYPE) {
        const FieldType in_union = field_type(type, ++i);  // its number comes before it
        const auto number = static_cast<char>(1 + below(in_union.of->num_elems - 1));
        table.fields[i - 1] = FieldNode();
        table.fields[i - 1]->bytes = std::string(1, number);
        table.fields[i] = FieldNode();
        table.fields[i]->tables.push_back(made(*member_type(*in_union.of, static_cast<uint8_t>(number))));
      } else {
        const bool scalar = field.element != ET_STRING && field.element != ET_SEQUENCE && !field.repeats;
        if (!scalar || below(2) == 0) table.fields[i] = made_field(field);
      }
    }
    return table;
  }

  void change_numbers(TableNode* table) {
    for (size_t i = 0; i < table->fields.size(); ++i) {
      const FieldType field = field_type(*table->type, i);
      if (!field.repeats && field.element != ET_STRING && field.element != ET_SEQUENCE && below(2) == 0)
        table->fields[i] = made_field(field);
    }
  }

  std::mt19937 random_;
  std::vector<Where> all_;
};

}  // namespace

std::optional<std::string> change_structure(const uint8_t* file, size_t bytes, StructureChange change,
                                            uint32_t seed) {
  std::optional<TableNode> root = read_tree(file, bytes);
  if (!root || !StructureMutator(&*root, seed).make(change)) return std::nullopt;
  return write_tree(*root, file, bytes);
}

}  // namespace fuzz
