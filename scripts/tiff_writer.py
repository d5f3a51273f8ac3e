# SPDX-License-Identifier: Apache-2.0
"""Writes TIFF files of kinds that Pillow does not write, for make_written_picture_formats."""
import struct
import zlib

import numpy

II, MM = "<", ">"  # orders of bytes


def tiff(samples, photometric, *, order=II, bits=None, sample_format=1, extras=(), tile=None, planes=False, palette=None, deflate=False,
         turn=None, xmp=None, big=False, rows_per_strip=5, packed=None):
    """A TIFF of samples [height, width, channels]; `packed`: the rows as bytes, of fewer bits than 8."""
    height, width, channels = samples.shape
    bits = bits or samples.dtype.itemsize * 8
    raw = samples.astype(samples.dtype.newbyteorder(order))
    parts = []

    def add(part):
        data = b"".join(packed(row) for row in part) if packed else numpy.ascontiguousarray(part).tobytes()
        parts.append(zlib.compress(data) if deflate else data)

    for plane in ([raw[:, :, i:i + 1] for i in range(channels)] if planes else [raw]):
        if tile:
            across, down = -(-width // tile), -(-height // tile)
            padded = numpy.zeros((down * tile, across * tile, plane.shape[2]), raw.dtype)
            padded[:height, :width] = plane
            for y in range(down):
                for x in range(across):
                    add(padded[y * tile:(y + 1) * tile, x * tile:(x + 1) * tile])
        else:
            for y in range(0, height, rows_per_strip):
                add(plane[y:y + rows_per_strip])
    offset_kind = 16 if big else 4
    tags = [(256, 4, [width]), (257, 4, [height]), (258, 3, [bits] * channels), (259, 3, [8 if deflate else 1]), (262, 3, [photometric]),
            (277, 3, [channels]), (284, 3, [2 if planes else 1]), (339, 3, [sample_format] * channels)]
    if turn:
        tags.append((274, 3, [turn]))
    if tile:
        tags += [(322, 4, [tile]), (323, 4, [tile]), (324, offset_kind, None), (325, offset_kind, [len(part) for part in parts])]
    else:
        tags += [(273, offset_kind, None), (278, 4, [rows_per_strip]), (279, offset_kind, [len(part) for part in parts])]
    if palette is not None:
        tags.append((320, 3, [int(value) for value in palette.T.reshape(-1)]))
    if extras:
        tags.append((338, 3, list(extras)))
    if xmp:
        tags.append((700, 1, list(xmp)))
    codes = {1: "B", 3: "H", 4: "I", 16: "Q"}
    header = struct.pack(order + "HHHQ", 43, 8, 0, 16) if big else struct.pack(order + "HI", 42, 8)
    entry, inline = (20, 8) if big else (12, 4)
    at = 2 + len(header) + (8 if big else 2) + entry * len(tags) + (8 if big else 4)
    late, entries = b"", []

    def pack(kind, values):
        return struct.pack(order + codes[kind] * len(values), *values)

    for name, kind, values in sorted(tags):
        count = len(parts) if values is None else len(values)
        size = count * struct.calcsize(codes[kind])
        entries.append((name, kind, values, count, size))
    for name, kind, values, count, size in entries:
        if size > inline:
            at += size + size % 2
    starts = numpy.cumsum([at] + [len(part) for part in parts]).tolist()
    late_at = 2 + len(header) + (8 if big else 2) + entry * len(tags) + (8 if big else 4)
    directory = struct.pack(order + ("Q" if big else "H"), len(tags))
    for name, kind, values, count, size in entries:
        data = pack(kind, starts[:-1] if values is None else values)
        if size > inline:
            field = struct.pack(order + ("Q" if big else "I"), late_at + len(late))
            late += data + bytes(size % 2)
        else:
            field = data.ljust(inline, b"\0")
        directory += struct.pack(order + "HH" + ("Q" if big else "I"), name, kind, count) + field
    directory += bytes(8 if big else 4)
    return (b"II" if order == II else b"MM") + header + directory + late + b"".join(parts)


def packer(bits):
    def pack(row):
        values = row.reshape(-1)
        grouped = numpy.zeros(-(-len(values) * bits // 8) * 8 // bits, numpy.uint8)
        grouped[:len(values)] = values
        whole = numpy.zeros(len(grouped) * bits // 8, numpy.uint8)
        for i in range(8 // bits):
            whole |= grouped[i::8 // bits] << (8 - bits * (i + 1))
        return whole.tobytes()
    return pack
