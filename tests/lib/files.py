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
