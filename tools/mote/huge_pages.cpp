// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/huge_pages.h"

#include <cerrno>
#include <cstring>

#include "host/base/error.h"
#include "host/base/system.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t rounded_up(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

HugePages::HugePages(std::span<const std::byte> bytes) : mapped_(rounded_up(bytes.size()) + kHugePage) {
  mapping_ = convert::map_memory(mapped_);
  if (mapping_ == nullptr) {
    convert::fail("not enough memory: --huge-pages copies the file, {}; leave it out",
                  human_bytes(bytes.size()));
  }
  auto* copy = reinterpret_cast<std::byte*>(rounded_up(reinterpret_cast<uintptr_t>(mapping_)));
  if (!convert::advise_huge_pages(copy, rounded_up(bytes.size()))) {
    const int why = errno;
    convert::unmap_memory(mapping_, mapped_);
    convert::fail("--huge-pages: this system has none ({}); leave it out", std::strerror(why));
  }
  std::memcpy(copy, bytes.data(), bytes.size());
  bytes_ = {copy, bytes.size()};
}

HugePages::~HugePages() { convert::unmap_memory(mapping_, mapped_); }

}  // namespace mote::cli
