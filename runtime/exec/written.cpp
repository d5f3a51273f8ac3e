// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/written.h"

#include "runtime/error.h"
#include "runtime/ops/visit_op.h"

namespace mote {
namespace {

/// Columns of a row: `count` parts of `width`, the first at `begin`, each `stride` behind the one before.
struct Columns {
  uint32_t begin, width, stride, count;
};

/// Returns whether `all` holds each part of `some`.
bool covers(const Columns& all, const Columns& some) {
  if (some.begin < all.begin) return false;
  const uint32_t offset = some.begin - all.begin;
  if (all.count == 1) {
    return uint64_t{some.count - 1} * some.stride + some.width + offset <= all.width;
  }
  if (some.count != 1 && some.stride != all.stride) return false;
  return offset % all.stride + uint64_t{some.width} <= all.width &&
         offset / all.stride + uint64_t{some.count} <= all.count;
}

/// Makes `into` both of them, where `other` is the part before or behind its parts.
bool extend(Columns* into, const Columns& other) {
  if (into->count == 1 || other.count != 1 || other.width != into->width) return false;
  const bool before = into->begin >= into->stride && other.begin == into->begin - into->stride;
  const bool behind = other.begin == into->begin + uint64_t{into->count} * into->stride;
  if (!before && !behind) return false;
  if (before) into->begin = other.begin;
  ++into->count;
  return true;
}

/// Makes `into` both of them, where one holds or continues the other or all their parts overlap or touch.
bool join(Columns* into, const Columns& other) {
  if (covers(*into, other)) return true;
  if (covers(other, *into)) {
    *into = other;
    return true;
  }
  if (extend(into, other)) return true;
  const bool alike = into->count == other.count && into->stride == other.stride;
  const uint32_t end = into->begin + into->width, other_end = other.begin + other.width;
  if (!alike || into->begin > other_end || other.begin > end) return false;
  const uint32_t begin = into->begin < other.begin ? into->begin : other.begin;
  const uint32_t width = (end > other_end ? end : other_end) - begin;
  const bool closed = into->count == 1 || width >= into->stride;
  if (closed) {
    *into = {begin, (into->count - 1) * into->stride + width, 0, 1};
  } else {
    *into = {begin, width, into->stride, into->count};
  }
  return true;
}

constexpr uint32_t kMostParts = 3;

/// The columns that were written of a buffer, at the buffer's place. Places begin at multiples of so many
/// bytes, so the notes of two buffers are of the same bytes or of others.
class Written {
 public:
  uint32_t buffer, parts;
  uint64_t unused;
  Columns columns[kMostParts];

  bool has(const Columns& some) const {
    for (uint32_t i = 0; i < parts; ++i) {
      if (covers(columns[i], some)) return true;
    }
    return false;
  }

  /// Returns whether there was room.
  bool add(Columns more) {
    absorb(&more);
    while (parts == kMostParts) {
      if (!pair_up()) return false;
      absorb(&more);
    }
    columns[parts++] = more;
    return true;
  }

  /// Makes one of two parts of the same width, of neighbouring heads perhaps; whether there are two.
  bool pair_up() {
    for (uint32_t i = 0; i < parts; ++i) {
      for (uint32_t j = i + 1; j < parts; ++j) {
        const Columns a = columns[i], b = columns[j];
        if (a.count != 1 || b.count != 1 || a.width != b.width) continue;
        const uint32_t first = a.begin < b.begin ? a.begin : b.begin;
        const uint32_t second = a.begin < b.begin ? b.begin : a.begin;
        columns[j] = columns[--parts];
        columns[i] = columns[--parts];
        return add({first, a.width, second - first, 2});
      }
    }
    return false;
  }

 private:
  /// Takes out the parts that `more` can be joined with, and joins them.
  void absorb(Columns* more) {
    for (uint32_t i = 0; i < parts;) {
      Columns part = columns[i];
      if (join(&part, *more)) {
        *more = part;
      } else if (!join(more, part)) {
        ++i;
        continue;
      }
      columns[i] = columns[--parts];
      i = 0;  // what is wider now may touch what it did not before
    }
  }
};
static_assert(sizeof(Written) == kAlignment);

/// Returns the columns that the operation takes of the slice, one of its own.
Columns columns_of(const file::Op& op, const file::Slice& slice) {
  const Columns all{slice.column(), slice.width(), 0, 1};
  if (const auto* rope = op.args_as_Rope(); rope != nullptr && &slice == rope->x()) {
    const uint32_t head_dim = slice.width() / rope->heads(), rotated = rope->table()->width();
    if (rotated == head_dim) return all;
    return {slice.column(), rotated, rope->heads() == 1 ? 0 : head_dim, rope->heads()};
  }
  if (const auto* experts = op.args_as_Experts(); experts != nullptr && &slice == experts->out()) {
    const uint32_t stride = experts->stride(), chosen = experts->chosen();
    if (stride == 0 || chosen == 1) return all;
    const uint32_t width = slice.width() - (chosen - 1) * stride;
    if (width != stride) return {slice.column(), width, stride, chosen};
  }
  return all;
}

enum class Access { read, written };

/// Follows one kind of access of the operations of a program, so that the order in which an operation names
/// its operands does not matter.
class Accesses : public OpVisitor {
 public:
  Accesses(const mote_model& model, const Places& places, Access access, mote_error* error)
      : OpVisitor(*model.root, *places.program), places_(places), access_(access), error_(error) {}

  mote_status add(uint32_t index) {
    index_ = index;
    visit_op(op(), *this);
    return status_;
  }

  void reads(const file::Slice* slice) {
    if (access_ == Access::read && slice != nullptr) read(*slice, "an operand");
  }
  void adds(const file::Slice* slice) { reads(slice); }
  void writes(const file::Slice* slice) {
    if (access_ == Access::written) write(*slice);
  }
  void updates(const file::Slice* slice) {
    reads(slice);
    writes(slice);
  }

  /// `after`: the operation behind which they are read.
  mote_status read_after(uint32_t after, const file::Slice& slice, const char* what) {
    index_ = after;
    read(slice, what);
    return status_;
  }

  /// Forgets what the place held.
  void forget(uint32_t buffer) {
    Written* written = find(buffer);
    if (written != nullptr) *written = {kMaxBuffers, 0, 0, {}};
  }

 private:
  const file::Op& op() const { return *program_.ops()->Get(index_); }

  /// Null of a stream that never has a row.
  Written* find(uint32_t buffer) const {
    const file::Buffer& of = *program_.buffers()->Get(buffer);
    const StreamPlace& place = places_.streams[of.stream()];
    if (place.rows == 0) return nullptr;
    return reinterpret_cast<Written*>(place.buffers + uint64_t{of.offset()} * place.rows);
  }

  void read(const file::Slice& slice, const char* what) {
    const Written* written = find(slice.buffer());
    if (status_ != MOTE_OK || written == nullptr) return;
    Written parts = *written;
    bool found = false;
    if (parts.buffer == slice.buffer()) {
      const Columns columns = columns_of(op(), slice);
      do found = parts.has(columns);
      while (!found && parts.pair_up());
    }
    if (!found) refuse(what, " is of columns that no operation has written before, ", slice);
  }

  void write(const file::Slice& slice) {
    Written* written = find(slice.buffer());
    if (status_ != MOTE_OK || written == nullptr) return;
    if (written->buffer != slice.buffer()) *written = {slice.buffer(), 0, 0, {}};
    if (!written->add(columns_of(op(), slice))) refuse("out", " is one of too many parts, ", slice);
  }

  void refuse(const char* what, const char* is, const file::Slice& slice) {
    status_ = fail_at(error_, MOTE_CORRUPT_FILE, static_cast<int32_t>(index_), "op ", index_, " ",
                      file::EnumNameOpArgs(op().args_type()), " of program ", program_.name()->c_str(), ": ",
                      what, is, slice.column(), " + ", slice.width(), " of buffer ", slice.buffer());
  }

  const Places& places_;
  const Access access_;
  mote_error* const error_;
  uint32_t index_ = 0;
  mote_status status_ = MOTE_OK;
};

}  // namespace

mote_status check_written(const mote_model& model, const Places& places, mote_error* error) {
  const file::Program& program = *places.program;
  Accesses reads(model, places, Access::read, error), writes(model, places, Access::written, error);
  for (uint32_t i = 0; i < program.buffers()->size(); ++i) writes.forget(i);
  const uint32_t last = program.ops()->size() - 1;
  uint32_t probe = 0;  // in the order of their operations
  for (uint32_t i = 0; i <= last; ++i) {
    mote_status status = reads.add(i);
    if (status == MOTE_OK) status = writes.add(i);
    for (; probe < size_of(program.probes()) && program.probes()->Get(probe)->op() == i; ++probe) {
      if (status == MOTE_OK) status = reads.read_after(i, *program.probes()->Get(probe)->value(), "a probe");
    }
    if (status != MOTE_OK) return status;
  }
  return reads.read_after(last, *program.output(), "the output");
}

}  // namespace mote
