// SPDX-License-Identifier: Apache-2.0
#include "host/base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include "host/base/error.h"
#include "host/base/system.h"

namespace mote::convert {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int file = open_to_read(path);
  if (file < 0) fail("cannot open {}: {}", path.string(), std::strerror(errno));
  FileStatus status;
  void* data = nullptr;
  int error = 0;
  if (!status_of(file, status)) {
    error = errno;
  } else if (status.is_regular && status.bytes > 0) {
    data = map_file(file, static_cast<size_t>(status.bytes));
    if (data == nullptr) error = errno;
  }
  close_file(file);
  if (error != 0) fail("cannot read {}: {}", path.string(), std::strerror(error));
  if (status.is_directory) fail("cannot read {}: it is a directory", path.string());
  if (!status.is_regular) fail("cannot read {}: it is not a regular file", path.string());
  bytes_ = {static_cast<const std::byte*>(data), static_cast<size_t>(status.bytes)};
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/";
  if (bytes_.size() > kPointer.size() && std::memcmp(data, kPointer.data(), kPointer.size()) == 0) {
    unmap_file(data, bytes_.size());
    fail("{} is a Git LFS pointer in place of the file: fetch the file with git lfs pull", path.string());
  }
  listed_.set_mapped(path.string(), bytes_);
}

MappedFile::~MappedFile() {
  listed_.clear();
  if (!bytes_.empty()) unmap_file(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::read_by_huge_pages() const {
  if (!bytes_.empty()) advise_huge_pages(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace mote::convert
