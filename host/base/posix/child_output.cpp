// SPDX-License-Identifier: Apache-2.0
#include "host/base/child_output.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

extern char** environ;

namespace mote::convert {

ChildOutput::ChildOutput(const char* const* arguments) {
  int ends[2];
  if (::pipe(ends) != 0) {
    error_ = errno;
    return;
  }
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  error_ =
      ::posix_spawnp(&process, arguments[0], &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  pipe_ = ends[0];
  if (error_ == 0) process_ = process;
}

ChildOutput::~ChildOutput() {
  if (pipe_ >= 0) ::close(pipe_);
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  wait();
}

size_t ChildOutput::read(char* to, size_t count) const {
  size_t done = 0;
  while (done < count) {
    const ssize_t part = ::read(pipe_, to + done, count - done);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    done += static_cast<size_t>(part);
  }
  return done;
}

bool ChildOutput::succeeded() {
  if (process_ != 0) wait();
  return error_ == 0 && status_ == 0;
}

void ChildOutput::wait() {
  while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
}

}  // namespace mote::convert
