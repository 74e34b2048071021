"""The SHA-256 of the pixels of PNG files (8 bits, RGB), read by zlib and the five filters alone: png_pixels.py FILE..."""
import hashlib
import struct
import sys
import zlib


def unfilter(kind, row, above):
    for i in range(len(row)):
        left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
        up = above[i]
        near = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
        row[i] = (row[i] + (0, left, up, (left + up) // 2, near)[kind]) & 255
    return row


def pixels(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", body)
            assert form == [8, 2, 0, 0, 0], "8 bits, RGB, not interlaced"
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, stride, rows = zlib.decompress(packed), 3 * width + 1, [bytes(3 * width)]
    for y in range(height):
        line = raw[y * stride:(y + 1) * stride]
        rows.append(unfilter(line[0], bytearray(line[1:]), rows[-1]))
    return b"".join(rows[1:])


for name in sys.argv[1:]:
    print(hashlib.sha256(pixels(name)).hexdigest(), name, sep="  ")
