// SPDX-License-Identifier: Apache-2.0
//
// Owners of what mote.h leaves to its caller: a mapped file, memory, threads, an open model. Each is moved,
// not copied.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "mote/mote.h"
#include "mote/pictures.h"
#include "mote/posix.h"
#include "mote/result.hpp"
#include "mote/sound.h"
#include "mote/task.h"
#include "mote/voice.h"

namespace mote {
inline namespace v0 {

/// A file that is mapped to be read.
class File {
 public:
  static Result<File> open(const std::string& path) {
    const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    const bool found = opened >= 0 && fstat(opened, &status) == 0;
    void* data = MAP_FAILED;
    int why = errno;
    if (found && S_ISREG(status.st_mode) && status.st_size > 0) {
      data = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, opened, 0);
      why = errno;
    } else if (found) {
      why = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    }
    if (opened >= 0) close(opened);
    if (data == MAP_FAILED) return Status(MOTE_BAD_INPUT, path + ": " + std::strerror(why));
    return File(data, static_cast<size_t>(status.st_size));
  }
  File(File&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  File& operator=(File&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~File() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  const void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  File(void* data, size_t bytes) : data_(data), bytes_(bytes) {}

  void* data_;
  size_t bytes_;
};

/// Memory as sessions and files must have it.
class Arena {
 public:
  Arena() = default;
  static Result<Arena> of(size_t bytes) {
    void* data = nullptr;
    if (bytes == 0 || posix_memalign(&data, MOTE_ALIGNMENT, bytes) != 0)
      return Status(MOTE_OUT_OF_MEMORY, "there are no " + std::to_string(bytes) + " bytes of memory");
    Arena arena;
    arena.data_.reset(data);
    arena.bytes_ = bytes;
    return arena;
  }

  void* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  std::unique_ptr<void, Free> data_;
  size_t bytes_ = 0;
};

/// Threads, which any number of sessions share. Copies are of the same threads, which end with the last.
class Pool {
 public:
  /// 0 threads: one for each fast core that the process may use.
  static Result<Pool> of(uint32_t threads = 0) {
    mote_posix_pool* made = mote_posix_pool_create(threads != 0 ? threads : mote_posix_big_cores());
    if (made == nullptr) return Status(MOTE_OUT_OF_MEMORY, std::string("threads: ") + std::strerror(errno));
    return Pool(made);
  }
  mote_platform platform() const { return mote_posix_pool_platform(pool_.get()); }

 private:
  explicit Pool(mote_posix_pool* pool) : pool_(pool, mote_posix_pool_destroy) {}
  std::shared_ptr<mote_posix_pool> pool_;
};

/// An open model. Copies are of the same model; sessions hold one, so it may end before them.
class Model {
 public:
  /// Opens a .mote file. `flags` of mote_model_open.
  static Result<Model> open(const std::string& path, uint32_t flags = 0) {
    Result<File> file = File::open(path);
    if (!file.ok()) return file.status();
    auto parts = std::make_shared<Parts>();
    parts->file = std::make_unique<File>(std::move(*file));
    return open(std::move(parts), parts->file->data(), parts->file->bytes(), flags, path + ": ");
  }
  /// Opens a file's bytes, 64-byte aligned, which must outlive the model and all sessions with it.
  static Result<Model> open(const void* data, size_t bytes, uint32_t flags = 0) {
    return open(std::make_shared<Parts>(), data, bytes, flags, "");
  }

  const mote_model* get() const { return parts_->model; }
  mote_model_info info() const { return filled<mote_model_info>(mote_model_get_info); }
  mote_output_info output() const { return filled<mote_output_info>(mote_model_get_output); }
  mote_sound_info sound() const { return filled<mote_sound_info>(mote_model_get_sound); }
  mote_voice_info voice() const { return filled<mote_voice_info>(mote_model_get_voice); }
  mote_model_task task() const { return filled<mote_task_info>(mote_model_get_task).task; }
  /// MOTE_WRONG_STATE where the model takes no pictures.
  Result<mote_picture_info> picture() const {
    mote_picture_info info = {};
    mote_error error = {};
    const mote_status status = mote_model_get_picture(get(), &info, &error);
    if (status != MOTE_OK) return Status(error);
    return info;
  }
  /// The name of a label; "": it has none.
  std::string label(uint32_t index) const {
    const char* name = mote_model_label(get(), index);
    return name == nullptr ? "" : name;
  }
  /// The number of a prompt, for mote_embed_as; nullopt: the file has none of that name.
  std::optional<int32_t> prompt(const std::string& wanted) const {
    const char* name = nullptr;
    for (uint32_t i = 0; mote_model_prompt(get(), i, &name) != nullptr; ++i) {
      if (wanted == name) return static_cast<int32_t>(i);
    }
    return std::nullopt;
  }
  mote_session_options options() const { return mote_session_options_default(get()); }

 private:
  struct Parts {
    std::unique_ptr<File> file;
    alignas(8) unsigned char storage[MOTE_MODEL_BYTES];
    mote_model* model = nullptr;
  };

  explicit Model(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
  static Result<Model> open(const std::shared_ptr<Parts>& parts, const void* data, size_t bytes,
                            uint32_t flags, const std::string& name) {
    mote_error error = {};
    const mote_status status =
        mote_model_open(data, bytes, flags, parts->storage, sizeof parts->storage, &parts->model, &error);
    if (status != MOTE_OK) return Status(status, name + error.text);
    return Model(parts);
  }
  template <class Info>
  Info filled(void (*get)(const mote_model*, Info*)) const {
    Info info = {};
    get(parts_->model, &info);
    return info;
  }

  std::shared_ptr<Parts> parts_;
};

}  // namespace v0
}  // namespace mote
