# SPDX-License-Identifier: Apache-2.0
"""The documents' programs run, and so do the examples."""
import re
import shutil
import subprocess
import sys

import pytest
from conftest import GOLDEN, ROOT

DOCUMENTS = [ROOT / "docs/python.md", ROOT / "README.md", ROOT / "bindings/python/README.md"]
EXAMPLES = ROOT / "bindings/python/examples"


@pytest.fixture
def folder(file_of, tmp_path):
    """Returns a folder with what the documents' programs take: golden models under names of published ones."""
    shutil.copytree(GOLDEN / "models/bert_sentence_dense", tmp_path / "all-MiniLM-L6-v2")
    shutil.copy(file_of("llama"), tmp_path / "smollm2.mote")
    return tmp_path


def programs(document):
    return re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_programs_of_a_document_run(document, folder):
    found = programs(document)
    assert found
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(found)], capture_output=True, text=True, cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_semantic_search_takes_ten_lines():
    lines = [line for line in programs(DOCUMENTS[0])[0].splitlines() if line.strip()]
    assert lines[0] == "import mote" and len(lines) <= 10


def run(example, *arguments, text=""):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / example, *arguments], input=text, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_examples_run(file_of, folder):
    (folder / "lines.txt").write_text("hello\n\na cat\n")
    for source in (folder / "all-MiniLM-L6-v2", file_of("bert_sentence_dense")):
        assert len(run("semantic_search.py", source, folder / "lines.txt", "the world").splitlines()) == 2
    assert len(run("chat.py", folder / "smollm2.mote", text="hello\nagain\n").splitlines()) >= 2
    sound = ROOT / "models/keywords/held-out/go.wav"
    assert run("transcribe.py", file_of("wav2vec2_ctc"), sound).startswith("WEBVTT\n")
