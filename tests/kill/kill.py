"""Kills and starves training runs, resumes them and compares them with an uninterrupted one.

    kill.py FOLDER [--rounds N] [--seed N]      FOLDER holds digits, steered, sharded (executables) and data/

Each round saves after every one to three steps and ends the run by SIGKILL several times, at random instants
and inside a save (the process is stopped, its unfinished file looked for, then it is killed). The number of
threads changes at each start. In the end the checkpoint must be the same byte for byte, the log line by line
but for its times, and nothing else may lie in the folder. Then the disk is full for a while. `steered` keeps its best and its last checkpoints, too, and stops
in time: all its files must be the same. `sharded` reads augmented and mixed pictures from tar archives, which are made here of
the digits in data/."""
import argparse, errno, io, os, random, re, resource, shutil, signal, struct, subprocess, sys, tarfile, time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import files  # noqa: E402
from checks import check, summary  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
os.chdir(options.folder)
draw = random.Random(options.seed)
KILLS = 4  # a round
EPOCHS = 12  # of 40 steps
GLANCE = 1e-4  # seconds between two looks at a run's files: a save takes longer, and the run needs the processor
CHECKPOINT = "checkpoint.safetensors"

# ---- runs ----

program, whole = "./digits", "whole"


def command(out, *flags):
    resume = ["--resume"] if os.path.exists(f"{out}/{CHECKPOINT}") else []
    return [program, "--data", "data", "--out", out, "--epochs", str(EPOCHS), "-q",
            f"-j{draw.randint(1, 3)}", *resume, *flags]


def start(words, **more):
    errors = open("errors", "wb")
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, **more)


def said():
    with open("errors", errors="replace") as file:
        return file.read().strip()


def plain_log(out):
    with open(f"{out}/log.jsonl") as file:
        return re.sub(r'"(seconds|data_wait)":[0-9.]+,|,"command":\[[^]]*\]', "", file.read())


def checkpoints(out):
    """By name."""
    found = [os.path.join(at, name) for at, _, names in os.walk(out) for name in names]
    return {os.path.relpath(file, out): open(file, "rb").read() for file in found if file.endswith(".safetensors")}


def same(name, out):
    """The run in `out` ended like the one in `whole`."""
    ours, wanted = checkpoints(out), checkpoints(whole)
    check(f"{name}: equal checkpoints", ours == wanted,
          [file for file in {**ours, **wanted} if ours.get(file) != wanted.get(file)])
    check(f"{name}: equal logs", plain_log(out) == plain_log(whole))
    names = set(os.listdir(out)) - {"log.previous.jsonl"}  # of a start that was killed before its first save
    check(f"{name}: nothing else in the folder", names == set(os.listdir(whole)), str(names))


def finish(name, out, *flags):
    child = start(command(out, *flags))
    if check(f"{name}: goes on to the end", child.wait() == 0, f"exit {child.returncode}: {said()}"):
        same(name, out)


# ---- killing ----

def stop(child):
    """Stopped at an instant; False when it has ended."""
    child.send_signal(signal.SIGSTOP)
    pid, status = os.waitpid(child.pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return True
    child.returncode = os.waitstatus_to_exitcode(status)
    return False


def kill_at(child, seconds):
    """True when it was still running then."""
    try:
        child.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return True


def kill_in_save(child, out, seconds):
    """The same inside a save after that time."""
    unfinished = f"{out}/{CHECKPOINT}.tmp"
    time.sleep(seconds)
    while child.poll() is None:
        if not os.path.exists(unfinished):
            time.sleep(GLANCE)
            continue
        if not stop(child):
            return False
        if os.path.exists(unfinished):
            child.kill()
            child.wait()
            return True
        child.send_signal(signal.SIGCONT)
    return False


def kill_after_save(child, out, seconds):
    """The same when a new checkpoint has just got its name: the links to it come next."""
    def inode():
        try:
            return os.stat(f"{out}/{CHECKPOINT}").st_ino
        except FileNotFoundError:
            return 0

    time.sleep(seconds)
    before = inode()
    while child.poll() is None:
        if inode() != before:
            child.kill()
            return child.wait() != 0
        time.sleep(GLANCE)
    return False


def play_round(number, *steer):
    out, counts = f"round{number}", [0, 0]
    flags = steer or ["--save-every", str(draw.randint(1, 3))]
    for kill in range(KILLS):
        in_save = draw.random() < 0.5
        child = start(command(out, *flags))
        seconds = draw.uniform(0, 0.3 * duration)
        kill_save = kill_after_save if steer and draw.random() < 0.5 else kill_in_save
        killed = kill_save(child, out, seconds) if in_save else kill_at(child, seconds)
        counts[in_save] += killed
        if not killed:
            check(f"round {number}: ends well", child.returncode == 0, f"exit {child.returncode}: {said()}")
            break
    finish(f"round {number} ({' '.join(flags)}, {sum(counts)} kills)", out, *flags)
    shutil.rmtree(out)
    return counts


# A new run in the folder of another: whenever it is killed, the other's result is still there.
def play_replacement():
    with open(f"whole/{CHECKPOINT}", "rb") as file:
        whole = file.read()
    shutil.copytree("whole", "again")
    words = ["./digits", "--data", "data", "--out", "again", "--seed", "2", "--save-every", "1", "-q"]
    killed = kill_in_save(start(words), "again", 0)
    check("a new run is killed in its first save", killed, said())
    kept = [open(f"again/{name}", "rb").read() for name in os.listdir("again") if name.endswith("safetensors")]
    check("... and the old checkpoint is whole", whole in kept)
    shutil.rmtree("again")


# ---- full disks ----

def wait_for_failure(child, text):
    """Stopped after its first failed save."""
    while child.poll() is None:
        if text in said():
            return stop(child)
        time.sleep(GLANCE)
    return False


# A run after its first failed save, stopped. A busy machine may let it end before that; then once more.
def start_starved(name, out, text, before=None, **more):
    for attempt in range(10):
        shutil.rmtree(out, ignore_errors=True)
        if before:
            before()
        child = start(command(out, "--save-every", "3"), **more)
        if wait_for_failure(child, text):
            check(f"{name}: a failed save is no end", True)
            return child
        if text not in said():
            break
    check(f"{name}: a failed save is no end", False, f"exit {child.returncode}: {said()}")
    return None


def starve(name, out, text, give_space, **more):
    child = start_starved(name, out, text, **more)
    if not child:
        return
    give_space(child)
    child.send_signal(signal.SIGCONT)
    if check(f"{name}: goes on when space returns", child.wait() == 0, f"exit {child.returncode}: {said()}"):
        same(name, out)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, resource.RLIM_INFINITY))


def unlimit(child):
    resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def play_limit():
    too_large = os.strerror(errno.EFBIG)
    starve("a limit of file sizes", "limited", too_large, unlimit, preexec_fn=limit_files)
    # the same, killed while nothing can be saved, after a checkpoint

    def make_checkpoint():
        kill_in_save(start(command("starved", "--save-every", "3")), "starved", duration / 10)

    name = "a full disk, then a kill"
    child = start_starved(name, "starved", too_large, make_checkpoint, preexec_fn=limit_files)
    if child:
        child.kill()
        child.wait()
        finish(name, "starved")


def mount(*words):
    return subprocess.run(["mount", *words], stderr=subprocess.DEVNULL).returncode == 0


def play_small_disk():
    os.mkdir("disk")
    room = f"size={size * 3 // 2 // 4096 * 4096 + 3 * 4096}"  # one checkpoint and a log, not two
    if not mount("-t", "tmpfs", "-o", room, "tmpfs", "disk"):
        print("(no tmpfs can be mounted here: only the limit of file sizes was tried)")
        return
    starve("a full disk", "disk/run", os.strerror(errno.ENOSPC),
           lambda child: mount("-o", "remount,size=64m", "disk") or sys.exit("cannot enlarge the disk"))
    subprocess.run(["umount", "disk"], check=True)


# ---- all ----

def run_whole(out, *flags):
    begin = time.monotonic()
    child = start(command(out, *flags))
    if child.wait() != 0:
        sys.exit(f"the whole run fails: {said()}\n0 passed, 1 failed")
    return time.monotonic() - begin


def play_steered():
    """Kills while the best and the last checkpoints are kept; those of the last are at fixed steps."""
    global program, whole, duration
    program, whole = "./steered", "whole_steered"
    duration = run_whole(whole)
    names = set(os.listdir(whole)) | {name.split("-")[0] for name in os.listdir(f"{whole}/kept")}
    check("a steered run keeps its best and its last", {"best.safetensors", "best", "step"} <= names, names)
    with open(f"{whole}/log.jsonl") as file:
        check("... and stops in time", '"stopped":"patience"' in file.readlines()[-1])
    return [play_round(f"{number}, steered", f"--log=round{number}, steered/log.jsonl")
            for number in range(1, 2 * options.rounds + 1)]


def make_shards():
    """Four archives of 100 digits, each with its class and a number."""
    pixels = open("data/train-images-idx3-ubyte", "rb").read()[16:]
    classes = open("data/train-labels-idx1-ubyte", "rb").read()[8:]
    for shard, name in enumerate(("drawn-0", "drawn-1", "drawn-2", "more")):
        with tarfile.open(f"data/{name}.tar", "w") as archive:
            for i in range(100 * shard, 100 * shard + 100):
                picture = files.png(28, 28, 1, pixels[784 * i:784 * (i + 1)])
                for kind, content in (("png", picture), ("cls", b"%d" % classes[i]),
                                      ("weight.npy", files.npy("<f4", (), struct.pack("<f", i * 7 % 30)))):
                    info = tarfile.TarInfo(f"{i:04}.{kind}")
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))


def play_sharded():
    global program, whole, duration
    program, whole = "./sharded", "whole_sharded"
    make_shards()
    run_whole(whole)
    duration = run_whole("timed_sharded", "--save-every", "2")
    return [play_round(f"{number}, sharded", f"--save-every={draw.randint(1, 3)}") for number in range(1, options.rounds + 1)]


duration = run_whole("timed", "--save-every", "2")
run_whole("whole")
size = os.path.getsize(f"whole/{CHECKPOINT}")
counts = [play_round(number) for number in range(1, options.rounds + 1)]
play_replacement()
play_limit()
play_small_disk()
steered = play_steered()
check("steered runs were killed, too", sum(map(sum, steered)) >= 4 * options.rounds, steered)
counts += steered
sharded = play_sharded()
check("runs of shards were killed, too", sum(map(sum, sharded)) >= 2 * options.rounds, sharded)
counts += sharded
at_random, in_saves = (sum(count) for count in zip(*counts))
check("runs were killed at random instants and in saves", at_random > 0 and in_saves > 0,
      f"{at_random} and {in_saves}; the run took {duration:.2f} s")
print(f"{len(counts)} rounds: {at_random} kills at random instants, {in_saves} in a save; {sum(map(sum, sharded))} of runs of shards")
summary()
