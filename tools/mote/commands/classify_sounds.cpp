// SPDX-License-Identifier: Apache-2.0
//
// mote classify of sounds.
#include "host/tasks/sound/sound_labels.h"
#include "host/inputs/sound_file_input.h"
#include "tools/mote/commands/classify_files.h"
#include "tools/mote/signals.h"

namespace mote::cli {

bool takes_sound(const ModelFile& file) { return file.host().sound().rate != 0; }

void classify_sounds(const FileLabels& wanted, const ModelFile& file, const SessionFlags& flags,
                     const ThreadPool& pool) {
  host::SoundClassifier classifier =
      take(host::SoundClassifier::make(file.host(), session_choices(file, flags, pool)));
  for (const std::string& path : wanted.paths) {
    host::SoundFileInput sound(path, file.host().sound().rate);
    const InterruptGuard guard;
    show_labels("sound", path, take(classifier.probabilities(sound, hooks(), path)), wanted, file);
  }
}

}  // namespace mote::cli
