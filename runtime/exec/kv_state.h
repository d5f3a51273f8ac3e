// SPDX-License-Identifier: Apache-2.0
//
// Keys and values of a session: a pool of page numbers for each kind of states of its model, and the pages of
// the caches. All caches of a pool have the same pages.
#pragma once

#include "runtime/exec/arena.h"
#include "runtime/exec/session.h"

namespace mote {

/// The pools, and the caches' views without keys and values. While counting the session gets none.
void take_pools(Arena& arena, mote_session* session);
void take_caches(Arena& arena, mote_session* session);

/// All pages are free.
void clear_pages(mote_session* session);

/// Checks that the pools have the pages for counts[s] more tokens of each sequence s.
mote_status check_pages(const mote_session* session, const uint32_t* counts, mote_error* error);

/// Pages for the rows that the run adds, those that are shared copied first.
void hold_pages(mote_session* session);

/// Pages for the sequences of an encoder's pass, sequence i having starts[i + 1] - starts[i] tokens. Those of
/// an earlier pass are free.
void hold_pass(mote_session* session, const uint32_t* starts, uint32_t count);

/// After a commit: drops what the windows have left behind.
void slide_pages(mote_session* session, uint32_t sequence);

/// Drops what is behind the sequence's tokens.
void trim_pages(mote_session* session, uint32_t sequence);

/// The fewest tokens, but for none, to which the sequence can be cut so that the next one finds all that it
/// sees.
uint32_t shortest_kv(const mote_session* session, uint32_t sequence);

/// Sequence `to` becomes a copy of `from`.
void copy_sequence(mote_session* session, uint32_t from, uint32_t to);

/// Sequence s becomes a copy of what from[s] was, for each s.
void reorder_sequences(mote_session* session, const uint32_t* from);

/// Pages for a run of whole sequences in a model that decodes. Pages that the program kept of the sequences
/// before are dropped.
void hold_sources(mote_session* session);

/// After such a run: its sequences have their sources.
void keep_sources(mote_session* session);

/// Or, if it is broken off, none.
void drop_sources(mote_session* session);

/// MOTE_WRONG_STATE if a sequence s to which counts[s] rows are appended lacks a source that the program
/// attends to.
mote_status check_sources(const mote_session* session, uint32_t program, const uint32_t* counts,
                          mote_error* error);

/// Says whether attention multiplies single columns of keys, which is slow for packed keys.
bool has_relative_queries(const mote_model& model);

/// The most rows that a sequence of a program of whole sequences has in the session.
uint32_t most_rows_of_sequence(const mote_session& session, const file::Program& program);

}  // namespace mote
