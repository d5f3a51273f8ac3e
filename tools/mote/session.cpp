// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/session.h"

#include <sys/mman.h>

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
namespace {

// Of a prompt's tokens at once: the weights are read from memory once for all of them. The library's default
// is for machines with less memory.
constexpr uint32_t kPromptChunk = 256;

}  // namespace

void check(mote_status status, const mote_error& error, const std::string& what) {
  if (status == MOTE_OK) return;
  const char* text = error.text[0] != '\0' ? error.text : mote_status_name(status);
  convert::fail("{}: {}", what, text);
}

/// What is no .mote file but could become one is said so.
static void refuse_other_file(const std::string& path, std::span<const std::byte> bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 9));
  if (start.empty()) convert::fail("{} is empty, not a .mote file; convert the model again", path);
  const bool gguf = start.starts_with("GGUF");
  const char* kind = gguf                                   ? "GGUF"
                     : start.size() == 9 && start[8] == '{' ? "safetensors"
                     : start.starts_with("PK")              ? "PyTorch"
                                                            : nullptr;
  if (kind == nullptr) return;
  convert::fail("{} is a {} file, not a .mote file; mote convert makes one of {}", path, kind,
                gguf ? "it" : "the directory it is in");
}

static const std::string& refuse_model_directory(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return path;
  convert::fail("{} is a directory, not a .mote file; mote convert {} -o model.mote makes one", path, path);
}

/// Whether a token reads a part of the weights only.
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
  const size_t words = (mote_model_bytes() + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  storage_ = std::make_unique<uint64_t[]>(words);
  mote_error error = {};
  const mote_status status = mote_model_open(bytes().data(), bytes().size(), flags, storage_.get(),
                                             words * sizeof(uint64_t), &model_, &error);
  if (status != MOTE_OK) refuse_other_file(path, bytes());
  check(status, error, path);
  if (file_ && !has_experts(*file::GetSizePrefixedModel(bytes().data()))) file_->read_by_huge_pages();
  mote_model_get_info(model_, &info_);
}

const mote_backend* ModelFile::backend(const std::string& name, uint32_t threads) const {
  if (name.empty()) return nullptr;
  if (backend_ == nullptr) backend_ = std::make_unique<Backend>(model_, name, threads);
  return backend_->get();
}

bool is_encoder(const ModelFile& file) {
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  return output.kind != MOTE_OUTPUT_NEXT_TOKEN;
}

bool has_source(const ModelFile& file) {
  mote_program_info program;
  mote_model_get_program(file.model(), 1, &program);
  return !is_encoder(file) && program.whole != 0;
}

void refuse_source(const ModelFile& file, const char* command) {
  if (!has_source(file)) return;
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  convert::fail("{} is an encoder-decoder, for which mote {} has no source; mote {}", file.path(), command,
                sound.rate != 0 ? "transcribe takes sound" : "forward takes its arrays");
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

mote_session_options session_options(const ModelFile& file, const SessionFlags& flags,
                                     const ThreadPool& pool) {
  mote_session_options options = mote_session_options_default(file.model());
  options.platform = pool.platform();
  options.decode_threads = pool.decode_threads();
  options.backend = file.backend(flags.backend, pool.threads());
  if (flags.context != 0) options.context = flags.context;
  if (!is_encoder(file)) options.chunk = std::max(options.chunk, std::min(options.context, kPromptChunk));
  if (flags.chunk != 0) options.chunk = flags.chunk;
  if (flags.kv == "f16") options.kv_dtype = MOTE_KV_F16;
  if (flags.kv == "f32") options.kv_dtype = MOTE_KV_F32;
  if (flags.kv == "bf16") options.kv_dtype = MOTE_KV_BF16;
  if (flags.kv == "i8") options.kv_dtype = MOTE_KV_I8;
  return options;
}

Session::Session(const ModelFile& file, const mote_session_options& options) : file_(file) {
  mote_error error = {};
  mote_memory memory = {};
  check(mote_session_memory(file.model(), &options, &memory, &error), error, file.path());
  arena_bytes_ = mote_session_bytes(file.model(), &options);
  arena_ = mmap(nullptr, arena_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (arena_ == MAP_FAILED) {
    convert::fail(
        "not enough memory: the session needs {}, of which {} for a context of {}; ask for less with "
        "--context",
        human_bytes(arena_bytes_), human_bytes(memory.kv_cache), options.context);
  }
  const mote_status status =
      mote_session_init(file.model(), &options, arena_, arena_bytes_, &session_, &error);
  if (status != MOTE_OK) munmap(arena_, arena_bytes_);
  check(status, error, file.path());
}

std::string Session::memory_text() const {
  std::string text = fmt::format("arena {} bytes ({})", arena_bytes(), human_bytes(arena_bytes()));
  if (backend_bytes() != 0) {
    text += fmt::format(", backend {} bytes ({})", backend_bytes(), human_bytes(backend_bytes()));
  }
  return text;
}

Session::~Session() { munmap(arena_, arena_bytes_); }

}  // namespace mote::cli
