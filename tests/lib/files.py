"""Files of data, written by Python's own modules: NumPy's arrays and pictures."""
import struct
import zlib


def npy(descr, shape, values, order=False):
    head = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + values


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(height, width, channels, pixels):
    """Rows of pixels from the top, of 1 channel (grey) or 3."""
    step = width * channels
    rows = b"".join(b"\0" + pixels[y * step:(y + 1) * step] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def scanlines(rows, bits):
    """Rows of numbers as PNG has them: no filter, the first number in the highest bits of a byte."""
    out = b""
    for row in rows:
        text = "".join(f"{value:0{bits}b}" for value in row)
        text += "0" * (-len(text) % 8)
        out += b"\0" + bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
    return out


# Interlacing: the first row and column of each pass, and the steps (PNG specification, 8.2).
PASSES = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def palette_png(rows, bits, colors, transparency=b"", interlaced=False):
    """A PNG file of indices, rows from the top, of `bits` each; three bytes a colour."""
    if interlaced:
        passes = [[row[left::across] for row in rows[top::down]] for top, left, down, across in PASSES]
        body = b"".join(scanlines([row for row in part if row], bits) for part in passes)
    else:
        body = scanlines(rows, bits)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, 3, 0, 0, int(interlaced))
    parts = [(b"IHDR", head), (b"PLTE", colors)] + ([(b"tRNS", transparency)] if transparency else [])
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts + [(b"IDAT", zlib.compress(body)), (b"IEND", b"")])
