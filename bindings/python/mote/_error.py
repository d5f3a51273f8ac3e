# SPDX-License-Identifier: Apache-2.0
"""The exception that a failed call raises."""
from typing import Dict

from . import _declarations as d

# The words that Python adds to a sentence, by the kind of remedy that there is.
_REMEDIES: Dict[int, str] = {
    d.REMEDY_CONVERT: "mote.convert makes one of it",
    d.REMEDY_CONVERT_DIRECTORY: "mote.convert makes one of the directory it is in",
    d.REMEDY_LESS_CONTEXT: "open it with a smaller context=",
    d.REMEDY_RUN_IDS: "generate takes token ids",
    d.REMEDY_CHAT_FORMAT: "convert it with chat_format=, or use generate",
    d.REMEDY_FORGET_TURNS: 'reset begins another, context_full="slide" forgets the oldest turns',
    d.REMEDY_SHORTER_MESSAGE: "say it shorter or open the model with a larger context=",
    d.REMEDY_GENERATE: "use generate or chat",
    d.REMEDY_TRUNCATE: "truncate=True cuts what is longer",
    d.REMEDY_POOLING: 'convert it with pooling="mean", "cls" or another',
    d.REMEDY_RANK: "rank compares vectors",
    d.REMEDY_EMBED: "embed makes vectors",
    d.REMEDY_VISION_TOWER: 'convert the model\'s directory with tower="vision" for it',
    d.REMEDY_DEPTH: "use depth",
    d.REMEDY_DETECT: "use detect",
    d.REMEDY_SOUND_STEPS: "convert it with its preprocessor_config.json; models of speech are for transcribe",
    d.REMEDY_GIVE_IDS: "give token ids instead",
    d.REMEDY_CONVERT_TOKENIZER: "convert it with its tokenizer",
    d.REMEDY_ENCODER_TASKS: "use embed or classify",
    d.REMEDY_CONTINUE_TEXT: "use generate",
    d.REMEDY_WHISPER_ALONE: "language=, translate=, prompt= and the like are for Whisper",
    d.REMEDY_SPEECH2TEXT_ALONE: "to= is for Speech2Text",
    d.REMEDY_FEWER_THREADS: "ask for fewer with threads=",
    d.REMEDY_TEXT_MODEL: "text_model= compares pictures or sounds with texts",
    d.REMEDY_MORE_CONTEXT: "open the model with a larger context=",
    d.REMEDY_SAVE_STATE: "save_state makes one",
    d.REMEDY_VERIFY: "use verify",
    d.REMEDY_ANY_PICTURE_SIZE: "mote.convert makes a file for any with any_picture_size=",
}


class Error(RuntimeError):
    """A call that failed. Its text is the library's sentence, and what helps.

    `sentence` is what the library says alone, `status` the name of its status ("corrupt file"), `remedy` the
    words that were added, or "".
    """

    def __init__(self, sentence: str, status: str = "", remedy: int = 0) -> None:
        self.sentence = sentence
        self.status = status
        self._kind = remedy
        self.remedy = _REMEDIES.get(remedy, "")
        super().__init__(f"{sentence}; {self.remedy}" if self.remedy else sentence)

    def __reduce__(self) -> "tuple[type[Error], tuple[str, str, int]]":
        return type(self), (self.sentence, self.status, self._kind)


class Cancelled(Error):
    """A call that was ended, by cancel() or since its model was closed."""
