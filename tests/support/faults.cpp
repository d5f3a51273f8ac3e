// SPDX-License-Identifier: Apache-2.0
//
// A library to preload: system calls that fail when told to, so that tests see what a program makes of it.
//
//   MOTE_FAULTS="fsync:5 mmap:cut:2"    each is CALL:WHAT[:N], of the Nth call of its kind; without N, of all
//
// CALL is one of the names below. WHAT is the number of an error that the call then gives, "cut", which
// halves the file that the call maps once it is mapped, or "int", which first raises SIGINT.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

namespace {

enum Call { kMap, kArena, kSync, kSyncFolder, kWrite, kRename, kNameless, kCalls };
const char* const kNames[kCalls] = {"mmap",   "arena",  "fsync",        "fsync_directory",
                                    "pwrite", "rename", "open_nameless"};
std::atomic<int> counts[kCalls];

/// What is to happen to this call: the text after its name, or null.
const char* fault_of(Call call) {
  const int count = ++counts[call];
  const size_t length = strlen(kNames[call]);
  for (const char* at = getenv("MOTE_FAULTS"); at != nullptr && *at != '\0';) {
    const char* end = strchr(at, ' ');
    if (strncmp(at, kNames[call], length) == 0 && at[length] == ':') {
      const char* what = at + length + 1;
      const char* number = strchr(what, ':');
      if (number == nullptr || (end != nullptr && number > end) || atoi(number + 1) == count) return what;
    }
    at = end == nullptr ? nullptr : end + 1;
  }
  return nullptr;
}

/// Whether the call fails: errno is then set.
bool fails(Call call) {
  const char* what = fault_of(call);
  if (what == nullptr) return false;
  if (strncmp(what, "int", 3) == 0) raise(SIGINT);
  errno = atoi(what);
  return errno != 0;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// The files of tests alone: a fault must never meet one of the system's.
bool is_of_test(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t bytes = readlink(link, path, sizeof path - 1);
  path[bytes < 0 ? 0 : bytes] = '\0';
  return strstr(path, "/mote_test_") != nullptr;
}

void cut(int file) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  struct stat info;
  const int writable = open(link, O_WRONLY | O_CLOEXEC);
  if (writable < 0 || fstat(writable, &info) != 0 || ftruncate(writable, info.st_size / 2) != 0) abort();
  close(writable);
}

}  // namespace

extern "C" {

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  const bool of_file = file >= 0 && protection == PROT_READ && is_of_test(file);
  const char* what = of_file ? fault_of(kMap) : nullptr;
  if (what != nullptr && (errno = atoi(what)) != 0) return MAP_FAILED;
  void* result = real(address, bytes, protection, flags, file, offset);
  if (what != nullptr && result != MAP_FAILED && strncmp(what, "cut", 3) == 0) cut(file);
  return result;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  const char* what = alignment == 4096 ? fault_of(kArena) : nullptr;  // nothing else asks for pages
  if (what != nullptr && (errno = atoi(what)) != 0) return nullptr;
  return next<void* (*)(size_t, size_t)>("aligned_alloc")(alignment, bytes);
}

int fsync(int file) {
  struct stat info;
  const bool folder = fstat(file, &info) == 0 && S_ISDIR(info.st_mode);
  if (fails(folder ? kSyncFolder : kSync)) return -1;
  return next<int (*)(int)>("fsync")(file);
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  if (fails(kWrite)) return -1;
  return next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(file, data, bytes, offset);
}

int rename(const char* from, const char* to) {
  if (fails(kRename)) return -1;
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = creates ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
  va_end(arguments);
  if ((flags & O_TMPFILE) == O_TMPFILE && fails(kNameless)) return -1;
  return next<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}

}  // extern "C"
