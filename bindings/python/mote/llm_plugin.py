# SPDX-License-Identifier: Apache-2.0
"""A plugin of the command `llm`: .mote files as models and embedding models.

    llm mote add smollm2 smollm2.mote
    llm -m smollm2 "Name three rivers"
    llm embed -m minilm -c "a cat"

`llm mote add` keeps names and paths in mote.json in llm's own folder, the one file that mote writes.
"""
import json
import pathlib
import threading
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union

import click
import llm
from llm.models import EmbeddingModel
from pydantic import Field

from ._error import Error
from ._model import Model, open_model

_lock = threading.Lock()
_open: Dict[str, Model] = {}


def _registry() -> pathlib.Path:
    untyped: Any = llm
    return pathlib.Path(untyped.user_dir()) / "mote.json"


def _registered() -> Dict[str, Dict[str, Any]]:
    """Returns what `llm mote add` has kept: {name: {"path", "vision", "tasks"}}."""
    try:
        held: Dict[str, Dict[str, Any]] = json.loads(_registry().read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise click.ClickException(f"{_registry()} is damaged: {error}") from None
    return held


def _opened(entry: Dict[str, Any]) -> Model:
    """Returns the open model of an entry, which stays open."""
    key = json.dumps(entry, sort_keys=True)
    with _lock:
        if key not in _open:
            _open[key] = open_model(entry["path"], vision=entry.get("vision"))
        return _open[key]


def _require_tower(file: str) -> None:
    """Raises ClickException for a file that is no vision tower."""
    with open_model(file) as tower:
        task = tower.info()["task"]
    if task != "see":
        raise click.ClickException(
            f"{file} is for the task {task}, it is no vision tower; "
            "mote convert --tower vision makes one of the model's directory"
        )


class MoteModel(llm.Model):
    """A model that answers."""

    can_stream = True

    class Options(llm.Model.Options):
        tokens: Optional[int] = Field(default=None, description="Most tokens to generate; 0: until the context is full")
        greedy: Optional[bool] = Field(default=None, description="Always the likeliest token")
        temp: Optional[float] = Field(default=None, description="Sample at this temperature")
        top_k: Optional[int] = Field(default=None, description="Of the K likeliest tokens")
        top_p: Optional[float] = Field(default=None, description="Of the likeliest tokens that make up this probability")
        min_p: Optional[float] = Field(default=None, description="Of the tokens at least this times as likely as the likeliest")
        seed: Optional[int] = Field(default=None, description="Of the random numbers")
        repeat_penalty: Optional[float] = Field(default=None, description="Makes tokens that were there less likely")
        stop: Optional[Union[str, List[str]]] = Field(default=None, description="Ends the answer before this text")
        ignore_stop: Optional[bool] = Field(default=None, description="Go on after the model's stop tokens")

    def __init__(self, name: str, entry: Dict[str, Any]) -> None:
        self.model_id = name
        self.entry = entry
        if entry.get("vision"):
            self.attachment_types = {"image/png", "image/jpeg"}

    def __str__(self) -> str:
        return f"mote: {self.model_id}"

    def execute(
        self,
        prompt: llm.Prompt,
        stream: bool,
        response: llm.Response,
        conversation: Optional[llm.Conversation] = None,
    ) -> Iterator[str]:
        """Gives the parts of the answer to a prompt, behind the turns of its conversation."""
        options = {name: value for name, value in prompt.options.model_dump().items() if value is not None}
        options.setdefault("tokens", 1024)
        earlier = list(conversation.responses) if conversation is not None else []
        attachments: List[Any] = list(prompt.attachments or ())
        images = [attachment.content_bytes() for attachment in attachments]
        if any(turn.prompt.attachments for turn in earlier) or (images and earlier):
            raise llm.ModelError("mote takes pictures with a conversation's only message")
        model = _opened(self.entry)
        if images:
            answer = model.generate(prompt.prompt, images=images, chat=True, system=prompt.system or None, **options)
        else:
            answer = model.generate(_messages(prompt, earlier), **options)
        if stream:
            yield from answer
        else:
            yield answer.read()
        said = answer.result
        untyped: Any = response
        untyped.set_usage(input=len(said["prompt_ids"]), output=len(said["output_ids"]))
        response.response_json = {"finish": said["finish"]}


def _messages(prompt: llm.Prompt, earlier: List[Any]) -> List[Dict[str, str]]:
    """Returns a conversation: its system message, its turns and the prompt."""
    messages: List[Dict[str, str]] = []
    system = prompt.system or next((turn.prompt.system for turn in reversed(earlier) if turn.prompt.system), None)
    if system:
        messages.append({"role": "system", "content": system})
    for turn in earlier:
        messages.append({"role": "user", "content": turn.prompt.prompt})
        messages.append({"role": "assistant", "content": turn.text_or_raise()})
    messages.append({"role": "user", "content": prompt.prompt})
    return messages


class MoteEmbeddingModel(EmbeddingModel):
    """A model that gives vectors of texts, or of pictures."""

    batch_size = 64

    def __init__(self, name: str, entry: Dict[str, Any]) -> None:
        self.model_id = name
        self.entry = entry
        self.supports_binary = bool(entry.get("takes_pictures"))
        self.supports_text = not self.supports_binary

    def embed_batch(self, items: Iterable[Union[str, bytes]], *, key: Optional[str] = None) -> Iterator[List[float]]:
        held = list(items)
        if not held:
            return
        options: Dict[str, Any] = {} if self.supports_binary else {"truncate": True}
        for vector in _opened(self.entry).embed(held, **options):
            yield vector.tolist()


@llm.hookimpl
def register_models(register: Any) -> None:
    for name, entry in _registered().items():
        if "generate" in entry["tasks"]:
            register(MoteModel(name, entry))


@llm.hookimpl
def register_embedding_models(register: Any) -> None:
    for name, entry in _registered().items():
        if "embed" in entry["tasks"]:
            register(MoteEmbeddingModel(name, entry))


@llm.hookimpl
def register_commands(cli: click.Group) -> None:
    @cli.group(name="mote")
    def mote_group() -> None:
        """Names .mote files as models."""

    @mote_group.command(name="add")
    @click.argument("name")
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, resolve_path=True))
    @click.option("--vision", type=click.Path(exists=True, dir_okay=False, resolve_path=True), help="The file that sees")
    def add(name: str, file: str, vision: Optional[str]) -> None:
        """Keeps NAME for the model in FILE."""
        entry: Dict[str, Any] = {"path": file, "vision": vision}
        try:
            if vision is not None:
                _require_tower(vision)
            with open_model(file, vision=vision) as model:
                about = model.info()
        except Error as error:
            raise click.ClickException(str(error)) from None
        entry.update(tasks=about["tasks"], takes_pictures=about["takes_pictures"])
        held = {**_registered(), name: entry}
        _registry().parent.mkdir(parents=True, exist_ok=True)
        _registry().write_text(json.dumps(held, indent=2) + "\n")
        click.echo(f"{name}: {', '.join(about['tasks'])}")

    @mote_group.command(name="list")
    def list_models() -> None:
        """Prints the names and their files."""
        for name, entry in _registered().items():
            click.echo(f"{name}\t{entry['path']}")

    @mote_group.command(name="remove")
    @click.argument("name")
    def remove(name: str) -> None:
        """Forgets NAME; its file stays."""
        held = _registered()
        if held.pop(name, None) is None:
            raise click.ClickException(f"no model {name!r}; there are {', '.join(held) or 'none'}")
        _registry().write_text(json.dumps(held, indent=2) + "\n")
