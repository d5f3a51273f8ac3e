// SPDX-License-Identifier: Apache-2.0
//
// The generated schema header, with FlatBuffers' asserts off: the verifier decides, a file never aborts.
#pragma once

#include "schema/little_endian.h"

#undef FLATBUFFERS_ASSERT  // of sources before this one in a group
#define FLATBUFFERS_ASSERT(condition) static_cast<void>(0)
#include "kernels/trimmed_build.h"
#ifndef MOTE_MODEL_CONFIG
#include "schema/mote_generated.h"
#else

// Declares tables that the build never reads, because it refuses a file that needs them: nothing of them is
// verified.
#include <flatbuffers/flatbuffers.h>

namespace mote::file {
struct Sound;
struct Picture;
struct Speech;
struct VisionInput;
struct Voice;
struct SentencePiece;
struct BeamSearch;
struct Generation;
struct Globals;
struct Purpose;
struct Normalizer;
struct Prompt;
struct Probe;
#define OP(op, operation, types) struct op;
#include "kernels/op_list.inc"
}  // namespace mote::file

namespace flatbuffers {
#define MOTE_VERIFY(Table) \
  template <>              \
  bool Verifier::VerifyTable<mote::file::Table>(const mote::file::Table* table);
MOTE_VERIFY(Sound)
MOTE_VERIFY(Picture)
MOTE_VERIFY(Speech)
MOTE_VERIFY(VisionInput)
MOTE_VERIFY(Voice)
MOTE_VERIFY(SentencePiece)
MOTE_VERIFY(BeamSearch)
MOTE_VERIFY(Generation)
MOTE_VERIFY(Globals)
MOTE_VERIFY(Purpose)
#define OP(op, operation, types) MOTE_VERIFY(op)
#include "kernels/op_list.inc"
#undef MOTE_VERIFY
#define MOTE_VERIFY_LIST(Table) \
  template <>                   \
  bool Verifier::VerifyVectorOfTables<mote::file::Table>(const Vector<Offset<mote::file::Table>>* tables);
MOTE_VERIFY_LIST(Normalizer)
MOTE_VERIFY_LIST(Prompt)
MOTE_VERIFY_LIST(Probe)
#undef MOTE_VERIFY_LIST
}  // namespace flatbuffers

#include "schema/mote_generated.h"

namespace flatbuffers {
#define MOTE_VERIFY_IF(Table, has)                                                       \
  template <>                                                                            \
  inline bool Verifier::VerifyTable<mote::file::Table>(const mote::file::Table* table) { \
    if constexpr (has) return table == nullptr || table->Verify(*this);                  \
    return true;                                                                         \
  }
MOTE_VERIFY_IF(Sound, mote::kHasMedia)
MOTE_VERIFY_IF(Picture, mote::kHasMedia)
MOTE_VERIFY_IF(Speech, mote::kHasMedia)
MOTE_VERIFY_IF(VisionInput, mote::kHasMedia)
MOTE_VERIFY_IF(Voice, mote::kHasMedia)
MOTE_VERIFY_IF(SentencePiece, MOTE_TEXT_UNIGRAM)
MOTE_VERIFY_IF(BeamSearch, mote::kHasSearch)
MOTE_VERIFY_IF(Generation, mote::kHasGeneration)
MOTE_VERIFY_IF(Globals, mote::kHasWholeSequences)
MOTE_VERIFY_IF(Purpose, mote::kProvesTask)
#define OP(op, operation, types) MOTE_VERIFY_IF(op, false MOTE_OP_OF_MODEL(op, || true))
#include "kernels/op_list.inc"
#undef MOTE_VERIFY_IF
#define MOTE_VERIFY_LIST_IF(Table, has)                                          \
  template <>                                                                    \
  inline bool Verifier::VerifyVectorOfTables<mote::file::Table>(                 \
      const Vector<Offset<mote::file::Table>>* tables) {                         \
    for (uoffset_t i = 0; has && tables != nullptr && i < tables->size(); ++i) { \
      if (!tables->Get(i)->Verify(*this)) return false;                          \
    }                                                                            \
    return true;                                                                 \
  }
MOTE_VERIFY_LIST_IF(Normalizer, MOTE_TEXT_NORMALIZERS)
MOTE_VERIFY_LIST_IF(Prompt, mote::kHasWholeSequences)
MOTE_VERIFY_LIST_IF(Probe, mote::kHasTraces)
#undef MOTE_VERIFY_LIST_IF
}  // namespace flatbuffers
#endif

namespace mote {

/// Elements of a list that a file may leave out. An empty one and none mean the same: what asks which there
/// is asks here, and not whether the pointer is null.
template <class List>
uint32_t size_of(const List* list) {
  return list == nullptr ? 0 : list->size();
}

/// Its elements; null where it has none.
template <class List>
auto data_of(const List* list) -> decltype(list->data()) {
  return size_of(list) == 0 ? nullptr : list->data();
}

}  // namespace mote
