"""Takes the PTX out of an executable: ptx.py EXECUTABLE FOLDER writes FOLDER/N.ptx."""
import os, re, sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
texts = re.findall(rb"(?://[^\n\0]*\n|\n)*\.version [0-9.]+\n[^\0]+", data)
if not texts:
    sys.exit("there is no PTX")
for number, text in enumerate(texts):
    with open(os.path.join(sys.argv[2], f"{number}.ptx"), "wb") as file:
        file.write(text)
