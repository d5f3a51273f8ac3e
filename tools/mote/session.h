// SPDX-License-Identifier: Apache-2.0
//
// The parts that a command needs to run a model: the mapped file, the thread pool, the session in its arena.
// Each owns its memory and must outlive what is made from it: file and pool before session.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host/tasks/session.h"
#include "mote/mote.h"
#include "mote/posix.h"
#include "tools/mote/backend.h"
#include "tools/mote/core_status.h"
#include "tools/mote/failures.h"
#include "tools/mote/model_bytes.h"
#include "tools/mote/session_flags.h"
#include "tools/mote/thread_choice.h"

namespace mote::cli {

/// A verified model in the bytes of its file, and what another library made of its matrices. Throws
/// convert::Error with the path.
class ModelFile {
 public:
  explicit ModelFile(const std::string& path, uint32_t flags = 0, bool huge_pages = false);
  ModelFile(const std::string& path, const SessionFlags& flags) : ModelFile(path, 0, flags.huge_pages) {}
  const host::Model& host() const { return model_; }
  const mote_model* model() const { return model_.get(); }
  const mote_model_info& info() const { return model_.info(); }
  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_.bytes(); }

  /// Made when first asked for, and kept: sessions of the model share it. Null for "" and where there is
  /// nothing for it.
  const mote_backend* backend(const std::string& name, uint32_t threads) const;
  size_t backend_bytes() const { return backend_ == nullptr ? 0 : backend_->bytes(); }

 private:
  std::string path_;
  ModelBytes bytes_;
  host::Model model_;
  mutable std::unique_ptr<Backend> backend_;
};

inline bool is_encoder(const ModelFile& file) { return file.host().encodes(); }
inline bool has_source(const ModelFile& file) { return file.host().has_source(); }
/// Throws convert::Error for a model that encodes a source, for commands that give none.
void refuse_source(const ModelFile& file, const char* command);

/// Threads for sessions (thread_choice.h). One thread needs no pool.
class ThreadPool {
 public:
  explicit ThreadPool(const ThreadCounts& counts);
  ThreadPool(const ModelFile& file, const SessionFlags& flags)
      : ThreadPool(choose_threads(file.info(), flags)) {}
  uint32_t threads() const { return counts_.threads; }
  uint32_t decode_threads() const { return counts_.decode_threads; }
  /// "4 threads", and those that decode where they are fewer.
  std::string text() const { return counts_.text(); }
  mote_platform platform() const;

 private:
  struct Destroy {
    void operator()(mote_posix_pool* pool) const { mote_posix_pool_destroy(pool); }
  };
  ThreadCounts counts_;
  std::unique_ptr<mote_posix_pool, Destroy> pool_;
};

/// Return the choices and options of a session that the flags name.
host::SessionChoices session_choices(const ModelFile& file, const SessionFlags& flags,
                                     const ThreadPool& pool);
mote_session_options session_options(const ModelFile& file, const SessionFlags& flags,
                                     const ThreadPool& pool);

/// A session of a file, which must outlive it. Throws convert::Error; if memory is short, with the bytes it
/// takes.
class Session : public host::Session {
 public:
  Session(const ModelFile& file, const mote_session_options& options)
      : host::Session(take(host::Session::begin(file.host(), options))), file_(file) {}
  size_t backend_bytes() const { return file_.backend_bytes(); }
  /// "123 bytes (123 B)" of the arena and, if there is one, the backend.
  std::string memory_text() const;
  const char* isa() const { return mote_isa_name(mote_session_isa(get())); }

 private:
  const ModelFile& file_;
};

}  // namespace mote::cli
