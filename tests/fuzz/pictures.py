#!/usr/bin/env python3
"""Writes tests/fuzz/pictures.txt, small pictures of all kinds as seeds of fuzzing: a line each, its name and base64.

    pictures.py > pictures.txt      needs Pillow"""
import base64
import io

from PIL import Image

grey = Image.new("L", (19, 14))
grey.putdata([(7 * x * y + 5 * x) % 256 for y in range(14) for x in range(19)])
colour = Image.merge("RGB", (grey, grey.rotate(180), grey.transpose(Image.Transpose.FLIP_TOP_BOTTOM)))
clear = colour.copy()
clear.putalpha(grey)
exif = Image.Exif()
exif[0x0112] = 6
smooth = Image.linear_gradient("L").resize((90, 70))

PICTURES = (
    ("grey", grey, "JPEG", {}), ("444", colour, "JPEG", {"subsampling": 0}), ("422", colour, "JPEG", {"subsampling": 1}),
    ("420", colour, "JPEG", {"subsampling": 2, "quality": 20}), ("progressive", colour, "JPEG", {"progressive": True}),
    ("restarts", colour, "JPEG", {"restart_marker_blocks": 1}), ("turned", colour, "JPEG", {"exif": exif.tobytes()}),
    ("printing", colour.convert("CMYK"), "JPEG", {}), ("reduced", smooth, "JPEG", {"quality": 10}), ("plain", colour, "PNG", {}),
    ("clear", clear, "PNG", {}), ("palette", colour.quantize(9), "PNG", {"transparency": 3}), ("bits", grey.convert("1"), "PNG", {}),
    ("deep", grey.convert("I;16"), "PNG", {}), ("turned", grey, "PNG", {"exif": exif.tobytes()}))
for name, picture, kind, arguments in PICTURES:
    file = io.BytesIO()
    picture.save(file, kind, **arguments)
    print(f"{kind.lower()}-{name} {base64.b64encode(file.getvalue()).decode()}")
