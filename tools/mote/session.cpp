// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/base/error.h"
#include "mote/sound.h"
#include "tools/mote/output.h"

namespace mote::cli {

ModelFile::ModelFile(const std::string& path, uint32_t flags, bool huge_pages)
    : path_(path), bytes_(path, huge_pages), model_(take(host::Model::open(bytes(), path, flags))) {
  bytes_.read_ahead();
}

const mote_backend* ModelFile::backend(const std::string& name, uint32_t threads) const {
  if (name.empty()) return nullptr;
  if (backend_ == nullptr) backend_ = std::make_unique<Backend>(model(), name, threads);
  return backend_->get();
}

void refuse_source(const ModelFile& file, const char* command) {
  if (!has_source(file)) return;
  convert::fail("{} is an encoder-decoder, for which mote {} has no source; mote {}", file.path(), command,
                file.host().sound().rate != 0 ? "transcribe takes sound" : "forward takes its arrays");
}

ThreadPool::ThreadPool(const ThreadCounts& counts) : counts_(counts) {
  if (threads() <= 1) return;
  pool_.reset(mote_posix_pool_create(threads()));
  if (pool_ == nullptr) {
    convert::fail("cannot start {} threads: {}; ask for fewer with --threads", threads(),
                  std::strerror(errno));
  }
}

mote_platform ThreadPool::platform() const { return mote_posix_pool_platform(pool_.get()); }

host::SessionChoices session_choices(const ModelFile& file, const SessionFlags& flags,
                                     const ThreadPool& pool) {
  mote_kv_dtype kv = MOTE_KV_AUTO;
  if (flags.kv == "f16") kv = MOTE_KV_F16;
  if (flags.kv == "f32") kv = MOTE_KV_F32;
  if (flags.kv == "bf16") kv = MOTE_KV_BF16;
  if (flags.kv == "i8") kv = MOTE_KV_I8;
  return {pool.platform(),
          pool.decode_threads(),
          flags.context,
          flags.chunk,
          kv,
          file.backend(flags.backend, pool.threads())};
}

mote_session_options session_options(const ModelFile& file, const SessionFlags& flags,
                                     const ThreadPool& pool) {
  return host::session_options(file.host(), session_choices(file, flags, pool));
}

std::string Session::memory_text() const {
  std::string text = fmt::format("arena {} bytes ({})", arena_bytes(), human_bytes(arena_bytes()));
  if (backend_bytes() != 0) {
    text += fmt::format(", backend {} bytes ({})", backend_bytes(), human_bytes(backend_bytes()));
  }
  return text;
}

}  // namespace mote::cli
