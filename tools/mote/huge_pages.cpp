// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/huge_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "host/base/error.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t rounded_up(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

/// 0, or errno.
int advise_huge(void* memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  return madvise(memory, bytes, MADV_HUGEPAGE) == 0 ? 0 : errno;
#else
  (void)memory, (void)bytes;
  return ENOSYS;
#endif
}

}  // namespace

HugePages::HugePages(std::span<const std::byte> bytes) : mapped_(rounded_up(bytes.size()) + kHugePage) {
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    convert::fail("not enough memory: --huge-pages copies the file, {}; leave it out",
                  human_bytes(bytes.size()));
  }
  auto* copy = reinterpret_cast<std::byte*>(rounded_up(reinterpret_cast<uintptr_t>(mapping_)));
  if (const int error = advise_huge(copy, rounded_up(bytes.size())); error != 0) {
    munmap(mapping_, mapped_);
    convert::fail("--huge-pages: this system has none ({}); leave it out", std::strerror(error));
  }
  std::memcpy(copy, bytes.data(), bytes.size());
  bytes_ = {copy, bytes.size()};
}

HugePages::~HugePages() { munmap(mapping_, mapped_); }

}  // namespace mote::cli
