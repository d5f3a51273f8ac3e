// SPDX-License-Identifier: Apache-2.0
//
// The values of a template: Python's, as far as JSON and Jinja make them. Texts, sequences and dictionaries
// are shared and never change, so values are cheap to copy and hold no cycles; namespaces change and belong
// to the renderer.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/chat/jinja/errors.h"

namespace mote::convert::jinja {

/// Nesting of lists and dictionaries.
constexpr uint32_t kMostDepth = 100;
/// Values in a list or dictionary, counted as often as they would be written, and 32 bytes of text as one.
constexpr uint64_t kMostWeight = 1 << 20;

struct Value;
struct Node;
struct Frame;
struct Function;
struct LoopState;

/// Its text says what is missing; null: a variable that has no value yet.
struct Undefined {
  std::shared_ptr<const std::string> reason;
};

struct None {};

/// Valid UTF-8. Markup is what `safe` and `escape` give: adding a plain text to it escapes that.
struct Text {
  std::string bytes;
  bool markup = false;
};

enum class SequenceKind : uint8_t { list, tuple, range, view, iterator };

struct Extent {
  uint32_t depth = 0;
  uint64_t weight = 1;
};

struct Sequence {
  SequenceKind kind;
  std::vector<Value> items;
  Extent extent;
  std::string shown = {};    // of a range, the whole; of a view, its type
  mutable size_t taken = 0;  // items that an iterator has given
};

struct Dict {
  std::vector<std::pair<Value, Value>> items;
  Extent extent;
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
};

/// The object that `namespace()` makes: the only thing that a template can change.
struct Space {
  std::vector<std::pair<std::string, Value>> items;
  Value* find(std::string_view name);
};

/// A macro, or the body of a call block, with the variables around it. They are gone when it is called after
/// the end of the loop or macro that defined it.
struct Macro {
  const Node* node;
  std::weak_ptr<Frame> outer;
};

using TextRef = std::shared_ptr<const Text>;
using SequenceRef = std::shared_ptr<const Sequence>;
using DictRef = std::shared_ptr<const Dict>;
using FunctionRef = std::shared_ptr<const Function>;
using LoopRef = std::weak_ptr<LoopState>;

struct Value {
  std::variant<Undefined, None, bool, int64_t, double, TextRef, SequenceRef, DictRef, Space*, Macro,
               FunctionRef, LoopRef>
      data;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(data);
  }
  /// Null where it is no text, sequence or dictionary.
  const Text* text() const { return is<TextRef>() ? as<TextRef>()->get() : nullptr; }
  const Sequence* sequence() const { return is<SequenceRef>() ? as<SequenceRef>()->get() : nullptr; }
  const Dict* dict() const { return is<DictRef>() ? as<DictRef>()->get() : nullptr; }
  bool is_markup() const { return text() != nullptr && text()->markup; }
  bool is_missing() const { return is<Undefined>() && as<Undefined>()->reason == nullptr; }
};

/// A function or a method with its object, by name: `call` finds what it does.
struct Function {
  std::string name;
  Value self = {};
  enum class Kind : uint8_t { global, method, joiner } kind = Kind::global;
  mutable bool called = false;  // of a joiner: from then on it gives `self`
};

/// The arguments of a call: values in order, then by name.
struct Arguments {
  std::vector<Value> values = {};
  std::vector<std::pair<std::string, Value>> names = {};
};

// ---- Making values ----

/// The most bytes of a text.
constexpr uint64_t kMostBytes = 16 << 20;
/// Bytes of text that count as one step where they are only read.
constexpr size_t kTextStep = 256;
void require_bytes(uint64_t bytes);

Value undefined(std::string reason);
Value none();
Value make_bool(bool value);
Value make_int(int64_t value);
Value make_float(double value);
Value make_text(std::string bytes, bool markup = false);
/// Texts of more than kMostBytes are refused before they are made, see require_bytes. Lists and dictionaries
/// are refused beyond kMostDepth and kMostWeight.
Value make_sequence(std::vector<Value> items, SequenceKind kind = SequenceKind::list, std::string shown = {});
Value make_dict(std::vector<std::pair<Value, Value>> items);
/// Sets or adds.
void put(std::vector<std::pair<Value, Value>>& items, Value key, Value value);

/// Integers of more than 64 bits are refused.
Value from_json(const nlohmann::ordered_json& json);

// ---- What they are ----

/// As Python names it: "str", "list", "Undefined".
std::string type_name(const Value& value);
Extent extent_of(const Value& value);
bool truthy(const Value& value);
bool is_number(const Value& value);  // bool too
/// Returns an integer or a bool as a number; refuses other values with `what`.
int64_t to_int(const Value& value, std::string_view what);
double to_double(const Value& value, std::string_view what);
/// Refuses what cannot be a key.
void require_hashable(const Value& value);
[[noreturn]] void refuse_undefined(const Value& value);

/// The items of anything that a loop can walk; an iterator is used up. Refuses others.
std::vector<Value> items_of(const Value& value);
bool is_iterable(const Value& value);
/// Items of what has a length; refuses others.
int64_t length_of(const Value& value);

}  // namespace mote::convert::jinja
