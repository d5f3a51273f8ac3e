# SPDX-License-Identifier: Apache-2.0
"""Models of tests/golden, converted once for a run of the tests, with what lies beside published ones."""
import json
import pathlib
import shutil
import string
from typing import Any, Callable, Dict, Iterator, Optional

import mote
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests/golden"
CHATML = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
PIXELS = {
    "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
    "do_resize": True,
}  # fmt: skip
PICTURES: Dict[str, Dict[str, Any]] = {
    "vit_classifier": {
        "image_processor_type": "ViTImageProcessor", "size": {"height": 24, "width": 24}, "resample": 2,
    },
    "depth_anything": {
        "image_processor_type": "DPTImageProcessor", "size": {"height": 24, "width": 24}, "keep_aspect_ratio": True,
        "ensure_multiple_of": 6, "resample": 3,
    },
    "yolos": {
        "feature_extractor_type": "YolosFeatureExtractor", "format": "coco_detection", "max_size": 100, "size": 48,
    },
}  # fmt: skip
OPTIONS: Dict[str, Dict[str, Any]] = {"llama": {"type": "q8"}, "yolos": {"picture_size": "48x48"}}


def _complete(name: str, folder: pathlib.Path) -> None:
    """Adds what the golden model of this name lacks: a tokenizer, steps of pictures, letters."""
    if name in ("llama", "bert_classifier", "t5"):
        shutil.copy(GOLDEN / "tokenizers/small/tokenizer.json", folder)
    if name == "llama":
        config = json.loads((folder / "config.json").read_text())
        config["max_position_embeddings"] = 65536  # answers in chats can take minutes
        (folder / "config.json").write_text(json.dumps(config))
        settings = {"bos_token": "<s>", "eos_token": "</s>", "chat_template": CHATML}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    if name in PICTURES:
        (folder / "preprocessor_config.json").write_text(json.dumps({**PIXELS, **PICTURES[name]}))
    letters = string.ascii_lowercase
    if name == "vits":
        voice = {"<pad>": 0, " ": 27, **{letter: 1 + i for i, letter in enumerate(letters)}}
        (folder / "vocab.json").write_text(json.dumps(voice))
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "VitsTokenizer", "phonemize": false}')
    if name == "wav2vec2_ctc":
        labels = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, "|": 4, "{": 31}
        labels.update({letter: 5 + i for i, letter in enumerate(letters)})
        (folder / "vocab.json").write_text(json.dumps(labels))


@pytest.fixture(scope="session")
def file_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], pathlib.Path]:
    """Returns the .mote file of a golden model, or of a model in models/."""
    folder = tmp_path_factory.mktemp("models")

    def file_of(name: str) -> pathlib.Path:
        file = folder / f"{name}.mote"
        if not file.exists():
            source = GOLDEN / "models" / name
            if source.exists():
                shutil.copytree(source, folder / name)
                _complete(name, folder / name)
                mote.convert(folder / name, file, **{"type": "f32", **OPTIONS.get(name, {})})
            else:
                mote.convert(ROOT / "models" / name, file)
        return file

    return file_of


@pytest.fixture(scope="session")
def kept(file_of: Callable[[str], pathlib.Path]) -> Iterator[Callable[..., mote.Model]]:
    """Returns an open model, which other tests have too."""
    models: Dict[str, mote.Model] = {}

    def kept(name: str) -> mote.Model:
        if name not in models:
            models[name] = mote.open(file_of(name), threads=1)
        return models[name]

    yield kept
    for model in models.values():
        model.close()


@pytest.fixture
def fresh(file_of: Callable[[str], pathlib.Path]) -> Iterator[Callable[..., mote.Model]]:
    """Returns an open model of this test alone."""
    models = []

    def fresh(name: str, threads: Optional[int] = 1, **options: Any) -> mote.Model:
        models.append(mote.open(file_of(name), threads=threads, **options))
        return models[-1]

    yield fresh
    for model in models:
        model.close()
