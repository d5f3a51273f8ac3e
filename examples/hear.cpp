// SPDX-License-Identifier: Apache-2.0
//
// The labels of a sound, the likeliest first: hear MODEL.mote SOUND.wav
#include <cstdio>
#include <mote/mote.hpp>

int main(int count, char** arguments) try {
  if (count != 3) return 2;
  mote::Session session = mote::Session::open(arguments[1]).value();
  const mote::Sound sound = mote::WavReader::read(std::string(arguments[2])).value();
  for (const mote::Label& label : session.classify(sound).value())
    std::printf("%.4f %s\n", static_cast<double>(label.probability), label.name.c_str());
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
