// SPDX-License-Identifier: Apache-2.0
//
// Files of Windows. All are opened so that others may rename or remove them meanwhile, as on POSIX systems,
// by paths of 16-bit characters; the C library makes descriptors of them.
#include "host/base/system.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "host/base/windows/narrow.h"

namespace mote::convert {
namespace {

constexpr DWORD kMostAtOnce = 1u << 30;  // bytes of a call, which counts them in 32 bits
constexpr DWORD kAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Sets errno to what the system's last error is closest to. Returns false.
bool fail_by_system() {
  switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
      errno = ENOENT;
      break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT:
    case ERROR_USER_MAPPED_FILE:
      errno = EACCES;
      break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      errno = EEXIST;
      break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      errno = ENOSPC;
      break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
      errno = ENOMEM;
      break;
    case ERROR_TOO_MANY_OPEN_FILES:
      errno = EMFILE;
      break;
    case ERROR_FILENAME_EXCED_RANGE:
      errno = ENAMETOOLONG;
      break;
    default:
      errno = EIO;
  }
  return false;
}

int open_as(const std::filesystem::path& path, DWORD access, DWORD disposition) {
  take_narrow_texts_as_utf8();
  // The flag opens folders too, whose status then says what they are.
  const HANDLE handle =
      CreateFileW(path.c_str(), access, kAll, nullptr, disposition, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return fail_by_system() ? 0 : -1;
  const int file = _open_osfhandle(reinterpret_cast<intptr_t>(handle), _O_BINARY | _O_NOINHERIT);
  if (file < 0) CloseHandle(handle);
  return file;
}

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(_get_osfhandle(file)); }

OVERLAPPED at(uint64_t offset) {
  OVERLAPPED place = {};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

DWORD at_once(size_t count) { return static_cast<DWORD>(std::min<size_t>(count, kMostAtOnce)); }

}  // namespace

int open_to_read(const std::filesystem::path& path) { return open_as(path, GENERIC_READ, OPEN_EXISTING); }

int open_to_change(const std::filesystem::path& path) {
  return open_as(path, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS);
}

/// A new file has the permissions of its folder, private or not.
int create_file(const std::filesystem::path& path, bool) {
  return open_as(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW);
}

int create_nameless_file(const std::filesystem::path&, bool) {
  errno = ENOTSUP;
  return -1;
}

std::filesystem::path path_of_nameless(int) { return {}; }

bool name_nameless_file(int, const std::filesystem::path&) {
  errno = ENOTSUP;
  return false;
}

void close_file(int file) { _close(file); }

bool status_of(int file, FileStatus& status) {
  BY_HANDLE_FILE_INFORMATION found = {};
  const HANDLE handle = handle_of(file);
  if (GetFileType(handle) != FILE_TYPE_DISK) return true;  // neither
  if (!GetFileInformationByHandle(handle, &found)) return fail_by_system();
  status.is_directory = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  status.is_regular = !status.is_directory;
  status.bytes = uint64_t{found.nFileSizeHigh} << 32 | found.nFileSizeLow;
  return true;
}

int64_t read_at(int file, void* to, size_t count, uint64_t offset) {
  OVERLAPPED place = at(offset);
  DWORD done = 0;
  if (ReadFile(handle_of(file), to, at_once(count), &done, &place)) return done;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  return fail_by_system() ? 0 : -1;
}

int64_t write_at(int file, const void* from, size_t count, uint64_t offset) {
  OVERLAPPED place = at(offset);
  DWORD done = 0;
  if (WriteFile(handle_of(file), from, at_once(count), &done, &place)) return done;
  return fail_by_system() ? 0 : -1;
}

int64_t read_input(void* to, size_t count) {
  DWORD done = 0;
  if (ReadFile(GetStdHandle(STD_INPUT_HANDLE), to, at_once(count), &done, nullptr)) return done;
  if (GetLastError() == ERROR_BROKEN_PIPE) return 0;  // its writer has ended
  return fail_by_system() ? 0 : -1;
}

/// Locks a byte behind all that the file may hold, since others cannot read what is locked.
bool lock_file(int file) {
  OVERLAPPED place = at(uint64_t{1} << 62);
  if (LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place))
    return true;
  return fail_by_system();
}

bool flush_file(int file) { return FlushFileBuffers(handle_of(file)) || fail_by_system(); }

/// rename_file() has waited for it.
bool flush_folder(const std::filesystem::path&) { return true; }

/// The folder decides who may read a file; a file that may not be written is not replaced either.
bool take_permissions(int, const std::filesystem::path& path) {
  return GetFileAttributesW(path.c_str()) != INVALID_FILE_ATTRIBUTES || fail_by_system();
}

bool rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  return MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ||
         fail_by_system();
}

bool remove_file(const char* path) {
  wchar_t wide[32768];  // the longest path
  if (MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, static_cast<int>(std::size(wide))) == 0)
    return fail_by_system();
  return DeleteFileW(wide) || fail_by_system();
}

uint32_t process_number() { return GetCurrentProcessId(); }

void* map_file(int file, size_t bytes) {
  const HANDLE mapping = CreateFileMappingW(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
  void* memory = nullptr;
  if (mapping != nullptr) {
    memory = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes);
    if (memory == nullptr) fail_by_system();
    CloseHandle(mapping);  // which the view keeps
  } else {
    fail_by_system();
  }
  return memory;
}

void unmap_file(void* memory, size_t) { UnmapViewOfFile(memory); }

/// Takes a right that users do not have, and never a file.
bool advise_huge_pages(void*, size_t) {
  errno = ENOSYS;
  return false;
}

void* map_memory(size_t bytes) {
  void* const memory = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (memory == nullptr) fail_by_system();
  return memory;
}

void unmap_memory(void* memory, size_t) { VirtualFree(memory, 0, MEM_RELEASE); }

/// NUL and the like are no terminals, which the C library's isatty() takes for some.
bool is_terminal(Stream stream) {
  DWORD mode = 0;
  const DWORD which = stream == Stream::input    ? STD_INPUT_HANDLE
                      : stream == Stream::output ? STD_OUTPUT_HANDLE
                                                 : STD_ERROR_HANDLE;
  return GetConsoleMode(GetStdHandle(which), &mode) != 0;
}

}  // namespace mote::convert
