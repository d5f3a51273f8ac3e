// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "host/base/error.h"
#include "host/base/mapped_file.h"

namespace mote::convert {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail("cannot open {}: {}", path.string(), std::strerror(errno));
  struct stat info {};
  void* data = nullptr;
  int error = 0;
  if (::fstat(fd, &info) != 0) {
    error = errno;
  } else if (S_ISREG(info.st_mode) && info.st_size > 0) {
    data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) error = errno;
  }
  ::close(fd);
  if (error != 0) fail("cannot read {}: {}", path.string(), std::strerror(error));
  if (S_ISDIR(info.st_mode)) fail("cannot read {}: it is a directory", path.string());
  if (!S_ISREG(info.st_mode)) fail("cannot read {}: it is not a regular file", path.string());
  bytes_ = {static_cast<const std::byte*>(data), static_cast<size_t>(info.st_size)};
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/";
  if (bytes_.size() > kPointer.size() && std::memcmp(data, kPointer.data(), kPointer.size()) == 0) {
    ::munmap(data, bytes_.size());
    fail("{} is a Git LFS pointer in place of the file: fetch the file with git lfs pull", path.string());
  }
  listed_.set_mapped(path.string(), bytes_);
}

MappedFile::~MappedFile() {
  listed_.clear();
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::read_by_huge_pages() const {
#ifdef MADV_HUGEPAGE
  if (!bytes_.empty()) ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_HUGEPAGE);
#endif
}

}  // namespace mote::convert
