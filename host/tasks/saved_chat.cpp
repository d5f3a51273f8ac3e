// SPDX-License-Identifier: Apache-2.0
//
// Chats as bytes, little-endian: "MOTECHAT", the version, the number of turns and of the session's tokens,
// padding; each turn's role and bytes, then its text; the tokens; zeros to a multiple of 8; the session's
// snapshot.
#include <cstring>

#include "host/tasks/chat.h"

namespace mote::host {
namespace {

constexpr char kMagic[8] = {'M', 'O', 'T', 'E', 'C', 'H', 'A', 'T'};
constexpr uint32_t kVersion = 1;
constexpr size_t kAlignment = 8;  // of a snapshot

class Writer {
 public:
  void number(uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void text(const void* text, size_t bytes) {
    const auto* from = static_cast<const std::byte*>(text);
    bytes_.insert(bytes_.end(), from, from + bytes);
  }
  std::vector<std::byte>& align() {
    bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads bytes from the start on. Bytes behind their end are zero, and such a read sets failed().
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint32_t number() {
    const std::span<const std::byte> at = take(4);
    uint32_t value = 0;
    for (size_t i = 0; i < at.size(); ++i) value |= std::to_integer<uint32_t>(at[i]) << (8 * i);
    return value;
  }
  std::string_view text(size_t bytes) {
    const std::span<const std::byte> at = take(bytes);
    return {reinterpret_cast<const char*>(at.data()), at.size()};
  }
  std::span<const std::byte> aligned_rest() {
    take((kAlignment - at_ % kAlignment) % kAlignment);
    return bytes_.subspan(at_);
  }
  size_t left() const { return bytes_.size() - at_; }
  bool failed() const { return failed_; }

 private:
  std::span<const std::byte> take(size_t bytes) {
    failed_ |= bytes > left();
    if (failed_) return {};
    at_ += bytes;
    return bytes_.subspan(at_ - bytes, bytes);
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

Status damaged() { return {MOTE_WRONG_SNAPSHOT, "a saved chat is damaged, or no saved chat"}; }

}  // namespace

Result<std::vector<std::byte>> Chat::save() const {
  for (const Turn& turn : turns_) {
    if (!turn.pictures.empty()) return failed("a conversation with pictures cannot be saved");
  }
  Writer writer;
  writer.text(kMagic, sizeof kMagic);
  writer.number(kVersion);
  writer.number(static_cast<uint32_t>(turns_.size()));
  const size_t held = std::min<size_t>(held_.size(), mote_session_length(session_->get(), 0));
  writer.number(static_cast<uint32_t>(held));
  writer.number(0);
  for (const Turn& turn : turns_) {
    writer.number(static_cast<uint32_t>(turn.role));
    writer.number(static_cast<uint32_t>(turn.text.size()));
    writer.text(turn.text.data(), turn.text.size());
  }
  for (size_t i = 0; i < held; ++i) writer.number(static_cast<uint32_t>(held_[i]));
  std::vector<std::byte>& bytes = writer.align();
  const size_t before = bytes.size();
  bytes.resize(before + mote_session_state_bytes(session_->get()));
  size_t written = 0;
  mote_error error = {};
  MOTE_TRY(from_core(
      mote_session_save(session_->get(), bytes.data() + before, bytes.size() - before, &written, &error),
      error, "chat"));
  bytes.resize(before + written);
  return std::move(bytes);
}

Status Chat::load(std::span<const std::byte> saved) {
  Reader reader(saved);
  const bool ours = reader.text(sizeof kMagic) == std::string_view(kMagic, sizeof kMagic);
  const uint32_t version = reader.number(), turn_count = reader.number(), held_count = reader.number();
  reader.number();
  if (!ours || reader.failed()) return damaged();
  if (version != kVersion) {
    return {MOTE_WRONG_SNAPSHOT,
            sentence("a saved chat of version {}; this build reads version {}", version, kVersion)};
  }
  std::deque<Turn> turns;
  for (uint32_t i = 0; i < turn_count && !reader.failed(); ++i) {
    const uint32_t role = reader.number(), bytes = reader.number();
    if (role != MOTE_ROLE_USER && role != MOTE_ROLE_ASSISTANT) return damaged();
    turns.push_back({static_cast<mote_role>(role), std::string(reader.text(bytes))});
  }
  if (reader.failed() || held_count > reader.left() / sizeof(uint32_t)) return damaged();
  std::vector<int32_t> held;
  for (uint32_t i = 0; i < held_count; ++i) held.push_back(static_cast<int32_t>(reader.number()));
  const std::span<const std::byte> rest = reader.aligned_rest();
  if (reader.failed() || rest.empty()) return damaged();
  std::vector<uint64_t> snapshot((rest.size() + kAlignment - 1) /
                                 kAlignment);  // aligned as a snapshot must be
  std::memcpy(snapshot.data(), rest.data(), rest.size());
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_session_restore(session_->get(), snapshot.data(), rest.size(), &error), error, "chat"));
  turns_ = std::move(turns);
  held_ = std::move(held);
  held_.resize(std::min<size_t>(held_.size(), mote_session_length(session_->get(), 0)));
  held_pictures_.clear();
  return {};
}

}  // namespace mote::host
