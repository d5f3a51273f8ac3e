// SPDX-License-Identifier: Apache-2.0
#include "host/base/system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

namespace mote::convert {
namespace {

mode_t mode_of(bool is_private) { return is_private ? 0600 : 0666; }

}  // namespace

int open_to_read(const std::filesystem::path& path) {
  return ::open(path.c_str(),
                O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // which a pipe without a writer would wait for
}

int open_to_change(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode_of(false));
}

int create_file(const std::filesystem::path& path, bool is_private) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_of(is_private));
}

int create_nameless_file(const std::filesystem::path& folder, bool is_private) {
#ifdef O_TMPFILE
  const int file = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode_of(is_private));
  if (file < 0) return -1;
  if (access(path_of_nameless(file).c_str(), F_OK) == 0) return file;  // naming it later takes /proc
  ::close(file);
#else
  (void)folder, (void)is_private;
  errno = ENOTSUP;
#endif
  return -1;
}

std::filesystem::path path_of_nameless(int file) { return "/proc/self/fd/" + std::to_string(file); }

bool name_nameless_file(int file, const std::filesystem::path& path) {
  return linkat(AT_FDCWD, path_of_nameless(file).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

void close_file(int file) { ::close(file); }

bool status_of(int file, FileStatus& status) {
  struct stat found {};
  if (::fstat(file, &found) != 0) return false;
  status.is_regular = S_ISREG(found.st_mode);
  status.is_directory = S_ISDIR(found.st_mode);
  status.bytes = static_cast<uint64_t>(found.st_size);
  return true;
}

int64_t read_at(int file, void* to, size_t count, uint64_t offset) {
  for (;;) {
    const ssize_t done = ::pread(file, to, count, static_cast<off_t>(offset));
    if (done >= 0 || errno != EINTR) return done;
  }
}

int64_t write_at(int file, const void* from, size_t count, uint64_t offset) {
  for (;;) {
    const ssize_t done = ::pwrite(file, from, count, static_cast<off_t>(offset));
    if (done >= 0 || errno != EINTR) return done;
  }
}

int64_t read_input(void* to, size_t count) { return ::read(STDIN_FILENO, to, count); }

bool lock_file(int file) { return ::flock(file, LOCK_EX | LOCK_NB) == 0; }

bool flush_file(int file) { return ::fsync(file) == 0; }

bool flush_folder(const std::filesystem::path& folder) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = opened >= 0 && ::fsync(opened) == 0;
  const int why = errno;
  if (opened >= 0) ::close(opened);
  errno = why;
  // A file system that flushes no folders, or a folder that may be written but not read.
  return flushed || why == EINVAL || why == ENOTSUP || why == EACCES;
}

bool take_permissions(int file, const std::filesystem::path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && ::fchmod(file, found.st_mode & 07777) == 0;
}

bool rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

bool remove_file(const char* path) { return ::unlink(path) == 0; }

uint32_t process_number() { return static_cast<uint32_t>(::getpid()); }

void* map_file(int file, size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_file(void* memory, size_t bytes) { ::munmap(memory, bytes); }

bool advise_huge_pages(void* memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  return ::madvise(memory, bytes, MADV_HUGEPAGE) == 0;
#else
  (void)memory, (void)bytes;
  errno = ENOSYS;
  return false;
#endif
}

void* map_memory(size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_memory(void* memory, size_t bytes) { ::munmap(memory, bytes); }

bool is_terminal(Stream stream) {
  return ::isatty(stream == Stream::input    ? STDIN_FILENO
                  : stream == Stream::output ? STDOUT_FILENO
                                             : STDERR_FILENO) != 0;
}

}  // namespace mote::convert
