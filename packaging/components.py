# SPDX-License-Identifier: Apache-2.0
"""What other people's code is in a program of mote: their licences, and an SPDX document."""
import hashlib
import json
import pathlib
import subprocess
import time
import uuid
from typing import Any, Dict, List, Tuple

from archives import Files, epoch

# Of each component: the Debian package that has it, its licence and what of mote holds it.
_ALL = [
    ("FlatBuffers", "libflatbuffers-dev", "Apache-2.0", "headers"),
    ("fmt", "libfmt-dev", "MIT", "headers"),
    ("JSON for Modern C++", "nlohmann-json3-dev", "MIT", "headers"),
    ("utf8proc", "libutf8proc-dev", "MIT AND Unicode-DFS-2015", "archive"),
    ("libpng", "libpng-dev", "libpng-2.0", "archive"),
    ("libjpeg-turbo", "libjpeg62-turbo-dev", "IJG AND BSD-3-Clause AND Zlib", "archive"),
    ("zlib", "zlib1g-dev", "Zlib", "archive"),
    ("FLAC", "libflac-dev", "BSD-3-Clause", "archive"),
    ("Vorbis", "libvorbis-dev", "BSD-3-Clause", "archive"),
    ("Ogg", "libogg-dev", "BSD-3-Clause", "archive"),
    ("Opus", "libopus-dev", "BSD-3-Clause", "archive"),
    ("opusfile", "libopusfile-dev", "BSD-3-Clause", "archive"),
    ("libstdc++", "libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", "archive"),
]
_COMMAND = [("CLI11", "libcli11-dev", "BSD-3-Clause", "headers")]
_LINUX = [("libwebp", "libwebp-dev", "BSD-3-Clause", "archive"),
          ("GNU C Library", "libc6-dev", "LGPL-2.1-or-later", "archive")]
_WINDOWS = [("MinGW-w64", "mingw-w64-x86-64-dev", "ZPL-2.1 AND MIT", "archive")]
_DOCUMENTS = pathlib.Path("/usr/share/doc")


def _version(package: str) -> str:
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    return subprocess.run(query, stdout=subprocess.PIPE, check=True, text=True).stdout


def components(architecture: str) -> List[Tuple[str, str, str, str]]:
    """Returns the components of the static command and the libraries."""
    return _ALL + _COMMAND + (_WINDOWS if architecture == "windows" else _LINUX)


def licence_files(architecture: str, prefix: str) -> Files:
    """Returns the texts of the components' licences, as Debian has them, and mote's own."""
    files: Files = {prefix + "LICENSE": (pathlib.Path("LICENSE").read_bytes(), False)}
    for _, package, _, _ in components(architecture):
        files[f"{prefix}{package}.txt"] = ((_DOCUMENTS / package / "copyright").read_bytes(), False)
    return files


def _package(identity: str, name: str, version: str, licence: str, supplier: str) -> Dict[str, Any]:
    return {"SPDXID": identity, "name": name, "versionInfo": version, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "supplier": supplier}


def sbom(name: str, version: str, files: Files, architecture: str) -> bytes:
    """Returns an SPDX 2.3 document on the files of an artifact and the components in them."""
    whole = hashlib.sha256(b"".join(name.encode() + files[name][0] for name in sorted(files))).hexdigest()
    packages = [_package("SPDXRef-mote", "mote", version, "Apache-2.0", "Organization: The mote authors")]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-mote"}]
    for title, package, licence, _ in components(architecture):
        identity = f"SPDXRef-{package.replace('+', 'p')}"
        packages.append(_package(identity, title, _version(package), licence, "Organization: Debian"))
        relations.append({"spdxElementId": "SPDXRef-mote", "relationshipType": "CONTAINS", "relatedSpdxElement": identity})
    listed = []
    for number, file in enumerate(sorted(files)):
        listed.append({"SPDXID": f"SPDXRef-file-{number}", "fileName": f"./{file}", "copyrightText": "NOASSERTION",
                       "licenseConcluded": "NOASSERTION",
                       "checksums": [{"algorithm": one, "checksumValue": hashlib.new(one.lower(), files[file][0]).hexdigest()}
                                     for one in ("SHA1", "SHA256")]})
        relations.append({"spdxElementId": "SPDXRef-mote", "relationshipType": "CONTAINS",
                          "relatedSpdxElement": f"SPDXRef-file-{number}"})
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, name + whole)}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch())),
                         "creators": ["Organization: The mote authors", "Tool: scripts/release"]},
        "packages": packages, "files": listed, "relationships": relations,
    }
    return (json.dumps(document, indent=1) + "\n").encode()
