// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_model.h"

#include "runtime/file/file.h"

#include <flatbuffers/minireflect.h>

#include <cstring>
#include <random>
#include <vector>

#include "schema/block_formats.h"

namespace fuzz {
namespace {

using namespace flatbuffers;
using mote::file::Model;

/// A place in the metadata.
struct Spot {
  enum class Kind { scalar, length, reference, table_reference };
  Kind kind;
  size_t at;
  size_t bytes;
  const char* name;  // of the field; elements of vectors have none
};

/// Of a vector's scalars the first will do: else the numbers of a self test would be most of all spots.
constexpr size_t kElements = 4;
constexpr size_t kMaxSpots = 1 << 16;

class Collector : public IterationVisitor {
 public:
  explicit Collector(const uint8_t* begin) : begin_(begin) {}
  const std::vector<Spot>& spots() const { return spots_; }

  void Field(size_t, size_t, ElementaryType type, bool is_vector, const TypeTable* table, const char* name,
             const uint8_t* value) override {
    if (value == nullptr) return;
    if (!is_vector) return add(type, table, name, value);
    add(Spot::Kind::reference, name, value, sizeof(uoffset_t));
    add(Spot::Kind::length, name, value + ReadScalar<uoffset_t>(value), sizeof(uoffset_t));
  }
  void Element(size_t index, ElementaryType type, const TypeTable* table, const uint8_t* value) override {
    if (type == ET_SEQUENCE || type == ET_STRING || index < kElements) add(type, table, nullptr, value);
  }

 private:
  void add(ElementaryType type, const TypeTable* table, const char* name, const uint8_t* value) {
    if (type == ET_STRING) return add(Spot::Kind::reference, name, value, sizeof(uoffset_t));
    if (type != ET_SEQUENCE) return add(Spot::Kind::scalar, name, value, InlineSize(type, table));
    // A struct lies inside; its fields come next.
    if (table->st != ST_STRUCT) add(Spot::Kind::table_reference, name, value, sizeof(uoffset_t));
  }
  void add(Spot::Kind kind, const char* name, const uint8_t* value, size_t bytes) {
    if (spots_.size() < kMaxSpots) spots_.push_back({kind, static_cast<size_t>(value - begin_), bytes, name});
  }

  const uint8_t* begin_;
  std::vector<Spot> spots_;
};

class Mutator {
 public:
  Mutator(uint8_t* data, size_t size, uint32_t seed) : data_(data), size_(size), random_(seed) {}

  /// Finds the spots; false where there is nothing to walk.
  bool collect();
  void change();

 private:
  size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }
  const Spot* pick(Spot::Kind kind, Spot::Kind or_kind);
  const Spot* partner(const Spot& spot);
  uint64_t load(const Spot& spot) const {
    uint64_t value = 0;
    std::memcpy(&value, data_ + spot.at, spot.bytes);
    return value;
  }
  void store(const Spot& spot, uint64_t value) { std::memcpy(data_ + spot.at, &value, spot.bytes); }

  void change_scalar();
  void change_length();
  void change_reference();
  void change_vtable();
  void change_segment();

  uint8_t* data_;
  size_t size_;
  std::mt19937 random_;
  size_t metadata_ = 0;
  std::vector<Spot> spots_;
};

bool Mutator::collect() {
  if (size_ < 16 || !BufferHasIdentifier(data_, mote::file::ModelIdentifier(), true)) return false;
  metadata_ = size_t{GetPrefixedSize(data_)} + sizeof(uoffset_t);
  if (metadata_ > size_) return false;
  Verifier verifier(data_, metadata_, 8, 1 << 16);
  if (!mote::file::VerifySizePrefixedModelBuffer(verifier)) return false;
  const Model* model = mote::file::GetSizePrefixedModel(data_);
  for (const auto* program : *model->programs()) {
    for (const auto* op : *program->ops()) {
      const auto type = op->args_type();  // the walk would follow null, and what the verifier skips
      if (type == mote::file::OpArgs::NONE || type > mote::file::OpArgs::MAX) return false;
    }
  }
  Collector collector(data_);
  IterateObject(reinterpret_cast<const uint8_t*>(model), mote::file::ModelTypeTable(), &collector);
  spots_ = collector.spots();
  return !spots_.empty();
}

/// Null if a few tries hit none.
const Spot* Mutator::pick(Spot::Kind kind, Spot::Kind or_kind) {
  for (int tries = 0; tries < 64; ++tries) {
    const Spot& spot = spots_[below(spots_.size())];
    if (spot.kind == kind || spot.kind == or_kind) return &spot;
  }
  return nullptr;
}

/// Another spot of its kind and size, of the same name half of the times.
const Spot* Mutator::partner(const Spot& spot) {
  const bool same_name = spot.name != nullptr && below(2) == 0;
  for (int tries = 0; tries < 256; ++tries) {
    const Spot& other = spots_[below(spots_.size())];
    const bool fits = other.kind == spot.kind && other.bytes == spot.bytes && other.at != spot.at;
    if (fits && (!same_name || (other.name != nullptr && std::strcmp(other.name, spot.name) == 0)))
      return &other;
  }
  return nullptr;
}

/// An extreme, a neighbour, or what another field says: two tensors at one place, a width that is another's.
void Mutator::change_scalar() {
  const Spot* spot = pick(Spot::Kind::scalar, Spot::Kind::scalar);
  if (spot == nullptr) return;
  const uint64_t top = uint64_t{1} << (8 * spot->bytes - 1);
  const uint64_t extremes[] = {
      0,          1,          2,          15,           16,           63,
      64,         65,         128,        4095,         1 << 24,      (1 << 24) + 1,
      top,        top - 1,    top / 2,    ~uint64_t{0}, ~uint64_t{1}, ~uint64_t{63},
      0x7F800000, 0x7FC00000, 0xFF800000, metadata_,    size_,        size_ - metadata_};
  const uint64_t value = load(*spot);
  switch (below(4)) {
    case 0:
      return store(*spot, extremes[below(std::size(extremes))]);
    case 1:
      return store(*spot, below(2) == 0 ? value + 1 : value - 1);
    case 2:
      return store(*spot, value ^ uint64_t{1} << below(8 * spot->bytes));
    default:
      if (const Spot* other = partner(*spot)) {
        store(*spot, load(*other));
        if (below(2) == 0) store(*other, value);
      }
  }
}

void Mutator::change_length() {
  const Spot* spot = pick(Spot::Kind::length, Spot::Kind::length);
  if (spot == nullptr) return;
  const uint64_t value = load(*spot);
  const Spot* other = partner(*spot);
  const uint64_t lengths[] = {0,          1,          value - 1,
                              value + 1,  value / 2,  2 * value,
                              0x7FFFFFFF, 0xFFFFFFFF, other != nullptr ? load(*other) : 0};
  store(*spot, lengths[below(std::size(lengths))]);
}

/// To where another points: tables, strings and vectors that overlap, shared or of another type.
void Mutator::change_reference() {
  const Spot* spot = pick(Spot::Kind::reference, Spot::Kind::table_reference);
  const Spot* other = pick(Spot::Kind::reference, Spot::Kind::table_reference);
  if (spot == nullptr || other == nullptr) return;
  const uint64_t target = other->at + load(*other) + (below(4) == 0 ? 4 * below(4) : 0);
  const uint64_t own_target = spot->at + load(*spot);
  store(*spot, target - spot->at);  // backwards it wraps, which is a change too
  if (below(2) == 0) store(*other, own_target - other->at);
}

/// A field of a table goes missing, or lies where another does.
void Mutator::change_vtable() {
  const Spot* spot = pick(Spot::Kind::table_reference, Spot::Kind::table_reference);
  const size_t table = spot == nullptr || below(8) == 0 ? sizeof(uoffset_t) + ReadScalar<uoffset_t>(data_ + 4)
                                                        : spot->at + static_cast<size_t>(load(*spot));
  const int64_t vtable = static_cast<int64_t>(table) - ReadScalar<soffset_t>(data_ + table);
  auto* const entries = reinterpret_cast<voffset_t*>(data_ + vtable);
  const size_t count = entries[0] / sizeof(voffset_t);  // the first two are sizes; the verifier lets 0 pass
  if (count == 0) return;
  const size_t at = below(count);
  const voffset_t values[] = {0, entries[below(count)], static_cast<voffset_t>(entries[at] + 4), 4, 0xFFFF};
  entries[at] = values[below(std::size(values))];
}

/// Weights anywhere, tables mostly at their beginning: the large ones would else take all changes.
void Mutator::change_segment() {
  const size_t segment = mote::align_up(metadata_, mote::kAlignment);
  if (segment >= size_) return;
  size_t at = segment + below(size_ - segment);
  const Spot* spot = pick(Spot::Kind::scalar, Spot::Kind::scalar);
  if (spot != nullptr && spot->bytes == 8 && spot->name != nullptr &&
      std::strcmp(spot->name, "offset") == 0) {
    at = segment + static_cast<size_t>(load(*spot)) % (size_ - segment) + below(64);
  }
  const auto value = static_cast<uint8_t>(below(256));
  for (size_t left = size_t{1} << below(4); left > 0 && at < size_; --left, ++at) {
    data_[at] = below(2) == 0 ? value : static_cast<uint8_t>(data_[at] + 1);
  }
}

void Mutator::change() {
  switch (below(16)) {
    case 0:
    case 1:
      return change_length();
    case 2:
    case 3:
      return change_reference();
    case 4:
      return change_vtable();
    case 5:
    case 6:
      return change_segment();
    default:
      return change_scalar();
  }
}

}  // namespace

bool mutate_model(uint8_t* data, size_t size, uint32_t seed) {
  Mutator mutator(data, size, seed);
  if (!mutator.collect()) return false;
  mutator.change();
  for (uint32_t more = seed % 4; more > 1 && mutator.collect(); --more) mutator.change();
  return true;
}

}  // namespace fuzz
