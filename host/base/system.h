// SPDX-License-Identifier: Apache-2.0
//
// What hosts ask of the operating system: files by descriptor, mapped files, memory, terminals.
// host/base/posix and host/base/windows have these functions, and a build has one of both. Where a function
// fails, errno says why. Paths are UTF-8 everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace mote::convert {

// ---- Files. A descriptor is -1 where the file cannot be opened. Children inherit none. ----

int open_to_read(const std::filesystem::path& path);
/// Opens a file to be read and written, and makes it where it is not there.
int open_to_change(const std::filesystem::path& path);
/// Makes a file that is read and written; fails with EEXIST where there is one. A private file is its user's
/// alone.
int create_file(const std::filesystem::path& path, bool is_private);
/// Makes a file without a name, which is gone as soon as the process is; -1 where the system or the folder's
/// file system has none.
int create_nameless_file(const std::filesystem::path& folder, bool is_private);
/// Returns a name by which this process can open a nameless file.
std::filesystem::path path_of_nameless(int file);
/// Gives a nameless file its name. Fails with EEXIST where a file has it.
bool name_nameless_file(int file, const std::filesystem::path& path);
void close_file(int file);

struct FileStatus {
  bool is_regular = false, is_directory = false;
  uint64_t bytes = 0;
};
bool status_of(int file, FileStatus& status);

/// Return how many bytes were read or written, which may be fewer than asked for, or -1. At the file's end
/// none are read.
int64_t read_at(int file, void* to, size_t count, uint64_t offset);
int64_t write_at(int file, const void* from, size_t count, uint64_t offset);
/// Reads what comes next of standard input, as it is; waits for it.
int64_t read_input(void* to, size_t count);

/// Locks a file for this process until it is closed; false where another has it.
bool lock_file(int file);
/// Waits until the file's bytes are on the disk.
bool flush_file(int file);
/// Waits until the names in a folder are on the disk; true where the file system does not tell.
bool flush_folder(const std::filesystem::path& folder);
/// Gives a file the permissions of the file at the path: false with ENOENT where there is none.
bool take_permissions(int file, const std::filesystem::path& path);
/// Gives a file a name, at once in the place of what has it.
bool rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
/// Removes a file, by its path in UTF-8. Safe in signal handlers.
bool remove_file(const char* path);

/// Returns a number that no other process has meanwhile; a child of fork() has its own.
uint32_t process_number();

// ---- Memory ----

/// Maps a file's first bytes, read-only; null where it cannot be.
void* map_file(int file, size_t bytes);
void unmap_file(void* memory, size_t bytes);
/// Has huge pages take the place of others from now on, in memory or in a mapped file; false where the system
/// has none.
bool advise_huge_pages(void* memory, size_t bytes);

/// Returns zeroed memory in whole pages, which is taken when it is touched; null where there is not enough.
void* map_memory(size_t bytes);
void unmap_memory(void* memory, size_t bytes);

// ---- Terminals ----

enum class Stream { input, output, errors };
/// Says whether a person is at the other end of a standard stream.
bool is_terminal(Stream stream);

}  // namespace mote::convert
