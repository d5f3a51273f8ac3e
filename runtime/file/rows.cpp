// SPDX-License-Identifier: Apache-2.0
#include "runtime/file/rows.h"

#include "runtime/error.h"
#include "runtime/exec/saturating.h"
#include "runtime/file/model.h"

namespace mote {
namespace {

/// The product of the ratios between the stream and the tokens, at most kMaxRatio.
uint32_t ratio_to_tokens(const file::Program& program, uint32_t stream) {
  if (!kHasWholeSequences) return 1;
  uint32_t ratio = 1;
  const file::Stream* at = program.streams()->Get(stream);
  for (; at->kind() == file::StreamKind::group; at = program.streams()->Get(at->of())) ratio *= at->ratio();
  return ratio;
}

/// Checks that a stream of groups has a row for parts of another's rows as it should.
mote_status check_parts(const file::Program& program, uint32_t index, uint32_t context, mote_error* error) {
  const file::Stream* stream = program.streams()->Get(index);
  const uint64_t rows = uint64_t{rows_of_sequence(program, stream->of(), context)} * stream->parts();
  const bool plain = stream->ratio() == 1 && stream->needs() == 1 && stream->fixed() == 0;
  if (plain && stream->parts() != 0 && stream->parts() <= kMaxRatio && rows <= kMaxContext) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "stream ", index, " has ", stream->parts(), " rows for each of ",
              stream->ratio(), " rows of sequences of ", context);
}

/// Checks that the stream of groups `index` is of rows of an earlier one, so that no stream is of itself.
mote_status check_groups(const file::Program& program, uint32_t index, mote_error* error) {
  const auto* streams = program.streams();
  const file::Stream* stream = streams->Get(index);
  if (!kHasWholeSequences || program.kind() != file::ProgramKind::whole) {
    return fail(error, MOTE_CORRUPT_FILE, "stream ", index, " is of groups, in a program that appends rows");
  }
  if (stream->of() >= index || !has_positions(streams->Get(stream->of())->kind())) {
    return fail(error, MOTE_CORRUPT_FILE, "stream ", index, " has groups of stream ", stream->of(),
                ", which is no earlier one of tokens or groups");
  }
  if (streams->Get(stream->of())->fixed() != 0 || streams->Get(stream->of())->grid_times() != 0) {
    return fail(error, MOTE_CORRUPT_FILE, "stream ", index,
                " has groups of a fixed number of rows, or of places");
  }
  if (stream->ratio() == 0 || stream->ratio() > kMaxRatio / ratio_to_tokens(program, stream->of())) {
    return fail(error, MOTE_CORRUPT_FILE, "stream ", index, " has groups of ", stream->ratio(), " rows");
  }
  if (stream->needs() == 0 || stream->needs() > kMaxRatio) {
    return fail(error, MOTE_CORRUPT_FILE, "stream ", index, " has groups that need ", stream->needs(),
                " rows");
  }
  return MOTE_OK;
}

/// Proves a stream whose rows are places of pictures. Their size comes with each only where the file says so.
mote_status check_grid_rows(const mote_model& model, const file::Stream& stream, uint32_t index,
                            uint32_t context, mote_error* error) {
  const auto fits = [](uint32_t number) { return number != 0 && number <= kMaxRatio; };
  const bool plain = stream.of() == 0 && stream.ratio() == 1 && stream.needs() == 1 && stream.parts() == 1 &&
                     stream.fixed() == 0;
  const GridScale scale{stream.grid_times(), stream.grid_every()};
  const bool sound = plain && takes_grids(model) && fits(scale.times) && fits(scale.every) &&
                     fits(stream.grid_least()) && context <= kMaxContext;
  if (sound && most_grid_rows(scale, stream.grid_least(), context, 1) <= kMaxContext) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "stream ", index, " has ", scale.times, " places for every ",
              scale.every, " patches of pictures of at least ", stream.grid_least(),
              " on each side, for a context of ", context);
}

/// Positions of a fixed number of rows are below those of tokens, which tables have rows for.
mote_status check_fixed(const file::Program& program, uint32_t index, uint32_t context, mote_error* error) {
  const file::Stream* stream = program.streams()->Get(index);
  uint32_t others = 0;
  for (uint32_t i = 0; i < index; ++i) others += program.streams()->Get(i)->fixed() != 0 ? 1 : 0;
  const bool plain = kHasWholeSequences && stream->of() == 0 && stream->ratio() == 1 && stream->needs() == 1;
  if (plain && others == 0 && is_whole(program) && stream->fixed() <= context) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "stream ", index, " has ", stream->fixed(),
              " rows of each sequence, for a context of ", context);
}

mote_status check_streams(const mote_model& model, const file::Program& program, mote_error* error) {
  const uint32_t context = context_of(*model.root, program);
  const auto* streams = program.streams();
  if (streams->size() == 0 || streams->size() > kMaxStreams) {
    return fail(error, MOTE_CORRUPT_FILE, streams->size(), " streams of rows");
  }
  uint32_t counts[static_cast<uint32_t>(file::StreamKind::MAX) + 1] = {};
  for (uint32_t i = 0; i < streams->size(); ++i) {
    const file::StreamKind kind = streams->Get(i)->kind();
    const uint32_t bytes = streams->Get(i)->row_bytes();
    if (kind > file::StreamKind::MAX) {
      return fail(error, MOTE_UNSUPPORTED_FILE, "stream ", i,
                  " is of an unknown kind; a newer mote made this file");
    }
    if (bytes > kMaxRowBytes || bytes % kAlignment != 0) {
      return fail(error, MOTE_CORRUPT_FILE, "memory plan of ", bytes, " bytes a row");
    }
    const bool again = ++counts[static_cast<uint32_t>(kind)] > 1 && kind != file::StreamKind::group;
    if (again || (i == 0) != (kind == file::StreamKind::token)) {
      return fail(error, MOTE_CORRUPT_FILE, "stream ", i, " is of ", file::EnumNameStreamKind(kind),
                  " rows; the first and no other is of tokens, and no two are of the same rows");
    }
    if (kind == file::StreamKind::sequence && program.kind() != file::ProgramKind::whole) {
      return fail(error, MOTE_CORRUPT_FILE, "stream ", i, " is of sequences, in a program that appends rows");
    }
    const bool counted = streams->Get(i)->fixed() != 0 || (kHasMedia && streams->Get(i)->grid_times() != 0);
    if (kind != file::StreamKind::group && !counted) continue;
    if (kind != file::StreamKind::group) {
      return fail(error, MOTE_CORRUPT_FILE, "stream ", i, " of ", file::EnumNameStreamKind(kind),
                  " rows has a number of them");
    }
    mote_status status = check_groups(program, i, error);
    if (status == MOTE_OK && streams->Get(i)->parts() != 1) status = check_parts(program, i, context, error);
    if (status == MOTE_OK && streams->Get(i)->fixed() != 0) status = check_fixed(program, i, context, error);
    if (kHasMedia && status == MOTE_OK && streams->Get(i)->grid_times() != 0)
      status = check_grid_rows(model, *streams->Get(i), i, context, error);
    if (status != MOTE_OK) return status;
  }
  return MOTE_OK;
}

mote_status check_buffers(const file::Program& program, mote_error* error) {
  const auto* buffers = program.buffers();
  if (buffers->size() > kMaxBuffers) return fail(error, MOTE_CORRUPT_FILE, buffers->size(), " buffers");
  for (uint32_t i = 0; i < buffers->size(); ++i) {
    const file::Buffer* buffer = buffers->Get(i);
    if (buffer->width() == 0 || buffer->width() > kMaxWidth) {
      return fail(error, MOTE_CORRUPT_FILE, "buffer ", i, " of width ", buffer->width());
    }
    const uint64_t row = buffer_row_bytes(static_cast<DType>(buffer->dtype()), buffer->width());
    if (row == 0) return fail(error, MOTE_UNSUPPORTED_FILE, "buffer ", i, " of an unknown type");
    if (buffer->stream() >= program.streams()->size()) {
      return fail(error, MOTE_CORRUPT_FILE, "buffer ", i, " names stream ", buffer->stream(), " of ",
                  program.streams()->size());
    }
    const uint64_t room = program.streams()->Get(buffer->stream())->row_bytes();
    if (buffer->offset() % kAlignment != 0 || row > room || buffer->offset() > room - row) {
      return fail(error, MOTE_CORRUPT_FILE, "buffer ", i, " lies outside the memory plan");
    }
  }
  return MOTE_OK;
}

}  // namespace

mote_status check_program_rows(const mote_model& model, const file::Program& program, mote_error* error) {
  const mote_status status = check_streams(model, program, error);
  return status != MOTE_OK ? status : check_buffers(program, error);
}

uint32_t fixed_rows(const file::Program& program) {
  for (const file::Stream* stream : *program.streams()) {
    if (stream->fixed() != 0) return stream->fixed();
  }
  return 0;
}

GridScale grid_of(const file::Program& program, uint32_t stream) {
  if (!kHasMedia || !kHasWholeSequences) return {0, 1};
  const file::Stream* at = program.streams()->Get(stream);
  return {at->grid_times(), at->grid_every()};
}

uint32_t least_side(const file::Program& program) {
  uint32_t least = 0;
  for (uint32_t i = 0; kHasMedia && i < program.streams()->size(); ++i) {
    const file::Stream* stream = program.streams()->Get(i);
    if (stream->grid_times() != 0 && stream->grid_least() > least) least = stream->grid_least();
  }
  return least;
}

uint64_t most_grid_rows(GridScale scale, uint32_t least, uint32_t patches, uint64_t sequences) {
  const auto places = [&](uint64_t side) { return (side + scale.every - 1) / scale.every * scale.times; };
  const auto next_side = [&](uint64_t side) { return ((side - 1) / scale.every + 1) * scale.every + 1; };
  // A picture of the most rows has sides a <= b with a at the least or one more than a multiple of `every`,
  // where another place begins, and all the patches that b can have then.
  uint64_t most = 0;
  for (uint64_t a = least; a * a <= patches; a = next_side(a)) {
    const uint64_t rows = saturating_multiply(places(a), places(patches / a));
    most = rows > most ? rows : most;
  }
  if (sequences == 1) return most;
  // A side has the most places for its patches at one of the first two such lengths.
  uint64_t of_all = 0;
  for (const uint64_t a : {uint64_t{least}, next_side(least)}) {
    const uint64_t rows = saturating_multiply(places(a), places(a), patches);
    const uint64_t shared = rows == UINT64_MAX ? rows : rows / (a * a);
    of_all = shared > of_all ? shared : of_all;
  }
  const uint64_t of_each = saturating_multiply(most, sequences);
  return of_each < of_all ? of_each : of_all;
}

uint32_t tokens_of_row(const file::Program& program, uint32_t stream) {
  if (!kHasWholeSequences) return 1;
  const file::Stream* at = program.streams()->Get(stream);
  if (at->fixed() != 0) return 0;
  if (at->grid_times() != 0) return kPartsOfTokens;
  for (; at->kind() == file::StreamKind::group; at = program.streams()->Get(at->of())) {
    if (at->parts() != 1) return kPartsOfTokens;
  }
  return ratio_to_tokens(program, stream);
}

uint32_t rows_of_sequence(const file::Program& program, uint32_t stream, uint32_t tokens) {
  const file::Stream* at = program.streams()->Get(stream);
  if (!kHasWholeSequences || at->kind() != file::StreamKind::group) return tokens;
  if (at->fixed() != 0) return at->fixed();
  if (const GridScale scale = grid_of(program, stream); scale.times != 0) {
    const uint64_t most = most_grid_rows(scale, at->grid_least(), tokens, 1);
    return most < UINT32_MAX ? static_cast<uint32_t>(most) : UINT32_MAX;
  }
  const uint32_t rows = rows_of_sequence(program, at->of(), tokens);
  const uint64_t groups = rows < at->needs() ? 0 : uint64_t{rows - at->needs()} / at->ratio() + 1;
  const uint64_t all = groups * at->parts();  // of more tokens than a context has, perhaps
  return all < UINT32_MAX ? static_cast<uint32_t>(all) : UINT32_MAX;
}

uint32_t least_tokens(const file::Program& program) {
  if (!kHasWholeSequences) return 1;
  const auto* streams = program.streams();
  uint64_t least = 1;
  for (uint32_t i = 0; i < streams->size(); ++i) {
    if (!has_positions(streams->Get(i)->kind()) || streams->Get(i)->fixed() != 0) continue;
    uint64_t rows = 1;  // of the streams on the way to the tokens; at most kMaxRatio squared for each
    for (const file::Stream* at = streams->Get(i); at->kind() == file::StreamKind::group;
         at = streams->Get(at->of())) {
      rows = (rows - 1) / at->parts() * at->ratio() + at->needs();
      if (rows > kMaxContext) rows = kMaxContext;
    }
    least = rows > least ? rows : least;
  }
  return static_cast<uint32_t>(least);
}

namespace {

/// The one of `kept` with so many tokens of a row; the number of streams if there is none.
uint32_t stream_of_ratio(const file::Program& program, KeptStreams kept, uint32_t ratio) {
  const uint32_t count = program.streams()->size();
  uint32_t stream = 0;
  while (stream < count && ((kept >> stream & 1) == 0 || tokens_of_row(program, stream) != ratio)) ++stream;
  return stream;
}

}  // namespace

KeptStreams find_kept_streams(const file::Program& program) {
  KeptStreams kept = 0, seen = 0;
  for (const file::Op* op : *program.ops()) {
    const auto* store = op->args_as_KvStore();
    if (store == nullptr || store->k()->buffer() >= program.buffers()->size()) continue;
    const uint32_t stream = program.buffers()->Get(store->k()->buffer())->stream();
    const auto bit = static_cast<KeptStreams>(1u << stream);
    if ((seen & bit) != 0) continue;
    seen = static_cast<KeptStreams>(seen | bit);
    const bool first =
        has_positions(program.streams()->Get(stream)->kind()) &&
        stream_of_ratio(program, kept, tokens_of_row(program, stream)) == program.streams()->size();
    if (first) kept = static_cast<KeptStreams>(kept | bit);
  }
  return kept;
}

uint32_t kept_stream(const mote_model& model, const file::Program& program, uint32_t ratio) {
  uint32_t index = 0;
  while (model.root->programs()->Get(index) != &program) ++index;
  return stream_of_ratio(program, model.kept[index], ratio);
}

uint32_t selected_of(const file::Program& program) {
  for (const file::Op* op : *program.ops()) {
    const auto* select = op->args_as_Select();
    if (select == nullptr || select->in()->buffer() >= program.buffers()->size()) continue;
    return program.buffers()->Get(select->in()->buffer())->stream();
  }
  return 0;
}

uint32_t context_of(const file::Model& root, const file::Program& program) {
  return program.context() == 0 ? root.context() : program.context();
}

uint32_t whole_program(const mote_model& model) {
  uint32_t i = 0;
  while (!is_whole(*model.root->programs()->Get(i))) ++i;
  return i;
}

uint32_t input_width(const file::Program& program) {
  for (const file::Op* op : *program.ops()) {
    if (op->args_as_Input() != nullptr) return op->args_as_Input()->out()->width();
  }
  return 0;
}

bool takes_ids(const file::Program& program) {
  for (const file::Op* op : *program.ops()) {
    if (op->args_as_Embed() != nullptr) return true;
  }
  return false;
}

}  // namespace mote
