// SPDX-License-Identifier: Apache-2.0
//
// The machine that runs a pickle: it makes dictionaries, lists, numbers, texts and tensors, and calls
// nothing.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "converter/readers/pickle_bytes.h"
#include "converter/readers/pickle_objects.h"
#include "converter/readers/safetensors.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {

inline constexpr size_t kMaxObjects = 1u << 22;  // of a pickle: more than any checkpoint has
// Objects that a pickle may use again and again are bounded, so that all its objects are no more than a
// multiple of the pickle.
inline constexpr size_t kMaxDimensions = 16, kMaxKeyBytes = 64, kMaxNameBytes = 4096;

inline constexpr const char kDict[] = "collections OrderedDict",
                            kRebuild[] = "torch._utils _rebuild_tensor_v2",
                            kOldRebuild[] = "torch._utils _rebuild_tensor",
                            kParameter[] = "torch._utils _rebuild_parameter";

/// Runs the operations of Python's pickle protocols 2 to 4 that a state dictionary needs.
class PickleMachine : PickleBytes {
 public:
  using Storages = std::map<std::string, std::span<const std::byte>>;
  PickleMachine(std::span<const std::byte> file, std::string where, std::string data)
      : PickleBytes(file, std::move(where)), data_(std::move(data)) {}

  /// Runs a pickle to its end and returns what it made. Others may stand behind it.
  Ref run() {
    stack_.clear();
    memo_.clear();
    while (step(take<uint8_t>())) {
    }
    return pop();
  }

  /// Returns the tensors of a dictionary, with their bytes.
  NamedTensors tensors(Ref root, const Storages& storages) {
    NamedTensors tensors;
    for (const auto& [key, value] : of<Dict>(root, "a dictionary").items) {
      if (!std::holds_alternative<StoredTensor>(value->value)) continue;
      const std::string& name = of<std::string>(key, "a text");
      if (name.size() > kMaxNameBytes) refuse("a tensor's name is too long");
      tensors[name] = with_bytes(std::get<StoredTensor>(value->value), storages);
    }
    return tensors;
  }

  /// Skips so many bytes, of no pickle.
  void skip(size_t bytes) { take_text(bytes); }
  /// Returns the number that the pickle must have made.
  int64_t number(Ref object) { return of<int64_t>(object, "a number"); }
  /// Returns the value of a dictionary's key; null where it has none.
  Ref find(Ref object, const std::string& key) {
    for (const auto& [name, value] : of<Dict>(object, "a dictionary").items) {
      if (of<std::string>(name, "a text") == key) return value;
    }
    return nullptr;
  }

  /// Returns the bytes of the storages that a list names, each behind the number of its elements.
  Storages take_storages(Ref names) {
    Storages storages;
    for (const Ref name : of<List>(names, "a list of storages").items) {
      const std::string& key = of<std::string>(name, "a text");
      charge_work(64);
      const auto type = types_.find(key);
      if (type == types_.end()) refuse("no tensor is of the storage " + shown(key));
      const auto count = take<uint64_t>();
      if (count > (pickle_.size() - at_) / type->second->bytes)
        refuse("the storage " + shown(key) + " is cut off: fetch the file again");
      storages[key] = pickle_.subspan(at_, count * type->second->bytes);
      at_ += count * type->second->bytes;
    }
    return storages;
  }

 private:
  template <class T>
  void push(T value) {
    if (objects_.size() == kMaxObjects) refuse("it makes too many objects");
    charge_bytes(sizeof(Object));
    stack_.push_back(&objects_.emplace_back(Object{std::move(value)}));
  }
  Ref pop() {
    if (stack_.empty()) refuse("its stack is empty");
    const Ref top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Ref& top() {
    if (stack_.empty()) refuse("its stack is empty");
    return stack_.back();
  }
  /// Takes the objects that were pushed since the last mark.
  std::vector<Ref> pop_mark() {
    size_t mark = stack_.size();
    while (mark != 0 && !std::holds_alternative<Mark>(stack_[mark - 1]->value)) --mark;
    if (mark == 0) refuse("a mark is missing");
    charge_work(stack_.size() - mark);
    std::vector<Ref> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return items;
  }
  template <class T>
  T& of(Ref object, const char* what) {
    if (!std::holds_alternative<T>(object->value)) refuse(std::string("expected ") + what);
    return std::get<T>(object->value);
  }
  uint64_t size_of(Ref object) {
    const int64_t value = of<int64_t>(object, "a number");
    if (value < 0) refuse("a size is negative");
    return static_cast<uint64_t>(value);
  }

  void tuple(size_t count) {
    if (stack_.size() < count) refuse("its stack is empty");
    List list;
    list.items.assign(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    push(std::move(list));
  }
  void set_items(const std::vector<Ref>& items) {
    if (items.size() % 2 != 0) refuse("a key has no value");
    Dict& dict = of<Dict>(top(), "a dictionary");
    for (size_t i = 0; i < items.size(); i += 2) dict.items.emplace_back(items[i], items[i + 1]);
  }
  void append(const std::vector<Ref>& items) {
    List& list = of<List>(top(), "a list");
    list.items.insert(list.items.end(), items.begin(), items.end());
  }
  /// True, for step().
  bool memoize(uint32_t index) {
    if (index > kMaxObjects) refuse("a memo's number is too large");
    memo_[index] = top();
    return true;
  }
  bool recall(uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) refuse("a memo is missing");
    stack_.push_back(found->second);
    return true;
  }

  void global(const std::string& module, const std::string& name) {
    const std::string full = module + " " + name;
    if (full != kDict && full != kRebuild && full != kOldRebuild && full != kParameter &&
        storage_type(full) == nullptr)
      refuse("it asks for " + shown(module + "." + name) + ", which no tensor needs; nothing of it was run");
    push(Global{full});
  }

  /// ("storage", type, key, device, elements), and in a stream a view of it: (key, first element, elements).
  void persistent_id() {
    const Ref id = pop();
    const std::vector<Ref>& parts = of<List>(id, "a storage").items;
    if (parts.size() < 3 || of<std::string>(parts[0], "a text") != "storage") refuse("expected a storage");
    const StorageType* type = storage_type(of<Global>(parts[1], "a type of storage").name);
    if (type == nullptr) refuse("expected a type of storage");
    const std::string& key = of<std::string>(parts[2], "a text");
    if (key.size() > kMaxKeyBytes) refuse("a storage's name is too long");
    charge_work(64);
    if (types_.emplace(key, type).first->second != type) refuse("a storage has two types");
    Storage storage{type->dtype, key};
    if (parts.size() > 5 && !std::holds_alternative<None>(parts[5]->value)) {
      const std::vector<Ref>& view = of<List>(parts[5], "a view of a storage").items;
      if (view.size() < 3) refuse("expected a view of a storage");
      storage.first = size_of(view[1]);
    }
    push(std::move(storage));
  }

  /// (storage, first element, shape, strides, ...)
  StoredTensor tensor(const std::vector<Ref>& arguments) {
    if (arguments.size() < 4) refuse("a tensor lacks its shape");
    const Storage& storage = of<Storage>(arguments[0], "a storage");
    StoredTensor tensor{storage.dtype, storage.key, {}, size_of(arguments[1]), 1};
    if (__builtin_add_overflow(tensor.first, storage.first, &tensor.first)) refuse("a tensor is too large");
    const std::vector<Ref>& shape = of<List>(arguments[2], "a shape").items;
    if (shape.size() > kMaxDimensions) refuse("a tensor has too many dimensions");
    for (const Ref size : shape) tensor.shape.push_back(size_of(size));
    const std::vector<Ref>& strides = of<List>(arguments[3], "strides").items;
    if (strides.size() != tensor.shape.size()) refuse("shape and strides differ");
    uint64_t& expected = tensor.count;
    for (size_t i = strides.size(); i-- > 0;) {
      if (tensor.shape[i] > 1 && size_of(strides[i]) != expected)
        refuse("a tensor of " + shown(storage.key) + " is not contiguous: save the model as safetensors");
      if (__builtin_mul_overflow(expected, tensor.shape[i], &expected)) refuse("a tensor is too large");
    }
    return tensor;
  }

  NamedTensor with_bytes(const StoredTensor& tensor, const Storages& storages) {
    charge_work(64);
    const auto found = storages.find(tensor.key);
    if (found == storages.end()) refuse("the file has no " + data_ + shown(tensor.key));
    const uint64_t bytes = types_.at(tensor.key)->bytes, elements = found->second.size() / bytes;
    if (tensor.first > elements || tensor.count > elements - tensor.first)
      refuse(data_ + shown(tensor.key) + " is shorter than its tensor");
    return {tensor.dtype, tensor.shape, found->second.subspan(tensor.first * bytes, tensor.count * bytes)};
  }

  void reduce() {
    const Ref arguments = pop(), callable = pop();
    const std::string& name = of<Global>(callable, "something to call").name;
    const std::vector<Ref>& items = of<List>(arguments, "arguments").items;
    if (name == kDict) {
      push(Dict{});
    } else if (name == kRebuild || name == kOldRebuild) {
      push(tensor(items));
    } else if (name == kParameter && !items.empty()) {
      stack_.push_back(items[0]);
    } else {
      refuse("it calls " + shown(name));
    }
  }

  /// A number of `bytes` bytes, with a sign.
  void long_number(uint64_t bytes) {
    if (bytes > 8) refuse("a number has more than 64 bits");
    const std::string text = take_text(bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < text.size(); ++i)
      value |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    if (bytes != 0 && bytes < 8 && (value >> (8 * bytes - 1) & 1) != 0) value |= ~uint64_t{0} << (8 * bytes);
    push(static_cast<int64_t>(value));
  }

  /// An operation that makes a number, a text or nothing. False: it is another one.
  bool make(uint8_t operation) {
    switch (operation) {
      case 'N':
        push(None{});
        return true;
      case 'J':
        push(int64_t{take<int32_t>()});
        return true;
      case 'K':
        push(int64_t{take<uint8_t>()});
        return true;
      case 'M':
        push(int64_t{take<uint16_t>()});
        return true;
      case 0x8a:
        long_number(take<uint8_t>());
        return true;
      case 0x88:
      case 0x89:
        push(int64_t{operation == 0x88});
        return true;
      case 'G':  // a float, which no tensor needs
        take<uint64_t>();
        push(None{});
        return true;
      case 'T':  // of Python 2
      case 'X':
        push(take_text(take<uint32_t>()));
        return true;
      case 'U':  // of Python 2
      case 0x8c:
        push(take_text(take<uint8_t>()));
        return true;
      case '}':
        push(Dict{});
        return true;
      case ']':
      case ')':
        push(List{});
        return true;
      default:
        return false;
    }
  }

  /// An operation on what there is. False: it is another one.
  bool combine(uint8_t operation) {
    switch (operation) {
      case '(':
        push(Mark{});
        return true;
      case 't': {
        List list{pop_mark()};
        push(std::move(list));
        return true;
      }
      case 0x85:
      case 0x86:
      case 0x87:
        tuple(size_t{operation} - 0x84u);
        return true;
      case 's': {
        const Ref value = pop(), key = pop();
        set_items({key, value});
        return true;
      }
      case 'u':
        set_items(pop_mark());
        return true;
      case 'a':
        append({pop()});
        return true;
      case 'e':
        append(pop_mark());
        return true;
      case 'b':  // attributes of a dictionary (its _metadata)
        pop();
        of<Dict>(top(), "a dictionary");
        return true;
      case 'Q':
        persistent_id();
        return true;
      case 'R':
        reduce();
        return true;
      default:
        return false;
    }
  }

  /// False at the end.
  bool step(uint8_t operation) {
    if (make(operation) || combine(operation)) return true;
    switch (operation) {
      case '.':
        return false;
      case 0x80:
        take<uint8_t>();
        return true;
      case 0x95:
        take<uint64_t>();
        return true;
      case 'q':
        return memoize(take<uint8_t>());
      case 'r':
        return memoize(take<uint32_t>());
      case 0x94:
        return memoize(static_cast<uint32_t>(memo_.size()));
      case 'h':
        return recall(take<uint8_t>());
      case 'j':
        return recall(take<uint32_t>());
      case 'c': {
        const std::string module = take_line();
        global(module, take_line());
        return true;
      }
      case 0x93: {
        const Ref name = pop(), module = pop();
        global(of<std::string>(module, "a text"), of<std::string>(name, "a text"));
        return true;
      }
      default:
        refuse(fmt::format("operation 0x{:02x} is none that a state dictionary needs", operation));
    }
  }

  const std::string data_;  // starts the names of storages in messages
  std::map<std::string, const StorageType*> types_;
  std::deque<Object> objects_;
  std::vector<Ref> stack_;
  std::map<uint32_t, Ref> memo_;
};

}  // namespace mote::convert
