// SPDX-License-Identifier: Apache-2.0
#include "host/base/output_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "host/base/error.h"
#include "host/base/system.h"

namespace mote::convert {
namespace {

constexpr uint64_t kPiece = 2 << 20;
constexpr int kMostLinks = 40;  // Linux's own limit

/// Where symbolic links lead, whether there is a file or not.
std::filesystem::path follow_links(const std::filesystem::path& path) {
  std::filesystem::path target = path;
  std::error_code none;
  for (int links = 0; std::filesystem::is_symlink(target, none); ++links) {
    if (links == kMostLinks) fail("cannot write {}: {}", path.string(), std::strerror(ELOOP));
    target = target.parent_path() / std::filesystem::read_symlink(target, none);
  }
  return target;
}

}  // namespace

void refuse_input(const std::string& target, const std::vector<std::string>& inputs) {
  if (target.empty()) return;
  std::error_code none;
  for (const std::string& input : inputs) {
    const std::string path = input == "-" ? "/dev/stdin" : input;
    if (path.empty() || !std::filesystem::equivalent(path, target, none)) continue;
    fail("{} would overwrite {}, which is read; name another file", target,
         input == "-" ? "standard input" : input);
  }
}

OutputFile::OutputFile(const std::filesystem::path& target) : given_(target), target_(follow_links(target)) {
  // Renaming would put a file in the place of a device as well.
  std::error_code ignored;
  const auto type = std::filesystem::status(target, ignored).type();
  if (is_mapped(target)) fail("cannot write {}: it is being read; name another file", target.string());
  if (type == std::filesystem::file_type::directory)
    fail("cannot write {}: it is a directory", target.string());
  if (std::filesystem::exists(std::filesystem::file_status(type)) &&
      type != std::filesystem::file_type::regular) {
    fail("cannot write {}: it is not a regular file", target.string());
  }
  // A file that replaces another is private until it gets the other's permissions.
  const bool is_private = std::filesystem::exists(std::filesystem::file_status(type));
  file_ = create_nameless_file(folder(), is_private);
  if (file_ >= 0) return;
  try_names([&] {
    file_ = create_file(name_, is_private);
    return file_ >= 0;
  });
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close_file(file_);
  if (!name_.empty()) remove_file(name_.string().c_str());
}

std::filesystem::path OutputFile::folder() const {
  return target_.has_parent_path() ? target_.parent_path() : ".";
}

/// Sets name_ to one beside the target for which `create` succeeds.
template <class Create>
void OutputFile::try_names(Create create) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t suffix = static_cast<uint64_t>(now) ^ (uint64_t{process_number()} << 40);
  for (;;) {
    listed_.clear();
    name_ = target_;
    name_ += fmt::format(".tmp-{:08x}", static_cast<uint32_t>(suffix++ * 0x9E3779B97F4A7C15u >> 32));
    listed_.set_temporary(name_.string());
    if (create()) return;
    if (errno == EEXIST) continue;
    listed_.clear();
    name_.clear();
    fail_with_errno("create");
  }
}

std::filesystem::path OutputFile::temporary() {
  flush();
  return name_.empty() ? path_of_nameless(file_) : name_;
}

void OutputFile::fail_with_errno(const char* what) const {
  fail("cannot {} {}: {}", what, given_.string(), std::strerror(errno));
}

void OutputFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (offset != gathered_at_ + gathered_.size()) flush();
    if (gathered_.empty()) gathered_at_ = offset;
    const uint64_t room = kPiece - offset % kPiece;
    const std::span<const std::byte> first = bytes.first(std::min<uint64_t>(room, bytes.size()));
    gathered_.insert(gathered_.end(), first.begin(), first.end());
    offset += first.size();
    bytes = bytes.subspan(first.size());
    if (first.size() == room) flush();
  }
}

void OutputFile::flush() {
  for (size_t done = 0; done < gathered_.size();) {
    const int64_t written =
        convert::write_at(file_, gathered_.data() + done, gathered_.size() - done, gathered_at_ + done);
    if (written < 0) fail_with_errno("write");
    done += static_cast<size_t>(written);
  }
  gathered_.clear();
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write_at(end_, bytes);
  end_ += bytes.size();
}

void OutputFile::commit() {
  flush();
  const bool replaces = take_permissions();
  if (!flush_file(file_)) fail_with_errno("write");
  if (name_.empty()) try_names([&] { return name_nameless_file(file_, name_); });  // which replaces no target
  close_file(file_);  // Windows renames no file that is open
  file_ = -1;
  if (!rename_file(name_, target_)) fail_with_errno("rename to");
  listed_.clear();
  name_.clear();
  flush_folder(replaces);
}

/// Gives the new file the permissions of the one in its place; false if there is none.
bool OutputFile::take_permissions() {
  if (convert::take_permissions(file_, target_)) return true;
  const int why = errno;
  if (std::error_code none; !std::filesystem::exists(target_, none)) return false;
  errno = why;
  fail_with_errno("set the permissions of");
}

/// The new name lasts through a power failure only once the folder is on the disk.
void OutputFile::flush_folder(bool replaced) {
  if (convert::flush_folder(folder())) return;
  const int why = errno;
  if (!replaced) remove_file(target_.string().c_str());
  errno = why;
  fail_with_errno("write the directory of");
}

}  // namespace mote::convert
