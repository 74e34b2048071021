"""The processes of PyTorch (peer.py) that gpu.py times beside our executables.

They are built in the background, a few at a time and within the GPU's memory, while the correctness is checked:
compiling a network takes PyTorch up to minutes. While something is timed, those that are still being built are
stopped (SIGSTOP), and those that are ready wait for a request, so nothing else computes."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WAITING, BUILDING, READY, FAILED, ENDED = "waiting", "building", "ready", "failed", "ended"


class Peer:
    """One process; `words` are the arguments of peer.py, `gigabytes` what it may hold at its greatest."""

    def __init__(self, words, gigabytes, log):
        self.words, self.gigabytes, self.log = words, gigabytes, log
        self.state, self.first, self.reason = WAITING, None, "was not started within the time"
        self.process = None
        self.answered = threading.Condition()
        self.asked, self.replies = 0, {}  # replies that came too late stay behind

    def start(self, environment):
        self.state, self.reason = BUILDING, "was not built within the time"
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "peer.py"), *self.words], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        env=environment, start_new_session=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            with self.answered:
                found = json.loads(line)
                if self.state == BUILDING:
                    self.first = found
                    self.state = READY if "ready" in found else FAILED
                    self.reason = found.get("failed")
                else:
                    self.replies[found["number"]] = found
                self.answered.notify_all()
        with self.answered:
            if self.state in (BUILDING, READY):
                self.state, self.reason = FAILED, f"ended with status {self.process.wait()}"
            self.answered.notify_all()

    def ask(self, request, timeout):
        """The reply, or None: too late, or it has ended."""
        with self.answered:
            if self.state != READY:
                return None
            self.asked += 1
            try:
                self.process.stdin.write(json.dumps(dict(request, number=self.asked)) + "\n")
                self.process.stdin.flush()
            except OSError:
                return None
            self.answered.wait_for(lambda: self.asked in self.replies or self.state != READY, timeout)
            return self.replies.pop(self.asked, None)

    def signal(self, number):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def end(self):
        """For good; a peer that was ready or failed keeps what it said."""
        if self.state not in (FAILED, ENDED):
            self.reason = self.reason or "ended"
            self.state = ENDED
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()


class Peers:
    def __init__(self, gigabytes, at_once, log):
        """`gigabytes`: that all may hold together; None: no limit. `at_once`: how many are built side by side."""
        self.gigabytes, self.at_once, self.log = gigabytes, at_once, log
        self.all = []
        self.lock = threading.Lock()
        self.is_paused, self.is_closed = False, False
        self.environment = dict(os.environ, TORCHINDUCTOR_COMPILE_THREADS="2", OMP_NUM_THREADS="2")

    def add(self, words, gigabytes):
        peer = Peer(words, gigabytes, self.log)
        self.all.append(peer)
        return peer

    def start(self):
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while not self.is_closed:
            with self.lock:
                if not self.is_paused:
                    self.start_next()
            time.sleep(0.1)

    def held(self):
        """An eager one that waits for its turn has given back what its steps need."""
        share = lambda peer: 0.25 if peer.state == READY and "eager" in peer.words else 1
        return sum(share(peer) * peer.gigabytes for peer in self.all if peer.state in (BUILDING, READY))

    def start_next(self):
        """The first that waits and for which there is room; one that is too big has its turn when all are gone."""
        building = sum(peer.state == BUILDING for peer in self.all)
        for peer in self.all:
            held = self.held()
            fits = self.gigabytes is None or held + peer.gigabytes <= self.gigabytes or held == 0
            if peer.state == WAITING and building < self.at_once and fits:
                try:
                    peer.start(self.environment)
                except OSError as error:
                    peer.state, peer.reason = FAILED, str(error)
                return

    def pause(self):
        with self.lock:
            self.is_paused = True
            for peer in self.all:
                if peer.state == BUILDING:
                    peer.signal(signal.SIGSTOP)
        time.sleep(0.3)  # what they have put into the GPU's queues ends

    def go_on(self):
        with self.lock:
            for peer in self.all:
                peer.signal(signal.SIGCONT)
            self.is_paused = False

    def close(self):
        self.is_closed = True
        with self.lock:
            for peer in self.all:
                peer.end()
