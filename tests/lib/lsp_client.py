"""A client of `nnc lsp`: requests and answers over its standard input and output."""
import json
import os
import select
import subprocess
import time
import urllib.parse


SILENCE = 60  # seconds after which an answer is not waited for


def uri_of(path):
    return "file://" + urllib.parse.quote(os.path.abspath(path))


class Client:
    def __init__(self, nnc, encodings=None, initialize=True, env=None, capabilities=None):
        self.process = subprocess.Popen([nnc, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=env)
        self.next_id, self.buffer, self.notes, self.versions = 1, b"", [], {}
        if initialize:
            document = {"hover": {"contentFormat": ["markdown", "plaintext"]},
                        "publishDiagnostics": {"relatedInformation": True}, **(capabilities or {})}
            general = {"positionEncodings": encodings} if encodings else {}
            self.server = self.ask("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": {
                "general": general, "textDocument": document}})
            self.tell("initialized", {})

    # ---- messages ----

    def send_bytes(self, data):
        while data:
            data = data[os.write(self.process.stdin.fileno(), data):]

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def receive(self):
        """The next message of the server; None at its end."""
        while True:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if found:
                length = int(head.split(b":")[1])
                if len(rest) >= length:
                    self.buffer = rest[length:]
                    return json.loads(rest[:length])
            ready, _, _ = select.select([self.process.stdout], [], [], SILENCE)
            piece = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not piece:
                return None
            self.buffer += piece

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def post(self, method, params):
        """Sends a request; its number."""
        self.send({"id": self.next_id, "method": method, "params": params})
        self.next_id += 1
        return self.next_id - 1

    def wait(self, number):
        """The answer to a request, whole; what comes meanwhile is kept in `notes`."""
        while True:
            message = self.receive()
            if message is None or (message.get("id") == number and "method" not in message):
                return message
            self.notes.append(message)

    def ask(self, method, params):
        answer = self.wait(self.post(method, params))
        return answer["result"] if answer and "result" in answer else answer

    # ---- documents ----

    def open(self, uri, text):
        self.versions[uri] = 1
        self.notes = [note for note in self.notes if note.get("params", {}).get("uri") != uri]
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "nnc", "version": 1, "text": text}})

    def change(self, uri, *changes):
        self.versions[uri] += 1
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": self.versions[uri]},
                                             "contentChanges": [c if isinstance(c, dict) else {"text": c} for c in changes]})

    def close(self, uri):
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri):
        """Those of the document's present version."""
        while True:
            for i, note in enumerate(self.notes):
                params = note.get("params", {})
                if note.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri \
                        and params.get("version") == self.versions[uri]:
                    del self.notes[i]
                    return params["diagnostics"]
            message = self.receive()
            if message is None:
                return None
            self.notes.append(message)

    def at(self, method, uri, line, character, **more):
        return self.ask("textDocument/" + method,
                        {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more})

    def end(self):
        """Says good-bye; the server's exit status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.stdin.close()
        return self.process.wait(timeout=20)


def place_of(text, needle, nth=0, offset=0):
    """Line and character (in UTF-16) of the nth occurrence of a text."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(needle, at + 1)
    before = text[:at + offset]
    return before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2


def timed(call):
    begin = time.perf_counter()
    result = call()
    return result, time.perf_counter() - begin
