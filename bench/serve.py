"""Peers of benchmarks: processes that stay alive and answer requests, a JSON object a line, until the input ends."""
import json
import os
import sys


def serve(peer):
    """A request {"do": NAME, ...} is answered by what peer.NAME(request) returns; a failure by {"error": text}, which
    loses a row, not the run."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(peer, request["do"])(request)
        except Exception as error:
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(answer), file=answers, flush=True)
