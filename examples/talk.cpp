// SPDX-License-Identifier: Apache-2.0
//
// A conversation, a line of standard input for each message: talk MODEL.mote [STOP TEXT]. Ctrl-C ends an
// answer, Ctrl-D the program.
#include <csignal>
#include <cstdio>
#include <iostream>
#include <mote/mote.hpp>

static volatile std::sig_atomic_t interrupted = 0;

int main(int count, char** arguments) {
  if (count < 2) return 2;
  mote::Result<mote::Session> session = mote::Session::open(arguments[1]);
  if (!session.ok()) return std::fprintf(stderr, "%s\n", session.text()), 1;
  mote::Answering answering;
  answering.max_tokens = 256;
  if (count > 2) answering.stops = {arguments[2]};
  answering.on_text = [](std::string_view text) { std::cout << text << std::flush; };
  answering.stopped = [] { return interrupted != 0; };
  std::signal(SIGINT, [](int) { interrupted = 1; });
  mote::Chat chat(*session);
  for (std::string line; std::getline(std::cin, line);) {
    interrupted = 0;
    const mote::Result<mote::Answer> answer = chat.say(line, answering);
    std::cout << "\n";
    if (!answer.ok()) return std::fprintf(stderr, "%s\n", answer.text()), 1;
  }
  return 0;
}
