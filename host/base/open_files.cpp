// SPDX-License-Identifier: Apache-2.0
#include "host/base/open_files.h"

#include <mutex>

#include "host/base/system.h"

namespace mote::convert {
namespace {

// Changed under the mutex, read by handlers without it.
std::atomic<OpenFile*> first_file{nullptr};
std::mutex changes;

static_assert(std::atomic<OpenFile*>::is_always_lock_free);

}  // namespace

OpenFile::OpenFile() {
  const std::lock_guard lock(changes);
  next_ = first_file.load();
  first_file = this;
}

OpenFile::~OpenFile() {
  clear();
  const std::lock_guard lock(changes);
  std::atomic<OpenFile*>* link = &first_file;
  while (link->load() != this) link = &link->load()->next_;
  *link = next_.load();
}

void OpenFile::set_mapped(const std::string& path, std::span<const std::byte> bytes) {
  clear();
  path_ = path;
  bytes_ = bytes;
  use_ = Use::mapped;
}

void OpenFile::set_temporary(const std::string& path) {
  clear();
  path_ = path;
  use_ = Use::temporary;
}

void OpenFile::clear() { use_ = Use::none; }

bool is_mapped(const std::filesystem::path& path) {
  const std::lock_guard lock(changes);
  std::error_code none;
  for (const OpenFile* file = first_file; file != nullptr; file = file->next_) {
    if (file->use_ == OpenFile::Use::mapped && std::filesystem::equivalent(file->path_, path, none))
      return true;
  }
  return false;
}

const char* mapped_file_at(const void* address) {
  for (const OpenFile* file = first_file; file != nullptr; file = file->next_) {
    if (file->use_ != OpenFile::Use::mapped) continue;
    const auto begin = reinterpret_cast<uintptr_t>(file->bytes_.data());
    if (reinterpret_cast<uintptr_t>(address) - begin < file->bytes_.size()) return file->path_.c_str();
  }
  return nullptr;
}

void remove_temporary_files() {
  for (const OpenFile* file = first_file; file != nullptr; file = file->next_) {
    if (file->use_ == OpenFile::Use::temporary) remove_file(file->path_.c_str());
  }
}

}  // namespace mote::convert
