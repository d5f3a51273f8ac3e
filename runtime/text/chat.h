// SPDX-License-Identifier: Apache-2.0
//
// Walks a conversation as the pieces of text it is rendered to.
#pragma once

#include "runtime/file/model.h"

namespace mote {

/// Takes the pieces in order. `markup` is false for what a message says: special tokens in it are only text.
struct ChatSink {
  void* user;
  void (*piece)(void* user, const char* text, size_t bytes, bool markup);
};

mote_status walk_chat(const mote_model* model, const mote_message* messages, uint32_t count, bool answer,
                      const ChatSink& sink, mote_error* error);

}  // namespace mote
