# SPDX-License-Identifier: Apache-2.0
"""Compiles every code sample of public headers and documents: code_samples.py SOURCE WORK

A sample of a document is fenced as c, cpp or python. One of a header is a run of lines of a comment that begin with three
blanks behind the comment's margin. A sample with an #include is a file of its own; another is the body of a function behind
code_samples/prelude.h, or the header there that is named like the document. Functions and variables that a file of its own
does not declare are those of the prelude, too.
"""
import ast
import pathlib
import re
import subprocess
import sys
from typing import Iterator, List, NamedTuple

_INCLUDES = ["runtime/include", "platforms/posix/include", "host/include", "converter/include", "kernels/xnnpack/include"]
_LANGUAGES = {"c": "c", "h": "c", "cpp": "cpp", "c++": "cpp", "hpp": "cpp", "python": "python"}
_C_LINE = re.compile(r"^    .*\w.*;\s*(//.*|/\*.*\*/)?$")


class Sample(NamedTuple):
    """Code with its language and where it stands."""
    path: pathlib.Path
    line: int
    language: str
    code: str


def documents(source: pathlib.Path) -> List[pathlib.Path]:
    """Returns the documents that git keeps, or all of a copy without git."""
    listed = subprocess.run(["git", "-C", str(source), "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    found = [source / name for name in names if name] or list(source.glob("*.md")) + list(source.glob("docs/**/*.md"))
    return sorted(path for path in found if path.exists())


def of_document(path: pathlib.Path) -> Iterator[Sample]:
    """Gives the fenced samples; one that is indented in place of a fence ends the program."""
    fence, begin, lines = "", 0, []  # type: str, int, List[str]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
            if not fence and _C_LINE.match(line):
                sys.exit(f"{path}:{number}: a line of code outside a fence: ```c or ```cpp lets it be compiled")
            continue
        if fence in _LANGUAGES:
            yield Sample(path, begin, _LANGUAGES[fence], "\n".join(lines))
        fence, begin, lines = ("" if fence else line[3:].strip() or "text"), number, []
    if fence:
        sys.exit(f"{path}:{begin}: the fence does not end")


def of_header(path: pathlib.Path) -> Iterator[Sample]:
    """Gives the samples in the comments of a header."""
    begin, lines = 0, []  # type: int, List[str]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() + [""], 1):
        sample = re.match(r"^(?: \*|//)   (\s*\S.*)$", line)
        if sample:
            begin = begin or number
            lines.append(sample[1])
        elif lines:
            yield Sample(path, begin, _LANGUAGES[path.suffix[1:]], "\n".join(lines))
            begin, lines = 0, []


def source_of(sample: Sample, here: pathlib.Path) -> str:
    """Returns a file that a compiler takes, whose messages name the sample's place."""
    prelude = here / "code_samples" / f"{sample.path.stem}.h"
    if not prelude.exists():
        prelude = here / "code_samples/prelude.h"
    head = f'#include "{prelude}"\n'
    if sample.language == "cpp" and prelude.name == "prelude.h":
        head += '#include "mote/bare.hpp"\n#include "mote/mote.hpp"\n'
    place = f'#line {sample.line + (0 if sample.path.suffix in (".h", ".hpp") else 1)} "{sample.path}"\n'
    if "#include" in sample.code:
        return f"{head}{place}{sample.code}\n"
    arguments = "void" if sample.language == "c" else ""
    return f"{head}int sample({arguments});\nint sample({arguments}) {{\n{place}{sample.code}\nreturn 0;\n}}\n"


def compiles(sample: Sample, root: pathlib.Path, work: pathlib.Path) -> str:
    """Returns the compiler's words where it refuses a sample."""
    if sample.language == "python":
        try:
            ast.parse(sample.code, f"{sample.path}:{sample.line}")
        except SyntaxError as error:
            return str(error)
        return ""
    internal = "prelude" not in source_of(sample, root / "tests/portability").split("\n", 1)[0]
    file = work / f"sample.{'c' if sample.language == 'c' else 'cpp'}"
    file.write_text(source_of(sample, root / "tests/portability"), encoding="utf-8")
    compiler = ["cc", "-std=c99"] if sample.language == "c" else ["c++", "-std=c++20" if internal else "-std=c++17"]
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-result", "-Wno-unused-variable", "-Wno-unused-but-set-variable"]
    folders = [f"-I{root / folder}" for folder in _INCLUDES] + ([f"-I{root}"] if internal else [])
    done = subprocess.run(compiler + warnings + folders + ["-fsyntax-only", str(file)], stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def main() -> None:
    """Compiles all samples and says how many there are."""
    root, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    samples = [sample for path in documents(root) for sample in of_document(path)]
    headers = [path for folder in _INCLUDES for path in sorted((root / folder).glob("mote/*.h*"))]
    samples += [sample for path in headers for sample in of_header(path)]
    of = {language: sum(sample.language == language for sample in samples) for language in ("c", "cpp", "python")}
    if not all(of.values()):
        sys.exit(f"found no samples of a language: {of}")
    wrong = [f"{sample.path}:{sample.line}:\n{words}" for sample in samples if (words := compiles(sample, root, work))]
    if wrong:
        sys.exit("samples that do not compile:\n" + "\n".join(wrong))
    print(", ".join(f"{count} of {language}" for language, count in of.items()), "compile")


if __name__ == "__main__":
    main()
