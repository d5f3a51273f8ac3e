// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/pickle.h"

#include <algorithm>
#include <cstring>

#include "converter/readers/pickle_machine.h"
#include "converter/readers/zip_file.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

// A byte may make an object.
constexpr uint64_t kStepsOfByte = 256;

/// The number that a stream begins with, as a pickle behind the byte of its protocol.
constexpr unsigned char kStreamStart[] = {0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                          0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
constexpr size_t kStreamBytes = 2 + sizeof kStreamStart;
constexpr int64_t kStreamProtocol = 1001;

bool is_stream(std::span<const std::byte> file) {
  return file.size() >= kStreamBytes && file[0] == std::byte{0x80} &&
         std::memcmp(file.data() + 2, kStreamStart, sizeof kStreamStart) == 0;
}

/// Reads what PyTorch wrote before 1.6, and writes where it is asked to: a number, a protocol, the machine's
/// sizes, the dictionary, the names of its storages, each a pickle; then the storages.
NamedTensors parse_stream(std::span<const std::byte> file, const std::string& where) {
  PickleMachine machine(file, where, "storage ");
  machine.skip(kStreamBytes);
  const int64_t protocol = machine.number(machine.run());
  if (protocol != kStreamProtocol)
    fail("{} is of PyTorch's protocol {}, read is {}", where, protocol, kStreamProtocol);
  Object* const little = machine.find(machine.run(), "little_endian");
  if (little == nullptr || machine.number(little) == 0)
    fail("{} holds big-endian numbers, which are not read", where);
  Object* const root = machine.run();
  Object* const names = machine.run();
  return machine.tensors(root, machine.take_storages(names));
}

/// The entries that hold numbers, by their names behind the prefix.
PickleMachine::Storages storages_of(const std::map<std::string, std::span<const std::byte>>& entries,
                                    const std::string& data) {
  PickleMachine::Storages storages;
  for (auto entry = entries.lower_bound(data); entry != entries.end(); ++entry) {
    if (!entry->first.starts_with(data)) break;
    charge_work(entry->first.size());
    storages[entry->first.substr(data.size())] = entry->second;
  }
  return storages;
}

}  // namespace

NamedTensors parse_pytorch(std::span<const std::byte> file, const std::string& where) {
  const WorkBudget budget(where, file.size(), kStepsOfByte);
  if (is_stream(file)) return parse_stream(file, where);
  if (file.size() >= 4 && load<uint32_t>(file.data()) != 0x04034b50) {
    fail(
        "{} is neither an archive, as PyTorch writes since 1.6, nor a stream of pickles, as before: load it "
        "and save it again, as safetensors",
        where);
  }
  const auto entries = parse_zip(file, where);
  const std::string suffix = "data.pkl";
  for (const auto& [name, bytes] : entries) {
    if (!name.ends_with(suffix)) continue;
    const std::string prefix = name.substr(0, name.size() - suffix.size());
    const auto order = entries.find(prefix + "byteorder");
    if (order != entries.end() && order->second.size() >= 3 && order->second[0] == std::byte{'b'})
      fail("{} holds big-endian numbers, which are not read", where);
    PickleMachine machine(bytes, where, "data/");
    Object* const root = machine.run();
    return machine.tensors(root, storages_of(entries, prefix + "data/"));
  }
  fail("{}: the archive has no data.pkl: it is no checkpoint of PyTorch", where);
}

}  // namespace mote::convert
