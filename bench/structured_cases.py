# SPDX-License-Identifier: Apache-2.0
"""Schemas with answers by them, keys in their order: for bench/structured.py and scripts/check_structured."""
import json
import pathlib

COMMANDS = json.loads((pathlib.Path(__file__).resolve().parent.parent / "models/commands/schema.json").read_text())

TEXT = {"type": "string"}


def record(properties, required=None, **others):
    """Returns the schema of an object that has these keys alone."""
    return {"type": "object", "properties": properties, "required": list(properties) if required is None else required,
            "additionalProperties": False, **others}


PERSON = record({"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer", "minimum": 0, "maximum": 130},
                 "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 3},
                 "text": TEXT, "ok": {"type": "boolean"}}, ["name", "age", "text"])
ORDER = record({
    "number": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{6}$"},
    "date": {"type": "string", "format": "date"},
    "customer": record({"name": TEXT, "mail": {"type": "string", "format": "email"}}),
    "lines": {"type": "array", "minItems": 1, "maxItems": 20,
              "items": record({"article": {"type": "string", "minLength": 1, "maxLength": 80},
                               "pieces": {"type": "integer", "minimum": 1, "maximum": 999},
                               "price": {"type": "number", "minimum": 0, "maximum": 100000}})},
    "total": {"type": "number"}})
TREE = {"$defs": {"node": record({"label": TEXT, "below": {"type": "array", "items": {"$ref": "#/$defs/node"}}})},
        "$ref": "#/$defs/node"}
SHAPES = {"type": "array", "items": {"anyOf": [
    record({"kind": {"const": "circle"}, "radius": {"type": "number"}}),
    record({"kind": {"const": "box"}, "width": {"type": "number"}, "height": {"type": "number"}}),
    record({"kind": {"const": "text"}, "text": {"type": "string", "maxLength": 200}, "bold": {"type": "boolean"}})]}}
WEATHER = record({
    "location": record({"city": TEXT, "country": {"type": "string", "minLength": 2, "maxLength": 2},
                        "latitude": {"type": "number", "minimum": -90, "maximum": 90},
                        "longitude": {"type": "number", "minimum": -180, "maximum": 180}}),
    "unit": {"enum": ["celsius", "fahrenheit"]},
    "days": {"type": "array", "minItems": 1, "maxItems": 7,
             "items": record({"day": {"type": "string", "format": "date"}, "high": {"type": "integer"}, "low": {"type": "integer"},
                              "sky": {"enum": ["clear", "cloudy", "rain", "snow", "fog"]}, "note": {"type": ["string", "null"]}})}})
OPEN = {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}, "name": TEXT},
        "required": ["id"], "additionalProperties": {"type": ["string", "integer", "boolean"]}}
LONG = record({"title": {"type": "string", "minLength": 5, "maxLength": 120}, "body": {"type": "string", "maxLength": 100000},
               "keywords": {"type": "array", "items": {"type": "string", "maxLength": 30}, "maxItems": 1000}})
NAMES = record({f"measurement_of_{kind}": record({f"{side}_{what}": {"type": "integer"} for side in ("left", "right")
                                                  for what in ("temperature", "pressure", "humidity")})
                for kind in ("the_living_room", "the_kitchen_window", "the_garden_house")})
FORMATS = record({"at": {"type": "string", "format": "date-time"}, "from": {"type": "string", "format": "ipv4"},
                  "takes": {"type": "string", "format": "duration"}, "host": {"type": "string", "format": "hostname"},
                  "page": {"type": "string", "format": "uri"}})
REPORT = record({"summary": TEXT, "steps": {"type": "array", "items": record({"explanation": TEXT, "output": TEXT})},
                 "final_answer": {"anyOf": [TEXT, {"type": "null"}]}, "confidence": {"enum": ["low", "medium", "high"]}})

_STORY = ("The lighthouse keeper climbed the stairs at seven in the morning. He cleaned the lamp, \"as always\", filled the tank "
          "with oil and wrote the weather into the book.\nThe wind came from the west; it was 4 °C.")

CASES = {
    "person": (PERSON, [
        {"name": "Ada Lovelace", "age": 36, "tags": ["red", "blue"], "text": "She wrote the first program.", "ok": True},
        {"name": "Jürgen Ördög", "age": 7, "text": _STORY}]),
    "order": (ORDER, [
        {"number": "AB-204711", "date": "2024-02-29", "customer": {"name": "Miller & Sons", "mail": "info@miller.example"},
         "lines": [{"article": "Bolt M8, steel", "pieces": 250, "price": 0.12},
                   {"article": "Paint \"sea green\"", "pieces": 3, "price": 14.5}], "total": 73.5}]),
    "tree": (TREE, [
        {"label": "animals", "below": [{"label": "birds", "below": [{"label": "owl", "below": []}, {"label": "wren", "below": []}]},
                                       {"label": "fish", "below": []}]}]),
    "shapes": (SHAPES, [
        [{"kind": "circle", "radius": 2.5}, {"kind": "box", "width": 10, "height": -3},
         {"kind": "text", "text": "Hello, world", "bold": False}, {"kind": "circle", "radius": 1e-7}]]),
    "weather": (WEATHER, [
        {"location": {"city": "Reykjavík", "country": "IS", "latitude": 64.1466, "longitude": -21.9426}, "unit": "celsius",
         "days": [{"day": "2024-11-03", "high": 4, "low": -2, "sky": "rain", "note": None},
                  {"day": "2024-11-04", "high": 1, "low": -5, "sky": "snow", "note": "roads may be closed"}]}]),
    "open": (OPEN, [
        {"id": "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "name": "sensor 12", "floor": 3, "building": "north wing", "active": True}]),
    "long": (LONG, [
        {"title": "Keeping a light", "body": _STORY * 3, "keywords": ["sea", "lamp", "weather", "keeper of the light"]}]),
    "names": (NAMES, [
        {key: {name: 10 * i + j for j, name in enumerate(NAMES["properties"][key]["properties"])}
         for i, key in enumerate(NAMES["properties"])}]),
    "formats": (FORMATS, [
        {"at": "2024-05-17T08:30:00Z", "from": "192.168.0.17", "takes": "PT1H30M", "host": "sensors.example.org",
         "page": "https://example.org/a/b?c=d"}]),
    "report": (REPORT, [
        {"summary": "Solve 8x + 7 = -23.",
         "steps": [{"explanation": "Subtract 7 from both sides.", "output": "8x = -30"},
                   {"explanation": "Divide both sides by 8.", "output": "x = -30 / 8"}],
         "final_answer": "x = -3.75", "confidence": "high"}]),
    "commands": (COMMANDS, [
        {"action": "set", "device": "lights", "room": "kitchen", "brightness": 30},
        {"action": "start", "device": "timer", "label": "pasta", "for": "PT9M30S"},
        {"action": "close", "device": "blinds", "at": "21:30"}]),
}
