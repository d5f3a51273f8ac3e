# SPDX-License-Identifier: Apache-2.0
"""Lines of a file by how near they are to a question: semantic_search.py MODEL FILE QUESTION

MODEL is a .mote file, or the Hugging Face directory of a model of sentences, which is converted first.
"""
import pathlib
import sys
import tempfile

import mote


def search(model: mote.Model, lines: "list[str]", question: str) -> None:
    for hit in model.rank(question, lines, top=5, truncate=True):
        print(f"{hit['score']:.3f}  {lines[hit['index']]}")


def main() -> None:
    source, file, question = sys.argv[1:]
    lines = [line for line in pathlib.Path(file).read_text().splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        if pathlib.Path(source).is_dir():
            mote.convert(source, pathlib.Path(folder) / "model.mote")
            source = str(pathlib.Path(folder) / "model.mote")
        with mote.open(source) as model:
            search(model, lines, question)


if __name__ == "__main__":
    main()
