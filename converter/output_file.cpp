// SPDX-License-Identifier: Apache-2.0
#include "converter/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "converter/error.h"

namespace mote::convert {

OutputFile::OutputFile(const std::filesystem::path& target) : target_(target) {
  // Renaming would put a file in the place of a device as well.
  std::error_code ignored;
  const auto type = std::filesystem::status(target, ignored).type();
  if (type == std::filesystem::file_type::directory) fail("cannot write {}: it is a directory", target.string());
  if (std::filesystem::exists(std::filesystem::file_status(type)) && type != std::filesystem::file_type::regular) {
    fail("cannot write {}: it is not a regular file", target.string());
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t suffix = static_cast<uint64_t>(now) ^ (static_cast<uint64_t>(getpid()) << 40);
  do {
    temporary_ = target;
    temporary_ += fmt::format(".tmp-{:08x}", static_cast<uint32_t>(suffix++ * 0x9E3779B97F4A7C15u >> 32));
    file_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) fail_with_errno("create");
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void OutputFile::fail_with_errno(const char* what) const {
  fail("cannot {} {}: {}", what, target_.string(), std::strerror(errno));
}

void OutputFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno("write");
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write_at(end_, bytes);
  end_ += bytes.size();
}

void OutputFile::commit() {
  if (fsync(file_) != 0) fail_with_errno("write");
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_with_errno("rename to");
  close(file_);
  file_ = -1;
}

}  // namespace mote::convert
