/* Options by table: each row says how its value is read and where it is stored. */
#include "core/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/device.h"
#include "core/flag_value.h"
#include "core/flags.h"
#include "core/pattern.h"
#include "os/cpus.h"
#include "os/message.h"
#include "os/printable.h"

enum Kind {
  KIND_FLAG,
  KIND_COUNT,
  KIND_TEXT,
  KIND_INIT,
  KIND_ONLY,
  KIND_SEED,
  KIND_RESUME,
  KIND_YES,
  KIND_INTERVAL,
  KIND_NUMBER
};

/* Short texts are in the table itself: a pointer to one takes more than the text. */
typedef struct Option {
  char name[16];
  char letter;       /* 0: none */
  uint8_t kind;      /* enum Kind */
  uint16_t offset;   /* of the field in nnc_options */
  uint16_t commands; /* bits of those that know it */
  uint8_t least;     /* KIND_COUNT */
  char value[9];     /* its name in the help; "": it takes none */
  const char *help;
} Option;

#define FIELD(field) offsetof(nnc_options, field)
enum { ALL = UINT16_MAX, TIMES = NNC_BENCH | NNC_PROFILE };
enum { TRAINS = NNC_TRAIN | NNC_SWEEP, TABLES = TRAINS | NNC_EVAL };
enum { RUNS = TRAINS | NNC_EVAL | NNC_PREDICT | NNC_GENERATE | NNC_STEP | NNC_REPORT | TIMES };
enum { NNC_MAX_DEVICE = 1023 };
enum { USES = RUNS | NNC_INFO };
enum {
  LOADS = TRAINS | NNC_EVAL | NNC_PREDICT | NNC_GENERATE | NNC_EXPORT | NNC_STEP | NNC_REPORT
};

static const Option options_table[] = {
    {"data", 'd', KIND_TEXT, FIELD(data), RUNS, 0, "DIR", "where the data files are (default: .)"},
    {"out", 'o', KIND_TEXT, FIELD(out), (LOADS | NNC_INFO) & ~NNC_STEP, 0, "DIR",
     "checkpoint and log (default: MODEL.run; info: what the data stages of that run learnt)"},
    {"epochs", 'e', KIND_COUNT, FIELD(epochs), TRAINS, 0, "N",
     "train so many epochs; 0: only initialize and save"},
    {"steps", 's', KIND_COUNT, FIELD(steps), TRAINS | NNC_STEP | NNC_REPORT | TIMES, 0, "N",
     "train (or time) so many steps (report: of the profile; 0: none)"},
    {"seed", 0, KIND_SEED, FIELD(seed), TRAINS | NNC_PREDICT | NNC_GENERATE | NNC_STEP | TIMES, 0,
     "N", "of weights, order and random operators (sweep: a list, 0..3 or 1,7)"},
    {"threads", 'j', KIND_COUNT, FIELD(threads), RUNS, 1, "N",
     "workers (default: one a core); no effect on results"},
    {"device", 0, KIND_COUNT, FIELD(device), USES | NNC_EXPORT, 0, "N",
     "the GPU to use, as nvidia-smi numbers them (default: 0)"},
    {"resident", 0, KIND_YES, FIELD(resident), TRAINS | NNC_BENCH, 0, "yes|no",
     "whether the GPU keeps the training data where they fit (default: yes)"},
    {"group", 0, KIND_COUNT, FIELD(group), TRAINS | NNC_BENCH, 1, "N",
     "small steps that go to the GPU together, at most (default: as many as take 2 ms)"},
    {"init", 'i', KIND_INIT, FIELD(init), LOADS, 0, "FILE",
     "start from the tensors of FILE that fit (eval, predict, export, report: the checkpoint to "
     "use); given again, later files go first"},
    {"resume", 'r', KIND_RESUME, FIELD(resume), TRAINS, 0, "[FILE]",
     "continue a checkpoint (default: the one in --out; sweep: the runs that are not done)"},
    {"schedule", 0, KIND_COUNT, FIELD(schedule), TRAINS, 1, "N",
     "schedules of so many epochs (or steps), whenever the run ends"},
    {"save-every", 0, KIND_INTERVAL, FIELD(save_every), TRAINS, 1, "N",
     "save each N steps, Nepochs or Nminutes (default: after epochs and validations)"},
    {"keep", 0, KIND_COUNT, FIELD(keep), TRAINS, 0, "N",
     "keep the last N checkpoints beside the newest (default: as the program says)"},
    {"patience", 0, KIND_COUNT, FIELD(patience), TRAINS, 0, "N",
     "stop after N reports without an improvement; 0: never"},
    {"best", 0, KIND_FLAG, FIELD(best), NNC_EVAL | NNC_PREDICT | NNC_GENERATE | NNC_EXPORT, 0, "",
     "take OUT/best.safetensors instead of the last checkpoint"},
    {"confusion", 0, KIND_FLAG, FIELD(class_tables.confusion), TABLES, 0, "",
     "tell how many examples of each class were taken for which"},
    {"per-class", 0, KIND_FLAG, FIELD(class_tables.per_class), TABLES, 0, "",
     "tell precision, recall, F1, AUC and average precision of each class"},
    {"calibration", 0, KIND_FLAG, FIELD(class_tables.calibration), TABLES, 0, "",
     "tell how often guesses of some probability are right"},
    {"wrong", 0, KIND_COUNT, FIELD(class_tables.wrong), TABLES, 1, "N",
     "tell the N most confidently wrong examples"},
    {"validate-every", 0, KIND_COUNT, FIELD(validate_every), TRAINS, 0, "N",
     "validate each N steps; 0: after each epoch"},
    {"log", 'l', KIND_TEXT, FIELD(log), NNC_TRAIN | NNC_REPORT, 0, "FILE",
     "append a JSON line for each epoch (default: OUT/log.jsonl; report: the log of the run)"},
    {"to", 0, KIND_TEXT, FIELD(to), NNC_REPORT, 0, "FILE",
     "the page to write (default: OUT/report.html)"},
    {"tensorboard", 0, KIND_TEXT, FIELD(tensorboard), TRAINS, 0, "DIR",
     "write the numbers of the log to DIR for TensorBoard, too (sweep: to folders of the runs in "
     "it)"},
    {"report-live", 0, KIND_FLAG, FIELD(report_live), TRAINS, 0, "",
     "write OUT/report.html anew while the run goes on"},
    {"keep-going", 0, KIND_FLAG, FIELD(keep_going), TRAINS, 0, "",
     "do not stop when the loss is not finite"},
    {"check-numerics", 0, KIND_FLAG, FIELD(check_numerics), NNC_TRAIN, 0, "",
     "look at all computed numbers, and stop at one that is not finite; slow"},
    {"format", 'f', KIND_TEXT, FIELD(format), NNC_PREDICT | NNC_EXPORT, 0, "NAME",
     "predict: json, csv; export: safetensors, npz"},
    {"npy", 0, KIND_TEXT, FIELD(npy), NNC_PREDICT, 0, "DIR",
     "write each result to DIR/RESULT.npy, all examples, instead of printing it"},
    {"png", 0, KIND_TEXT, FIELD(png), NNC_PREDICT, 0, "DIR",
     "write results that are pictures to DIR, a file an example, instead of printing them"},
    {"only", 0, KIND_ONLY, FIELD(only), NNC_EXPORT | NNC_PREDICT, 0, "PATTERN",
     "write only results or variables of such names: * any text, ? one character; given again, "
     "those, too"},
    {"count", 0, KIND_COUNT, FIELD(count), NNC_PREDICT, 0, "N",
     "so many examples, where they have no inputs (default: 1)"},
    {"json", 0, KIND_FLAG, FIELD(json), NNC_INFO | NNC_EVAL | NNC_PROFILE | NNC_SWEEP, 0, "",
     "print JSON, on a terminal too"},
    {"all", 0, KIND_FLAG, FIELD(all), TIMES, 0, "",
     "profile: every instance, not only the 20 longest; bench: every step's time"},
    {"ahead", 0, KIND_FLAG, FIELD(ahead), NNC_BENCH, 0, "",
     "time groups of steps that follow each other as in training, without a wait after each"},
    {"data-only", 0, KIND_FLAG, FIELD(data_only), NNC_BENCH, 0, "",
     "time the loading of training's minibatches alone, by the kinds of work"},
    {"predict", 0, KIND_FLAG, FIELD(predict), TIMES, 0, "",
     "time predictions of one example instead of training steps"},
    {"cache", 0, KIND_TEXT, FIELD(cache), TRAINS | NNC_EVAL | TIMES, 0, "SIZE",
     "keep so many bytes of decoded files (SIZE,encoded: undecoded; SIZE,in=FILE: in a file)"},
    {"trace", 0, KIND_TEXT, FIELD(trace), NNC_PROFILE, 0, "FILE",
     "write the last steps for a trace viewer (Perfetto, chrome://tracing)"},
    {"warmup", 0, KIND_COUNT, FIELD(warmup), TIMES, 0, "N",
     "steps before the clock starts (default: 5)"},
    {"no-bound", 0, KIND_FLAG, FIELD(no_bound), NNC_PROFILE, 0, "",
     "do not measure how fast the machine is, which takes a quarter of a second"},
    {"inputs", 0, KIND_TEXT, FIELD(inputs), NNC_STEP, 0, "FILE",
     "safetensors with the inputs: NAME, or 0/NAME, 1/NAME, ..."},
    {"eval", 0, KIND_FLAG, FIELD(eval), NNC_STEP, 0, "",
     "evaluate each minibatch instead of training on it"},
    {"batch", 0, KIND_COUNT, FIELD(batch), NNC_PREDICT, 1, "N",
     "examples at a time (default: as many as the program has in a batch)"},
    {"top", 0, KIND_COUNT, FIELD(top), NNC_PREDICT, 1, "K",
     "of each vector of values the K greatest, with their classes"},
    {"names", 0, KIND_FLAG, FIELD(names), NNC_PREDICT, 0, "",
     "print the name of each example's file"},
    {"prompt", 0, KIND_TEXT, FIELD(prompt), NNC_GENERATE, 0, "TEXT", "the beginning of the text"},
    {"length", 0, KIND_COUNT, FIELD(length), NNC_GENERATE, 0, "N",
     "write at most so many tokens (default: 200)"},
    {"temperature", 0, KIND_NUMBER, FIELD(temperature), NNC_GENERATE, 0, "T",
     "logits are divided by it; 0: always the likeliest token (default: 1)"},
    {"top-k", 0, KIND_COUNT, FIELD(top_k), NNC_GENERATE, 1, "K",
     "draw among the K likeliest tokens (default: all)"},
    {"top-p", 0, KIND_NUMBER, FIELD(top_p), NNC_GENERATE, 0, "P",
     "draw among the likeliest tokens that together have probability P (default: 1)"},
    {"stop", 0, KIND_TEXT, FIELD(stop), NNC_GENERATE, 0, "TEXT", "end before this text"},
    {"jobs", 0, KIND_COUNT, FIELD(jobs), NNC_SWEEP, 1, "N",
     "runs at a time (default: as many as there are cores; on a GPU one)"},
    {"over", 0, KIND_TEXT, FIELD(over), NNC_SWEEP, 0, "OPTION",
     "the table ends with means and standard deviations over the values of OPTION (or seed)"},
    {"isa", 0, KIND_TEXT, FIELD(isa), (unsigned)ALL, 0, "LEVEL",
     "the instruction set to use, of those compiled in (default: the best)"},
    {"quiet", 'q', KIND_FLAG, FIELD(quiet), (unsigned)ALL, 0, "", "only errors and warnings"},
    {"help", 'h', KIND_FLAG, FIELD(help), (unsigned)ALL, 0, "", "this text"},
    {"version", 'V', KIND_FLAG, FIELD(version), (unsigned)ALL, 0, "",
     "the model, the compiler, the instruction set"},
};
enum { OPTION_COUNT = sizeof options_table / sizeof *options_table };

/* What the compiler knows of this table. */
enum { FLAG_NAME_COUNT = sizeof(const char *[]){NNC_FLAG_NAMES} / sizeof(const char *) };
_Static_assert((int)FLAG_NAME_COUNT == (int)OPTION_COUNT, "core/flags.h and options_table differ");

typedef struct Parse {
  nnc_options *options;
  int argc, at;
  char **argv;
  int command_count;
  const nnc_command *commands;
  bool is_given[OPTION_COUNT];
  bool only_looks; /* at the command and which flags are given; values are read after that */
} Parse;

static const nnc_command *find_command(const Parse *parse, const char *name) {
  for (int i = 0; i < parse->command_count; i++)
    if (strcmp(parse->commands[i].name, name) == 0) return &parse->commands[i];
  return NULL;
}

static int unknown(const char *what, const char *word, const char *nearest, const char *dashes) {
  if (nearest)
    nnc_error("unknown %s '%s%s'; did you mean '%s%s'?", what, dashes, word, dashes, nearest);
  else nnc_error("unknown %s '%s%s'; --help lists all", what, dashes, word);
  return NNC_EXIT_USAGE;
}

static int unknown_command(const Parse *parse, const char *word) {
  const char *names[16];
  for (int i = 0; i < parse->command_count; i++) names[i] = parse->commands[i].name;
  return unknown("command", word, nnc_nearest(word, parse->command_count, names), "");
}

/* The nearest of the flags that these commands know and of the program's options; NULL: none is near. */
static const char *nearest_flag(const char *name, unsigned commands,
                                char flags[NNC_MAX_OPTIONS][64]) {
  const char *names[OPTION_COUNT + NNC_MAX_OPTIONS];
  int count = 0;
  for (int i = 0; i < OPTION_COUNT; i++)
    if (options_table[i].commands & commands) names[count++] = options_table[i].name;
  for (int i = 0; i < nnc_the_model.option_count && (commands & RUNS); i++)
    names[count++] = nnc_setting_flag(i, flags[i]);
  return nnc_nearest(name, count, names);
}

/* What the command knows is likelier than what another does. */
static int unknown_option(const Parse *parse, const char *word) {
  char flags[NNC_MAX_OPTIONS][64];
  const nnc_command *command = parse->options->command;
  char name[64];
  size_t length = strcspn(word + 2, "=");
  if (word[1] != '-' || length >= sizeof name) return unknown("flag", word, NULL, "");
  memcpy(name, word + 2, length);
  name[length] = '\0';
  const char *nearest = command ? nearest_flag(name, command->bit, flags) : NULL;
  return unknown("flag", name, nearest ? nearest : nearest_flag(name, ALL, flags), "--");
}

/* Whether this program has no such flag, but others do. */
static bool lacks(const Option *option) {
  static const char *const of_device[] = {"device", "resident", "group"};
  for (size_t i = 0; i < sizeof of_device / sizeof *of_device; i++)
    if (strcmp(option->name, of_device[i]) == 0) return !nnc_device_has_number();
  return false;
}

/* The names of files and folders among the values. */
static bool is_path(const Option *option) {
  return strcmp(option->value, "FILE") == 0 || strcmp(option->value, "DIR") == 0 ||
         option->kind == KIND_RESUME;
}

/* The most of a whole number. */
static uint64_t most_of(const Option *option) {
  static const struct {
    int field, most;
  } limits[] = {{FIELD(class_tables.wrong), NNC_MOST_WRONG},
                {FIELD(keep), NNC_MOST_KEPT},
                {FIELD(device), NNC_MAX_DEVICE},
                {FIELD(threads), NNC_MAX_THREADS}};
  _Static_assert((int)NNC_MAX_THREADS <= (int)NNC_MAX_CPUS, "a processor for each thread");
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].field == option->offset) return (uint64_t)limits[i].most;
  return INT64_MAX;
}

static int add_init(nnc_options *options, const char *value) {
  if (options->init_count == NNC_MOST_INITS) {
    nnc_error("--init: at most %d files", NNC_MOST_INITS);
    return NNC_EXIT_USAGE;
  }
  options->init[options->init_count++] = value;
  return NNC_EXIT_OK;
}

static int add_only(nnc_options *options, const char *value) {
  if (options->only_count == NNC_MOST_PATTERNS) {
    nnc_error("--only: at most %d patterns", NNC_MOST_PATTERNS);
    return NNC_EXIT_USAGE;
  }
  options->only[options->only_count++] = value;
  return NNC_EXIT_OK;
}

bool nnc_options_mean(const nnc_options *options, const char *name) {
  for (int i = 0; i < options->only_count; i++)
    if (nnc_pattern_matches(options->only[i], name)) return true;
  return options->only_count == 0;
}

/* A whole number; of a sweep it may have been meant as a list. */
static bool store_whole(const Parse *parse, const Option *option, const char *value,
                        uint64_t *field) {
  bool is_list = strchr(value, ',') || strstr(value, "..");
  if ((parse->options->command->bit & NNC_SWEEP) && is_list) {
    nnc_error("--%s wants one whole number, not '%s': a sweep takes lists for --seed and the "
              "options of the program",
              option->name, value);
    return false;
  }
  return nnc_flag_whole(option->name, value, option->least, most_of(option), field);
}

static int store(Parse *parse, int index, const char *value) {
  const Option *option = &options_table[index];
  nnc_options *options = parse->options;
  void *field = (char *)options + option->offset;
  bool good = true;
  parse->is_given[index] = true;
  if (parse->only_looks && option->kind != KIND_FLAG) return NNC_EXIT_OK;
  switch ((enum Kind)option->kind) {
  case KIND_FLAG: *(bool *)field = true; break;
  case KIND_INIT: return add_init(options, value);
  case KIND_ONLY: return add_only(options, value);
  case KIND_TEXT:
  case KIND_RESUME: *(const char **)field = value; break;
  case KIND_SEED: options->seed_text = value; break; /* read later: a sweep has a list */
  case KIND_NUMBER: good = nnc_flag_number(option->name, value, field); break;
  case KIND_YES: good = nnc_flag_yes(option->name, value, field); break;
  case KIND_INTERVAL: good = nnc_flag_interval(option->name, value, field); break;
  case KIND_COUNT: good = store_whole(parse, option, value, field); break;
  }
  return good ? NNC_EXIT_OK : NNC_EXIT_USAGE;
}

/* An option of the program. */
static int parse_setting(Parse *parse, int option, const char *word) {
  const char *equals = strchr(word, '='), *value = equals ? equals + 1 : NULL;
  char form[160];
  if (!value && parse->at < parse->argc) value = parse->argv[parse->at++];
  if (!value) {
    nnc_error("%s wants a value: %s", word, nnc_setting_form(option, form));
    return NNC_EXIT_USAGE;
  }
  parse->options->setting_texts[option] = value; /* read when the command is known */
  return NNC_EXIT_OK;
}

/* The value of an option: after '=', or the next argument.  NULL after a message. */
static const char *take_value(Parse *parse, int index, const char *attached) {
  const Option *option = &options_table[index];
  const char *next = parse->at < parse->argc ? parse->argv[parse->at] : NULL;
  bool is_resume = option->kind == KIND_RESUME;
  bool takes_next = next && (!is_resume || (next[0] != '-' && !find_command(parse, next)));
  if (!attached && is_resume && !takes_next) return "";
  if (!attached && !takes_next) {
    nnc_error("--%s wants a value (%s)", option->name, option->value);
    return NULL;
  }
  if (!attached) parse->at++;
  const char *value = attached ? attached : next;
  return is_path(option) && !nnc_flag_path(option->name, value, option->value) ? NULL : value;
}

static int find_option(const char *word, const char **attached) {
  *attached = NULL;
  for (int i = 0; i < OPTION_COUNT; i++) {
    const Option *option = &options_table[i];
    if (word[1] != '-') {
      if (!option->letter || word[1] != option->letter) continue;
      if (word[2]) *attached = word + 2;
      return option->kind == KIND_FLAG && word[2] ? -1 : i;
    }
    size_t length = strlen(option->name);
    if (strncmp(word + 2, option->name, length) != 0) continue;
    if (word[2 + length] == '\0') return i;
    if (word[2 + length] != '=') continue;
    *attached = word + 2 + length + 1;
    return i;
  }
  return -1;
}

static int parse_option(Parse *parse, const char *word) {
  const char *attached;
  int index = find_option(word, &attached);
  int setting = word[1] == '-' ? nnc_setting_find(word + 2, strcspn(word + 2, "=")) : -1;
  if (setting >= 0) return parse_setting(parse, setting, word);
  if (index < 0) return unknown_option(parse, word);
  if (options_table[index].kind == KIND_FLAG) {
    if (!attached) return store(parse, index, NULL);
    nnc_error("--%s takes no value", options_table[index].name);
    return NNC_EXIT_USAGE;
  }
  const char *value = take_value(parse, index, attached);
  return value ? store(parse, index, value) : NNC_EXIT_USAGE;
}

/* Of the flags that are given: does the command know them, and this program? */
static int check_flags(const Parse *parse) {
  const nnc_command *command = parse->options->command;
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (!parse->is_given[i]) continue;
    if (lacks(&options_table[i])) {
      nnc_error("--%s: this program computes on the machine's processors; one that 'nnc "
                "--target=cuda' makes has this flag",
                options_table[i].name);
      return NNC_EXIT_USAGE;
    }
    if (options_table[i].commands & command->bit) continue;
    bool sweeps = command->bit & NNC_SWEEP;
    nnc_error("--%s is no flag of %s%s; '%s %s --help' lists them", options_table[i].name,
              command->name,
              sweeps ? ", which takes lists for --seed and the options of the program" : "",
              parse->argv[0], command->name);
    return NNC_EXIT_USAGE;
  }
  return NNC_EXIT_OK;
}

/* The same of the program's options, which matter where the program runs. */
static int check_settings(const Parse *parse) {
  const nnc_options *options = parse->options;
  char flag[64];
  for (int i = 0; i < nnc_the_model.option_count; i++) {
    if (!options->setting_texts[i] || (options->command->bit & RUNS)) continue;
    nnc_error("--%s is no flag of %s; '%s %s --help' lists them", nnc_setting_flag(i, flag),
              options->command->name, parse->argv[0], options->command->name);
    return NNC_EXIT_USAGE;
  }
  return NNC_EXIT_OK;
}

/* The seed and the program's options, of which a sweep takes lists. */
static int read_settings(nnc_options *options) {
  if (options->command->bit & NNC_SWEEP) return NNC_EXIT_OK;
  options->has_seed = options->seed_text != NULL;
  if (options->has_seed &&
      !nnc_flag_whole("seed", options->seed_text, 0, UINT64_MAX, &options->seed))
    return NNC_EXIT_USAGE;
  for (int i = 0; i < nnc_the_model.option_count; i++) {
    const char *text = options->setting_texts[i];
    if (!text) continue;
    if (!nnc_setting_read(i, text, &options->settings.values[i])) return NNC_EXIT_USAGE;
    options->settings.given[i] = true;
  }
  return NNC_EXIT_OK;
}

static bool is_given(const Parse *parse, const char *name) {
  for (int i = 0; i < OPTION_COUNT; i++)
    if (parse->is_given[i] && strcmp(options_table[i].name, name) == 0) return true;
  return false;
}

/* Flags that the command knows, but not together. */
static int check_pairs(const Parse *parse) {
  static const struct {
    char one[10], other[10];
    const char *why;
  } pairs[] = {
      {"epochs", "steps", "each says how long"},
      {"best", "init", "each names a checkpoint"},
      {"predict", "data", "what a prediction is computed of does not change its time"},
      {"predict", "data-only", "a prediction loads nothing"},
      {"predict", "ahead", "predictions do not follow each other"},
      {"data-only", "ahead", "no step is taken"},
      {"data-only", "all", "no step is taken"},
  };
  const nnc_options *options = parse->options;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (!is_given(parse, pairs[i].one) || !is_given(parse, pairs[i].other)) continue;
    nnc_error("--%s and --%s contradict each other: %s; give one", pairs[i].one, pairs[i].other,
              pairs[i].why);
    return NNC_EXIT_USAGE;
  }
  if ((options->command->bit & NNC_PREDICT) && options->only_count > 0 && !options->npy &&
      !options->png) {
    nnc_error("--only says which results go to the files of --npy or --png; give one of these");
    return NNC_EXIT_USAGE;
  }
  if (!(options->command->bit & TIMES) || options->steps != 0) return NNC_EXIT_OK;
  nnc_error("--steps wants a whole number of at least 1, not '0'");
  return NNC_EXIT_USAGE;
}

static int check(const Parse *parse) {
  nnc_options *options = parse->options;
  const nnc_command *command = options->command;
  if (options->help || options->version) return NNC_EXIT_OK;
  int flags = check_settings(parse);
  if (flags == NNC_EXIT_OK) flags = read_settings(options);
  if (flags != NNC_EXIT_OK) return flags;
  flags = check_pairs(parse);
  if (flags != NNC_EXIT_OK) return flags;
  bool has_init = options->init_count > 0 && !(command->bit & NNC_SWEEP);
  if (options->resume && (has_init || options->has_seed)) {
    nnc_error("--resume continues a run as it was: --%s cannot stand beside it",
              has_init ? "init" : "seed");
    return NNC_EXIT_USAGE;
  }
  if (options->resume && nnc_settings_give_seed(&options->settings)) {
    nnc_error("--resume continues a run as it was, with its seed: an option that gives the seed "
              "cannot stand beside it");
    return NNC_EXIT_USAGE;
  }
  if ((command->bit & NNC_SWEEP) && options->resume && *options->resume) {
    nnc_error("sweep: --resume takes no file: each run goes on with its own checkpoint");
    return NNC_EXIT_USAGE;
  }
  bool too_many = command->most >= 0 && options->argument_count > command->most;
  if (too_many || options->argument_count < command->least) {
    nnc_error(too_many ? "%s: one argument too many: '%s'" : "%s wants %s", command->name,
              too_many ? options->arguments[command->most] : command->arguments);
    return NNC_EXIT_USAGE;
  }
  return NNC_EXIT_OK;
}

/* An argument is the name of a file or of a data set. */
static int add_argument(const Parse *parse, char *word) {
  nnc_options *options = parse->options;
  if (parse->only_looks) return NNC_EXIT_OK;
  if (!*word) {
    nnc_error("%s: an argument is empty: '' is no name", options->command->name);
    return NNC_EXIT_USAGE;
  }
  options->arguments[options->argument_count++] = word;
  return NNC_EXIT_OK;
}

/* The first word that is no flag is the command, the others are its arguments. */
static int read_words(Parse *parse) {
  bool only_arguments = false, has_command = false;
  parse->at = 1;
  for (int code = NNC_EXIT_OK; parse->at < parse->argc;) {
    char *word = parse->argv[parse->at++];
    if (!only_arguments && strcmp(word, "--") == 0) {
      only_arguments = true;
    } else if (!only_arguments && word[0] == '-' && word[1]) {
      code = parse_option(parse, word);
    } else if (has_command) {
      code = add_argument(parse, word);
    } else {
      has_command = true;
      parse->options->command = find_command(parse, word);
      if (!parse->options->command) return unknown_command(parse, word);
    }
    if (code != NNC_EXIT_OK) return code;
  }
  return NNC_EXIT_OK;
}

/* Which command it is, and whether it has the flags: what a value may be depends on that. */
static int look(Parse *parse) {
  parse->only_looks = true;
  int code = read_words(parse);
  parse->only_looks = false;
  if (code != NNC_EXIT_OK) return code;
  if (!parse->options->command) parse->options->command = &parse->commands[0];
  bool only_tells = parse->options->help || parse->options->version;
  return only_tells ? NNC_EXIT_OK : check_flags(parse);
}

int nnc_options_parse(nnc_options *options, int argc, char **argv, int command_count,
                      const nnc_command *commands) {
  *options = (nnc_options){.epochs = -1,
                           .steps = -1,
                           .validate_every = -1,
                           .warmup = -1,
                           .threads = -1,
                           .count = -1,
                           .schedule = -1,
                           .device = -1,
                           .resident = -1,
                           .group = -1,
                           .jobs = -1,
                           .patience = -1,
                           .keep = -1,
                           .class_tables = {.wrong = -1},
                           .batch = -1,
                           .top = -1,
                           .length = 200,
                           .top_k = -1,
                           .temperature = 1,
                           .top_p = 1,
                           .word_count = argc,
                           .words = argv,
                           .arguments = argv + 1};
  nnc_settings_start(&options->settings);
  Parse parse = {.options = options,
                 .argc = argc,
                 .argv = argv,
                 .command_count = command_count,
                 .commands = commands};
  int code = look(&parse);
  if (code == NNC_EXIT_OK) code = read_words(&parse);
  return code == NNC_EXIT_OK ? check(&parse) : code;
}

static void help_settings(void) {
  const nnc_model *model = &nnc_the_model;
  if (model->option_count == 0) return;
  printf("\nOptions of %s:\n", nnc_printable(model->file));
  for (int i = 0; i < model->option_count; i++) {
    const nnc_program_option *option = &model->options[i];
    char left[80], flag[64], start[40], least[40], limit[40], limits[100] = "";
    snprintf(left, sizeof left, "    --%s %s", nnc_setting_flag(i, flag),
             option->is_whole ? "N" : "X");
    if (isfinite(option->least))
      snprintf(limits, sizeof limits, ", from %s", nnc_setting_text(option->least, least));
    size_t at = strlen(limits);
    if (isfinite(option->limit))
      snprintf(limits + at, sizeof limits - at, ", less than %s",
               nnc_setting_text(option->limit, limit));
    printf("  %-24s default %s%s%s%s  (%s:%d)\n", left, nnc_setting_text(option->start, start),
           option->unit ? " " : "", option->unit ? option->unit : "", limits,
           nnc_printable(model->file), option->line);
  }
}

/* Help goes to stdout, flags in the table's order. */
void nnc_options_help(const nnc_options *options, const char *program, int command_count,
                      const nnc_command *commands) {
  const nnc_command *command = options->command;
  printf("Usage: %s %s [FLAGS]%s%s\n%s\n\nFlags:\n", program, command->name,
         *command->arguments ? " " : "", command->arguments, command->summary);
  for (int i = 0; i < OPTION_COUNT; i++) {
    const Option *option = &options_table[i];
    if (!(option->commands & command->bit) || lacks(option)) continue;
    char letter[4] = "   ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c,", option->letter);
    printf("  %s --%s %-*s %s\n", letter, option->name, 17 - (int)strlen(option->name),
           option->value, option->help);
  }
  if (command->bit & RUNS) help_settings();
  printf("\nCommands ('%s COMMAND --help' tells their flags):\n", program);
  for (int i = 0; i < command_count; i++) {
    if (commands[i].bit == NNC_GENERATE && !nnc_the_model.generate_text) continue;
    printf("  %-8s %s%s\n", commands[i].name, commands[i].summary, i == 0 ? " (default)" : "");
  }
  printf("\nExit status: %d success, %d failure, %d wrong usage, %d interrupted after saving.\n",
         NNC_EXIT_OK, NNC_EXIT_FAILURE, NNC_EXIT_USAGE, NNC_EXIT_INTERRUPTED);
}
