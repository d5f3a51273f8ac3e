# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make_python_declarations from tests/portability/abi.txt.
import ctypes as C
from typing import Any, List, Tuple

CANCELLED = 64
OK = 0
OUT_OF_MEMORY = 65
REMEDY_ANY_PICTURE_SIZE = 32
REMEDY_CHAT_FORMAT = 6
REMEDY_CONTINUE_TEXT = 23
REMEDY_CONVERT = 1
REMEDY_CONVERT_DIRECTORY = 2
REMEDY_CONVERT_TOKENIZER = 21
REMEDY_DEPTH = 17
REMEDY_DETECT = 18
REMEDY_EMBED = 13
REMEDY_ENCODER_TASKS = 22
REMEDY_FEWER_THREADS = 26
REMEDY_FORGET_TURNS = 7
REMEDY_FORWARD_IDS = 5
REMEDY_GENERATE = 9
REMEDY_GIVE_IDS = 20
REMEDY_GIVE_QUESTION = 14
REMEDY_LESS_CONTEXT = 3
REMEDY_MORE_CONTEXT = 28
REMEDY_NONE = 0
REMEDY_NO_QUESTION = 15
REMEDY_POOLING = 11
REMEDY_RANK = 12
REMEDY_RUN_IDS = 4
REMEDY_SAVE_STATE = 29
REMEDY_SHORTER_MESSAGE = 8
REMEDY_SOUND_STEPS = 19
REMEDY_SPEECH2TEXT_ALONE = 25
REMEDY_TEXT_MODEL = 27
REMEDY_TRUNCATE = 10
REMEDY_VECTORS = 31
REMEDY_VERIFY = 30
REMEDY_VISION_TOWER = 16
REMEDY_WHISPER_ALONE = 24
WRONG_STATE = 5


class mote_host_input(C.Structure):
    _fields_ = [
        ("text", C.c_char_p),
        ("text_bytes", C.c_size_t),
        ("path", C.c_char_p),
        ("data", C.c_void_p),
        ("data_bytes", C.c_size_t),
        ("samples", C.c_void_p),
        ("sample_count", C.c_uint64),
        ("rate", C.c_uint32),
        ("width", C.c_uint32),
        ("height", C.c_uint32),
        ("pixels", C.c_void_p),
        ("ids", C.c_void_p),
        ("id_count", C.c_uint64),
        ("reserved", C.c_uint64 * 2),
    ]


class mote_host_calls(C.Structure):
    _fields_ = [
        ("user", C.c_void_p),
        ("stop", C.CFUNCTYPE(C.c_int, C.c_void_p)),
        ("note", C.CFUNCTYPE(None, C.c_void_p, C.c_char_p)),
        ("text", C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32)),
        ("samples", C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_uint64, C.c_uint32)),
        ("segment", C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_size_t, C.c_double, C.c_double)),
        ("progress", C.CFUNCTYPE(None, C.c_void_p, C.c_char_p, C.c_double)),
        ("partial", C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_size_t, C.c_size_t)),
    ]


class mote_convert_calls(C.Structure):
    _fields_ = [
        ("user", C.c_void_p),
        ("stop", C.CFUNCTYPE(C.c_int, C.c_void_p)),
        ("progress", C.CFUNCTYPE(None, C.c_void_p, C.c_char_p, C.c_double)),
        ("reserved", C.c_uint64 * 4),
    ]


# Bytes that structs have on machines of 64 bits.
SIZES = {
    "mote_convert_calls": 56,
    "mote_host_calls": 64,
    "mote_host_input": 112,
}
HOST: List[Tuple[str, Any, List[Any]]] = [
    ("mote_host_attention", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_void_p]),
    ("mote_host_bytes", C.c_void_p, [C.c_void_p, C.c_void_p]),
    ("mote_host_cancel", None, [C.c_void_p]),
    ("mote_host_chat_begin", C.c_void_p, [C.c_void_p, C.c_char_p, C.c_void_p]),
    ("mote_host_chat_end", None, [C.c_void_p]),
    ("mote_host_chat_load", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_uint64]),
    ("mote_host_chat_reset", C.c_void_p, [C.c_void_p]),
    ("mote_host_chat_save", C.c_void_p, [C.c_void_p]),
    ("mote_host_chat_say", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p]),
    ("mote_host_classify", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_close", None, [C.c_void_p]),
    ("mote_host_depth", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_char_p, C.c_void_p]),
    ("mote_host_detect", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_detokenize", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p]),
    ("mote_host_embed", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_evaluate", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_void_p, C.c_char_p, C.c_void_p]),
    ("mote_host_free", None, [C.c_void_p]),
    ("mote_host_generate", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_grammar", C.c_void_p, [C.c_void_p, C.c_char_p]),
    ("mote_host_ids", C.c_void_p, [C.c_void_p, C.c_void_p]),
    ("mote_host_info", C.c_void_p, [C.c_void_p]),
    ("mote_host_json", C.c_char_p, [C.c_void_p]),
    ("mote_host_model", C.c_void_p, [C.c_void_p]),
    ("mote_host_open", C.c_void_p, [C.c_char_p, C.c_char_p, C.c_void_p]),
    ("mote_host_open_bytes", C.c_void_p, [C.c_void_p, C.c_uint64, C.c_char_p, C.c_void_p]),
    ("mote_host_rank", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_remedy", C.c_int, [C.c_void_p]),
    ("mote_host_rerank", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_sentence", C.c_char_p, [C.c_void_p]),
    ("mote_host_set_backend", C.c_int, [C.c_void_p, C.c_void_p]),
    ("mote_host_set_threads", C.c_int, [C.c_void_p, C.c_uint32, C.c_uint32]),
    ("mote_host_shape", None, [C.c_void_p, C.c_void_p]),
    ("mote_host_speak", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_char_p, C.c_void_p]),
    ("mote_host_status", C.c_int, [C.c_void_p]),
    ("mote_host_summarize", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_template", C.c_void_p, [C.c_void_p, C.c_size_t, C.c_char_p]),
    ("mote_host_tokenize", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p]),
    ("mote_host_transcribe", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_char_p, C.c_void_p]),
    ("mote_host_translate", C.c_void_p, [C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_void_p]),
    ("mote_host_values", C.c_void_p, [C.c_void_p, C.c_void_p]),
    ("mote_host_verify", C.c_void_p, [C.c_void_p, C.c_void_p]),
    ("mote_status_name", C.c_char_p, [C.c_int]),
]
CONVERT: List[Tuple[str, Any, List[Any]]] = [
    ("mote_convert", C.c_void_p, [C.c_char_p, C.c_char_p, C.c_char_p, C.c_void_p]),
    ("mote_convert_free", None, [C.c_void_p]),
    ("mote_convert_json", C.c_char_p, [C.c_void_p]),
    ("mote_convert_list", C.c_void_p, []),
    ("mote_convert_sentence", C.c_char_p, [C.c_void_p]),
    ("mote_convert_status", C.c_int, [C.c_void_p]),
    ("mote_convert_type_names", C.c_char_p, [C.c_int]),
]
