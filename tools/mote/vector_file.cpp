// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/vector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "host/base/error.h"
#include "host/base/system.h"

namespace mote::cli {
namespace {

struct Head {
  std::array<char, 16> signature;
  uint64_t key, width;
  std::array<uint64_t, 4> unused;
};
static_assert(sizeof(Head) == 64);

constexpr std::array<char, 16> kSignature = {'m', 'o', 't', 'e', ' ', 'v', 'e', 'c',
                                             't', 'o', 'r', 's', ' ', '1', '\n'};

uint64_t fingerprint(std::span<const Line> lines) {
  Fingerprint sum;
  for (const Line& line : lines) {
    sum.add(line.text);
    sum.add({"\0", 1});  // parts a line from the next
  }
  return sum.value();
}

uint64_t fingerprint(std::span<const float> values) {
  Fingerprint sum;
  sum.add({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  return sum.value();
}

}  // namespace

void Fingerprint::add(std::string_view bytes) {
  for (const char byte : bytes) value_ = (value_ ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
}

PartFile::PartFile(const std::string& file, uint64_t key, uint32_t width)
    : file_(file), path_(file + ".part"), width_(width) {
  part_ = convert::open_to_change(path_);
  if (part_ < 0) fail_with_errno("cannot open");
  if (!convert::lock_file(part_)) convert::fail("{}: another process is writing it", path_);
  const Head wanted = {kSignature, key, width, {}};
  convert::FileStatus status;
  if (!convert::status_of(part_, status)) fail_with_errno("cannot read");
  // A process that ended while it wrote the head leaves a part of it.
  Head found{};
  const size_t there = std::min(sizeof found, static_cast<size_t>(status.bytes));
  if (!read_whole(&found, there, 0) || std::memcmp(&found, &wanted, there) != 0)
    convert::fail("{} is of another model or other options: finish it with those, or remove it", path_);
  if (there < sizeof found) write_whole(&wanted, sizeof wanted);
  end_ = sizeof found;
  look_ahead();
}

PartFile::~PartFile() { convert::close_file(part_); }

void PartFile::pass(std::span<const Line> lines) {
  if (lines.size() != next_.rows || fingerprint(lines) != next_.lines)
    convert::fail("{} is of other texts from line {} on: remove it to begin again", path_,
                  lines.empty() ? rows_ + 1 : lines.front().number);
  rows_ += next_.rows;
  end_ += sizeof next_ + values_.size() * sizeof(float);
  look_ahead();
}

void PartFile::add(std::span<const Line> lines, std::span<const float> values) {
  const BatchHead head = {static_cast<uint32_t>(lines.size()), 0, fingerprint(lines), fingerprint(values)};
  write_whole(&head, sizeof head);
  write_whole(values.data(), values.size_bytes());
  rows_ += head.rows;
}

void PartFile::finish() {
  const uint64_t end = end_;
  write_npy(file_, rows_, width_, [&](convert::OutputFile& out) {
    end_ = sizeof(Head);
    for (look_ahead(); next_.rows != 0 && end_ < end; look_ahead()) {
      out.write(std::as_bytes(std::span(values_)));
      end_ += sizeof next_ + values_.size() * sizeof(float);
    }
    if (end_ != end) convert::fail("{}: it changed while it was read", path_);
  });
  if (!convert::remove_file(path_.c_str())) fail_with_errno("cannot remove");
}

void PartFile::look_ahead() {
  BatchHead head{};
  next_ = {};
  if (!read_whole(&head, sizeof head, end_)) return;
  convert::FileStatus status;
  if (!convert::status_of(part_, status)) fail_with_errno("cannot read");
  const auto left = status.bytes - end_ - sizeof head;
  if (head.rows == 0 || head.rows > left / (sizeof(float) * width_)) return;
  values_.resize(size_t{head.rows} * width_);
  if (!read_whole(values_.data(), values_.size() * sizeof(float), end_ + sizeof head)) return;
  if (fingerprint(values_) == head.values) next_ = head;
}

void PartFile::write_whole(const void* bytes, size_t count) {
  const auto* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const int64_t written = convert::write_at(part_, from, count, end_);
    if (written <= 0) fail_with_errno("cannot write");
    from += written;
    count -= static_cast<size_t>(written);
    end_ += static_cast<uint64_t>(written);
  }
}

bool PartFile::read_whole(void* bytes, size_t count, uint64_t at) const {
  auto* to = static_cast<char*>(bytes);
  while (count > 0) {
    const int64_t read = convert::read_at(part_, to, count, at);
    if (read < 0) fail_with_errno("cannot read");
    if (read == 0) return false;
    to += read;
    count -= static_cast<size_t>(read);
    at += static_cast<uint64_t>(read);
  }
  return true;
}

void PartFile::fail_with_errno(const char* what) const {
  convert::fail("{} {}: {}", what, path_, std::strerror(errno));
}

void write_npy(const std::string& path, uint64_t rows, size_t width,
               const std::function<void(convert::OutputFile&)>& write) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, width);
  constexpr size_t kBeforeHeader = 10;
  while ((kBeforeHeader + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 255);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  convert::OutputFile output(path);
  output.write(std::as_bytes(std::span(start)));
  write(output);
  output.commit();
}

}  // namespace mote::cli
