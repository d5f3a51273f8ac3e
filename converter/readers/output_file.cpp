// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "converter/error.h"

namespace mote::convert {

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(path), part_(path.string() + "." + std::to_string(getpid()) + ".part") {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored)) {
    fail("cannot write {}: it is not a regular file", path_.string());
  }
  file_ = std::fopen(part_.c_str(), "wb");
  if (file_ == nullptr) fail_to_write(errno);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
    fail_to_write(errno);
}

void OutputFile::commit() {
  if (std::fflush(file_) != 0) fail_to_write(errno);
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail_to_write(errno);
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail_to_write(errno);
  part_.clear();
}

void OutputFile::fail_to_write(int error) const {
  fail("cannot write {}: {}", path_.string(), std::strerror(error));
}

}  // namespace mote::convert
