// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "host/base/error.h"
#include "mote/sound.h"
#include "schema/mote_generated.h"
#include "tools/mote/arguments.h"
#include "tools/mote/output.h"

namespace mote::cli {

void check(mote_status status, const mote_error& error, const std::string& what) {
  if (status == MOTE_OK) return;
  const char* text = error.text[0] != '\0' ? error.text : mote_status_name(status);
  convert::fail("{}: {}", what, text);
}

static const std::string& refuse_model_directory(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return path;
  convert::fail("{} is a directory, not a .mote file; mote convert {} -o model.mote makes one", path, path);
}

/// Says whether a token reads a part of the weights only.
static bool has_experts(const file::Model& model) {
  for (const file::Program* program : *model.programs()) {
    for (const file::Op* op : *program->ops()) {
      if (op->args_type() == file::OpArgs::Experts) return true;
    }
  }
  return false;
}

ModelFile::ModelFile(const std::string& path, uint32_t flags, bool huge_pages)
    : path_(refuse_model_directory(path)), file_(path) {
  if (huge_pages) {
    copy_.emplace(file_->bytes());
    file_.reset();
  }
  model_.emplace(take(host::Model::open(bytes(), path, flags)));
  if (file_ && !has_experts(*file::GetSizePrefixedModel(bytes().data()))) file_->read_by_huge_pages();
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

void add_model_argument(Command command, std::string& path) {
  command.option("FILE", &path, "The .mote file, made by mote convert").required().type("");
}

void add_session_flags(Command command, SessionFlags& flags) {
  command
      .option("--threads", &flags.threads,
              "Threads (default: what mote bench --tune found, else one for each big core)")
      .type("N")
      .range(1u, 256u);
  command
      .option("--decode-threads", &flags.decode_threads,
              "Of them, threads that compute single tokens (default: what mote bench --tune found, else all)")
      .type("N")
      .range(1u, 256u);
  command
      .option("--context", &flags.context,
              "Most tokens of the session (default: the model's, but at most 4096)")
      .type("N")
      .range(1u, UINT32_MAX);
  command.option("--chunk", &flags.chunk, "Most tokens computed at once (default: 256)")
      .type("N")
      .range(1u, 4096u);
  command
      .option("--kv", &flags.kv,
              "Type of cached keys and values (default: the weights' if f32, else f16; an encoder's "
              "i8 where the CPU computes with it)")
      .type("TYPE")
      .one_of({"f16", "bf16", "f32", "i8"});
  command
      .option("--backend", &flags.backend,
              "Library that multiplies f32 matrices (default: none, mote does it itself)")
      .type("NAME")
      .one_of({"xnnpack"});
  command.flag("--huge-pages", &flags.huge_pages,
               "Copy the weights to huge pages: slower to start, then about a tenth faster");
}

ThreadPool::ThreadPool(const ThreadCounts& counts) : counts_(counts) {
  if (threads() <= 1) return;
  pool_.reset(mote_posix_pool_create(threads()));
  if (pool_ == nullptr) {
    convert::fail("cannot start {} threads: {}; ask for fewer with --threads", threads(),
                  std::strerror(errno));
  }
}

std::string ThreadPool::text() const {
  const std::string all = fmt::format("{} thread{}", threads(), threads() == 1 ? "" : "s");
  return decode_threads() == threads() ? all : fmt::format("{}, {} to decode", all, decode_threads());
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
