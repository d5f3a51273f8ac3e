// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/zip_file.h"

#include <algorithm>

#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50, kEntry = 0x02014b50,
                   kLocal = 0x04034b50;
constexpr uint64_t kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20, kEntryBytes = 46, kLocalBytes = 30;
constexpr uint32_t kIn64 = UINT32_MAX;  // of a field of 32 bits: it stands in a zip64 record

class Zip {
 public:
  Zip(std::span<const std::byte> file, const std::string& where) : file_(file), where_(where) {}

  std::map<std::string, std::span<const std::byte>> entries() {
    find_directory();
    std::map<std::string, std::span<const std::byte>> entries;
    uint64_t at = directory_;
    for (uint64_t i = 0; i < count_; ++i) {
      need(at, kEntryBytes, "the directory");
      if (get<uint32_t>(at) != kEntry) fail("{}: entry {} of the archive's directory is damaged", where_, i);
      const uint64_t name_bytes = get<uint16_t>(at + 28), extra_bytes = get<uint16_t>(at + 30);
      need(at + kEntryBytes, name_bytes + extra_bytes, "the directory");
      const std::string name(reinterpret_cast<const char*>(&file_[at + kEntryBytes]), name_bytes);
      charge_bytes(name_bytes + 64);
      entries[name] = stored(name, at, at + kEntryBytes + name_bytes, extra_bytes);
      at += kEntryBytes + name_bytes + extra_bytes + get<uint16_t>(at + 32);
    }
    return entries;
  }

 private:
  template <class T>
  T get(uint64_t at) const {
    return load<T>(file_.data() + at);
  }
  void need(uint64_t at, uint64_t bytes, const char* what) const {
    if (at > file_.size() || bytes > file_.size() - at)
      fail("{}: {} of the archive reaches past its end: it is cut or damaged, fetch it again", where_, what);
  }

  /// The record at the end says where the directory is; a comment of up to 64 KB may follow it.
  void find_directory() {
    if (file_.size() < kEndBytes) fail("{}: {} bytes are too few for an archive", where_, file_.size());
    const uint64_t last = file_.size() - kEndBytes, first = last - std::min<uint64_t>(last, UINT16_MAX);
    uint64_t end = last;
    while (get<uint32_t>(end) != kEnd) {
      if (end-- == first) fail("{}: the archive's directory is missing: it is cut, fetch it again", where_);
    }
    count_ = get<uint16_t>(end + 10);
    directory_ = get<uint32_t>(end + 16);
    if (end < kLocatorBytes || get<uint32_t>(end - kLocatorBytes) != kLocator64) return;
    const auto end64 = get<uint64_t>(end - kLocatorBytes + 8);
    need(end64, kEnd64Bytes, "the directory");
    if (get<uint32_t>(end64) != kEnd64) fail("{}: the archive's directory is damaged", where_);
    count_ = get<uint64_t>(end64 + 32);
    directory_ = get<uint64_t>(end64 + 48);
  }

  /// The entry of the directory at `at`, whose extra fields are `extra_bytes` at `extra`.
  std::span<const std::byte> stored(const std::string& name, uint64_t at, uint64_t extra,
                                    uint64_t extra_bytes) const {
    if (get<uint16_t>(at + 8) & 1) fail("{}: entry {} is encrypted", where_, shown(name));
    if (get<uint16_t>(at + 10) != 0)
      fail("{}: entry {} is compressed, which is not read", where_, shown(name));
    uint64_t sizes[3] = {get<uint32_t>(at + 24), get<uint32_t>(at + 20), get<uint32_t>(at + 42)};
    read_zip64(extra, extra_bytes, sizes);
    const auto [bytes, packed, local] = sizes;
    if (bytes != packed) fail("{}: entry {} has two sizes", where_, shown(name));
    need(local, kLocalBytes, "an entry");
    if (get<uint32_t>(local) != kLocal) fail("{}: entry {} is damaged", where_, shown(name));
    const uint64_t data = local + kLocalBytes + get<uint16_t>(local + 26) + get<uint16_t>(local + 28);
    need(data, bytes, "an entry");
    return file_.subspan(data, bytes);
  }

  /// Replaces those of size, packed size and offset that do not fit 32 bits.
  void read_zip64(uint64_t at, uint64_t extra_bytes, uint64_t (&sizes)[3]) const {
    const uint64_t end = at + extra_bytes;
    while (end - at >= 4) {
      const uint64_t kind = get<uint16_t>(at), field_end = at + 4 + get<uint16_t>(at + 2);
      at += 4;
      if (field_end > end) return;
      for (size_t i = 0; i < 3 && kind == 1; ++i) {
        if (sizes[i] != kIn64 || field_end - at < 8) continue;
        sizes[i] = get<uint64_t>(at);
        at += 8;
      }
      at = field_end;
    }
  }

  std::span<const std::byte> file_;
  const std::string& where_;
  uint64_t count_ = 0, directory_ = 0;
};

}  // namespace

std::map<std::string, std::span<const std::byte>> parse_zip(std::span<const std::byte> file,
                                                            const std::string& where) {
  return Zip(file, where).entries();
}

}  // namespace mote::convert
