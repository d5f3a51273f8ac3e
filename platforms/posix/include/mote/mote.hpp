// SPDX-License-Identifier: Apache-2.0
//
// mote for C++17 programs on POSIX systems: owners of files, memory, threads, models and sessions, and what
// programs do with them. A program without a heap takes mote/bare.hpp.
//
//   mote::Result<mote::Session> session = mote::Session::open("minilm.mote");
//   if (!session.ok()) return std::puts(session.text()), 1;
//   mote::Result<std::vector<float>> vector = session->embed("a warm bed");
//
// Ownership: every class frees what it holds; a session holds its model, and that its file, as long as it
// needs them. Moved-from objects may be destroyed and assigned, nothing else. Errors: calls that can fail
// return a Result or a Status, with a code and a sentence. value() of either throws mote::Exception in place
// of a failure, for programs that want exceptions: mote::Session::open("minilm.mote").value(). Memory that
// the C++ library cannot get is std::bad_alloc. Threads: those of the classes of mote.h.
#pragma once

#include "mote/chat.hpp"
#include "mote/owners.hpp"
#include "mote/result.hpp"
#include "mote/session.hpp"
#include "mote/sounds.hpp"
#include "mote/texts.hpp"
