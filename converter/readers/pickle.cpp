// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/pickle.h"

#include <algorithm>
#include <deque>
#include <variant>

#include "converter/error.h"
#include "converter/readers/bytes.h"
#include "converter/readers/pickle_bytes.h"
#include "converter/readers/zip_file.h"
#include "converter/work_budget.h"

namespace mote::convert {
namespace {

constexpr size_t kMaxObjects = 1u << 22;  // of a pickle: more than any checkpoint has
// What a pickle may use again and again is bounded, so that its objects are no more than a multiple of it.
constexpr size_t kMaxDimensions = 16, kMaxKeyBytes = 64, kMaxNameBytes = 4096;

// A byte may make an object.
constexpr uint64_t kStepsOfByte = 256;

struct Object;
using Ref = Object*;  // of those that the machine made, which live as long as it

struct None {};
struct Mark {};
/// The name of something that a pickle would call or use.
struct Global {
  std::string name;
};
/// A persistent id: an entry of the archive with numbers of a type.
struct Storage {
  std::string dtype, key;
};
struct List {
  std::vector<Ref> items;  // of a tuple too
};
struct Dict {
  std::vector<std::pair<Ref, Ref>> items;
};
struct Object {
  std::variant<None, Mark, int64_t, std::string, Global, Storage, List, Dict, NamedTensor> value;
};

struct StorageType {
  const char* name;
  const char* dtype;  // safetensors'
  uint64_t bytes;
};
constexpr StorageType kStorages[] = {
    {"torch FloatStorage", "F32", 4},  {"torch HalfStorage", "F16", 2}, {"torch BFloat16Storage", "BF16", 2},
    {"torch DoubleStorage", "F64", 8}, {"torch LongStorage", "I64", 8}, {"torch IntStorage", "I32", 4},
    {"torch ShortStorage", "I16", 2},  {"torch CharStorage", "I8", 1},  {"torch ByteStorage", "U8", 1},
    {"torch BoolStorage", "BOOL", 1},
};

const StorageType* storage_type(const std::string& name) {
  for (const StorageType& type : kStorages) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

constexpr const char kDict[] = "collections OrderedDict", kRebuild[] = "torch._utils _rebuild_tensor_v2",
                     kParameter[] = "torch._utils _rebuild_parameter";

/// Runs the operations of Python's pickle protocols 2 to 4 that a state dictionary needs.
class Machine : PickleBytes {
 public:
  using Entries = std::map<std::string, std::span<const std::byte>>;
  Machine(std::span<const std::byte> pickle, const Entries& entries, std::string prefix, std::string where)
      : PickleBytes(pickle, std::move(where)) {
    const std::string data = prefix + "data/";  // cut off once, not added for each tensor
    for (auto entry = entries.lower_bound(data); entry != entries.end(); ++entry) {
      if (!entry->first.starts_with(data)) break;
      charge_work(entry->first.size());
      entries_[entry->first.substr(data.size())] = entry->second;
    }
  }

  NamedTensors run() {
    while (step(take<uint8_t>())) {
    }
    const Ref root = pop();
    NamedTensors tensors;
    for (const auto& [key, value] : of<Dict>(root, "a dictionary").items) {
      if (!std::holds_alternative<NamedTensor>(value->value)) continue;
      const std::string& name = of<std::string>(key, "a text");
      if (name.size() > kMaxNameBytes) refuse("a tensor's name is too long");
      tensors[name] = std::get<NamedTensor>(value->value);
    }
    return tensors;
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
  /// What was pushed since the last mark.
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
    if (full != kDict && full != kRebuild && full != kParameter && storage_type(full) == nullptr)
      refuse("it asks for " + shown(module + "." + name) + ", which no tensor needs; nothing of it was run");
    push(Global{full});
  }

  /// ("storage", type, key, device, elements)
  void persistent_id() {
    const Ref id = pop();
    const std::vector<Ref>& parts = of<List>(id, "a storage").items;
    if (parts.size() < 3 || of<std::string>(parts[0], "a text") != "storage") refuse("expected a storage");
    const StorageType* type = storage_type(of<Global>(parts[1], "a type of storage").name);
    if (type == nullptr) refuse("expected a type of storage");
    const std::string& key = of<std::string>(parts[2], "a text");
    if (key.size() > kMaxKeyBytes) refuse("a storage's name is too long");
    push(Storage{type->dtype, key});
  }

  /// (storage, first element, shape, strides, ...)
  NamedTensor tensor(const std::vector<Ref>& arguments) {
    if (arguments.size() < 4) refuse("a tensor lacks its shape");
    const Storage& storage = of<Storage>(arguments[0], "a storage");
    const uint64_t first = size_of(arguments[1]);
    NamedTensor tensor{storage.dtype, {}, {}};
    const std::vector<Ref>& shape = of<List>(arguments[2], "a shape").items;
    if (shape.size() > kMaxDimensions) refuse("a tensor has too many dimensions");
    for (const Ref size : shape) tensor.shape.push_back(size_of(size));
    const std::vector<Ref>& strides = of<List>(arguments[3], "strides").items;
    if (strides.size() != tensor.shape.size()) refuse("shape and strides differ");
    uint64_t expected = 1;
    for (size_t i = strides.size(); i-- > 0;) {
      if (tensor.shape[i] > 1 && size_of(strides[i]) != expected)
        refuse("a tensor of " + shown(storage.key) + " is not contiguous: save the model as safetensors");
      if (__builtin_mul_overflow(expected, tensor.shape[i], &expected)) refuse("a tensor is too large");
    }
    charge_work(64);
    const auto entry = entries_.find(storage.key);
    if (entry == entries_.end()) refuse("the archive has no data/" + shown(storage.key));
    const StorageType* type = std::find_if(std::begin(kStorages), std::end(kStorages),
                                           [&](auto& t) { return storage.dtype == t.dtype; });
    const uint64_t elements = entry->second.size() / type->bytes;
    if (first > elements || expected > elements - first)
      refuse("data/" + shown(storage.key) + " is shorter than its tensor");
    tensor.bytes = entry->second.subspan(first * type->bytes, expected * type->bytes);
    return tensor;
  }

  void reduce() {
    const Ref arguments = pop(), callable = pop();
    const std::string& name = of<Global>(callable, "something to call").name;
    const std::vector<Ref>& items = of<List>(arguments, "arguments").items;
    if (name == kDict) {
      push(Dict{});
    } else if (name == kRebuild) {
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
      case 'X':
        push(take_text(take<uint32_t>()));
        return true;
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

  Entries entries_;  // by their storages' names
  std::deque<Object> objects_;
  std::vector<Ref> stack_;
  std::map<uint32_t, Ref> memo_;
};

}  // namespace

NamedTensors parse_pytorch(std::span<const std::byte> file, const std::string& where) {
  if (file.size() >= 4 && load<uint32_t>(file.data()) != 0x04034b50) {
    fail("{} is not an archive, as PyTorch writes since 1.6: load it and save it again, as safetensors",
         where);
  }
  const WorkBudget budget(where, file.size(), kStepsOfByte);
  const auto entries = parse_zip(file, where);
  const std::string suffix = "data.pkl";
  for (const auto& [name, bytes] : entries) {
    if (!name.ends_with(suffix)) continue;
    const std::string prefix = name.substr(0, name.size() - suffix.size());
    const auto order = entries.find(prefix + "byteorder");
    if (order != entries.end() && order->second.size() >= 3 && order->second[0] == std::byte{'b'})
      fail("{} holds big-endian numbers, which are not read", where);
    return Machine(bytes, entries, prefix, where).run();
  }
  fail("{}: the archive has no data.pkl: it is no checkpoint of PyTorch", where);
}

}  // namespace mote::convert
