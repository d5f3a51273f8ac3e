"""Renders the templates of constructs.jsonl as transformers does, and compares a build of mote with it.

    python make_constructs.py                       writes constructs.jsonl anew, templates as they are
    python make_constructs.py --mote build/mote     compares: constructs.jsonl, then --random N templates of tags and
                                                    white space
Needs jinja2 3.1 and transformers 5. Not needed by the tests.
"""
import argparse
import datetime
import json
import random
import subprocess
import tempfile
from pathlib import Path

from transformers.utils import chat_template_utils

HERE = Path(__file__).parent
GIVEN = json.loads((HERE / "variables.json").read_text(encoding="utf-8"))
SPACES = ["", " ", "\n", "  ", "\n\n", "\t", "a", "\n a", " b\n", "c \n ", "\n  \n"]


class FixedDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromisoformat(GIVEN["date"])


def render(template):
    chat_template_utils.datetime = FixedDate
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            conversations=[GIVEN["messages"]], chat_template=template, add_generation_prompt=True, **GIVEN["variables"])
        return {"template": template, "text": texts[0]}
    except Exception as error:  # whatever Python or Jinja raise
        return {"template": template, "error": f"{type(error).__name__}: {error}"}


def some_tag():
    sign = lambda: random.choice(["", "", "-", "+"])
    space = lambda: random.choice(SPACES)
    inner = lambda: space() + (some_tag() if random.random() < 0.4 else "") + space()
    return random.choice([
        lambda: "{{%s 1 %s}}" % (random.choice(["", "-"]), random.choice(["", "-"])),
        lambda: "{#%s x %s#}" % (sign(), sign()),
        lambda: "{%%%s set q = 1 %s%%}" % (sign(), sign()),
        lambda: "{%%%s if 1 %s%%}%s{%%%s endif %s%%}" % (sign(), sign(), inner(), sign(), sign()),
        lambda: "{%%%s for i in [1, 2] %s%%}%s{%%%s endfor %s%%}" % (sign(), sign(), inner(), sign(), sign()),
        lambda: "{%%%s raw %s%%}%s{{%s{%%%s endraw %s%%}" % (
            sign(), random.choice(["", "-"]), space(), space(), sign(), sign()),
    ])()


def some_template():
    return "".join(random.choice(SPACES) + some_tag() for _ in range(random.randint(1, 4))) + random.choice(SPACES)


def compare(binary, templates):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jinja"
        for template in templates:
            expected = render(template)
            path.write_bytes(template.encode())
            result = subprocess.run([binary, "template", path, "--messages", HERE / "variables.json"],
                                    capture_output=True)
            understood = b"not understood" not in result.stderr
            if understood and expected.get("text") != (result.stdout.decode() if result.returncode == 0 else None):
                wrong += 1
                print(json.dumps(expected, ensure_ascii=False), result.stdout, result.stderr)
    print(len(templates), "templates,", wrong, "wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mote")
    parser.add_argument("--random", type=int, default=0)
    options = parser.parse_args()
    file = HERE / "constructs.jsonl"
    templates = [json.loads(line)["template"] for line in file.read_text(encoding="utf-8").strip("\n").split("\n")]
    if options.mote:
        return compare(options.mote, templates + [some_template() for _ in range(options.random)])
    lines = [json.dumps(render(template), ensure_ascii=False) for template in templates]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
