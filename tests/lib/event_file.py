#!/usr/bin/env python3
"""Reads an event file of TensorBoard by the descriptions of its parts alone: records of TFRecord with their masked CRC-32C,
and the fields of the protocol buffers Event, Summary and Summary.Value that scalars need.

    event_file.py FILE LOG...   the file has exactly the numbers of the logs' lines, to float32, line by line
"""
import json
import math
import struct
import sys

TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
    TABLE.append(i)


def masked_checksum(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        length, checksum = struct.unpack_from("<QI", data, at)
        assert checksum == masked_checksum(data[at:at + 8]), f"the length at byte {at}"
        body = data[at + 12:at + 12 + length]
        assert len(body) == length, f"half a record at byte {at}"
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked_checksum(body), f"the data at byte {at}"
        yield body
        at += 16 + length


def fields(data):
    """Number and content of each field of a message."""
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            content = varint()
        else:
            length = {1: 8, 5: 4}.get(key & 7) or (varint() if key & 7 == 2 else 1 / 0)
            content, at = data[at:at + length], at + length
        yield key >> 3, content
    assert at == len(data)


def events(data):
    """Of each event but the first, which has the version: its step, and its scalars in their order."""
    for i, record in enumerate(records(data)):
        parts = dict(fields(record))
        assert 1e9 < struct.unpack("<d", parts[1])[0] < 1e10, "the time is no time of these years"
        if i == 0:
            assert parts.keys() == {1, 3} and parts[3] == b"brain.Event:2", parts
            continue
        scalars = []
        for number, value in fields(parts[5]):
            assert number == 1
            value = dict(fields(value))
            assert value.keys() == {1, 2}
            scalars.append((value[1].decode(), struct.unpack("<f", value[2])[0]))
        yield parts[2], scalars


def numbers(value, name=""):
    """Of a line of the log, objects in it as NAME/MEMBER."""
    names = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    for key, member in value.items():
        if isinstance(member, dict):
            yield from numbers(member, f"{name}{key}/")
        elif isinstance(member, (int, float)):
            yield name + key, member
        elif isinstance(member, str) and member in names:
            yield name + key, names[member]


def single(number):
    """The nearest float32, as its bytes; NaN as one NaN."""
    try:
        return "NaN" if math.isnan(number) else struct.pack("<f", number)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, number))


def main():
    with open(sys.argv[1], "rb") as file:
        found = list(events(file.read()))
    lines = [json.loads(line) for path in sys.argv[2:] for line in open(path)]
    assert len(found) == len(lines), f"{len(found)} events of {len(lines)} lines"
    for (step, scalars), line in zip(found, lines):
        wanted = dict(numbers(line))
        assert step == wanted.pop("step"), (step, line)
        assert len(dict(scalars)) == len(scalars), "a scalar is given twice"
        assert {n: single(v) for n, v in scalars} == {n: single(v) for n, v in wanted.items()}, (step, scalars, line)
    print(f"{len(found)} events with {sum(len(s) for _, s in found)} scalars")


if __name__ == "__main__":
    main()
