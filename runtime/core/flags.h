/* The command line of the executable, as far as the compiler must know it; both read this file.
 *
 * First the flags, by name: an option of the program may not be called as one of them (options.c has what each does). */
#ifndef NNC_FLAGS_H
#define NNC_FLAGS_H

#define NNC_FLAG_NAMES                                                                             \
  "data", "out", "epochs", "steps", "seed", "threads", "device", "resident", "group", "init",      \
      "resume", "schedule", "save-every", "keep", "patience", "best", "confusion", "per-class",    \
      "calibration", "wrong", "validate-every", "log", "to", "tensorboard", "report-live",         \
      "keep-going", "check-numerics", "format", "npy", "png", "only", "count", "json", "all",      \
      "ahead", "data-only", "predict", "cache", "trace", "warmup", "no-bound", "inputs", "eval",   \
      "isa", "jobs", "over", "batch", "top", "prompt", "length", "temperature", "top-k", "top-p",  \
      "stop", "names", "quiet", "help", "version"

/* Those of the command generate alone, which a program without that block may have for its options. */
#define NNC_GENERATE_FLAG_NAMES "prompt", "length", "temperature", "top-k", "top-p", "stop"

/* The commands, which `nnc train net.net` takes for its own; step is for tests. */
#define NNC_COMMAND_NAMES                                                                          \
  "train", "sweep", "eval", "predict", "generate", "report", "info", "bench", "profile", "export", \
      "step"

/* The most that --threads takes, of the executable and of nnc. */
enum { NNC_MAX_THREADS = 1024 };

/* The most options of one program. */
enum { NNC_MAX_OPTIONS = 64 };

#endif
