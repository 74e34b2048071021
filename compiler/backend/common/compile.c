/* The call of the C compiler: see compile.h. */
#include "backend/common/compile.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backend/common/command.h"
#include "backend/common/keys.h"
#include "backend/common/process.h"
#include "backend/common/scratch.h"
#include "backend/common/externs.h"
#include "support/files.h"

/* "clang-19 19.1.7": with the first word of its version line that has a digit and a dot. */
static const char *describe_compiler(Arena *arena, const Toolchain *toolchain) {
  const char *line = toolchain->version;
  while (*line) {
    size_t length = strcspn(line, " ");
    const char *word = arena_strndup(arena, line, length);
    if (*word >= '0' && *word <= '9' && strchr(word, '.'))
      return arena_printf(arena, "%s %s", toolchain->cc, word);
    line += length + strspn(line + length, " ");
  }
  return toolchain->cc;
}

/* Splits a list of levels; false after a message. */
static bool find_levels(Arena *arena, CompileOptions *options) {
  static const char *const known[MOST_LEVELS] = {"v2", "v3", "v4"};
  bool is_asked[MOST_LEVELS] = {false};
  for (const char *at = options->arch; *at;) {
    size_t length = strcspn(at, ",");
    const char *word = arena_strndup(arena, at, length);
    const char *name = strncmp(word, "x86-64-", 7) == 0 ? word + 7 : word;
    int level = 0;
    while (level < MOST_LEVELS && strcmp(known[level], name) != 0) level++;
    if (level == MOST_LEVELS) {
      fprintf(stderr,
              "nnc: error: --arch: in a list stand x86-64-v2, x86-64-v3 and x86-64-v4, not "
              "'%s'\n",
              word);
      return false;
    }
    is_asked[level] = true;
    at += length + (at[length] != 0);
  }
  const char *list = "";
  for (int i = 0; i < MOST_LEVELS; i++) {
    if (!is_asked[i]) continue;
    list = arena_printf(arena, "%s%sx86-64-%s", list, *list ? "," : "", known[i]);
    options->levels[options->level_count++] = known[i];
  }
  options->arch = list;
  return true;
}

bool compile_prepare(Arena *arena, CompileOptions *options) {
  options->output = path_for_program(arena, options->output);
  size_t length = strlen(options->output);
  bool names_source = length > 2 && strcmp(options->output + length - 2, ".c") == 0;
  options->source = names_source ? options->output : arena_printf(arena, "%s.c", options->output);
  if (names_source) options->output = arena_strndup(arena, options->output, length - 2);
  if (options->arch == NULL) options->arch = "native";
  if (options->arch[0] == 'v' && options->arch[1] && !options->arch[2])
    options->arch = arena_printf(arena, "x86-64-%s", options->arch); /* "v3" */
  if (strchr(options->arch, ',') != NULL && !find_levels(arena, options)) return false;
  if (options->cflags == NULL) options->cflags = "";
  if (options->has_cache)
    options->cache = cache_open(arena, options->cache_folder, options->cache_bytes);
  if (!toolchain_find(arena, &options->toolchain, options->cc, options->cache)) return false;
  options->compiler =
      arena_printf(arena, "%s -O3 -march=%s%s%s", describe_compiler(arena, &options->toolchain),
                   options->arch, *options->cflags ? " " : "", options->cflags);
  options->command = command_whole(arena, options);
  return true;
}

/* ---- what they said ---- */

static bool write_whole(const Build *build) {
  const CompileOptions *options = build->options;
  return output_check(options->inputs, options->source, MADE_C) &&
         output_write(build->arena, options->source, MADE_C, &build->source->whole);
}

/* What failed jobs printed, or all: equal texts once. True when that was anything. */
static bool print_logs(const Build *build, int count, const Job *jobs, bool only_failed) {
  const char **seen = ARENA_ARRAY(build->arena, const char *, count + 1);
  int seen_count = 0;
  for (int i = 0; i < count; i++) {
    Text text = {0};
    bool is_new = jobs[i].status >= 0 && !(only_failed && jobs[i].status == 0) &&
                  file_read(jobs[i].log, &text) && text.length > 0;
    for (int k = 0; is_new && k < seen_count; k++) is_new = strcmp(seen[k], text.data) != 0;
    if (is_new) {
      fputs(text.data, stderr);
      seen[seen_count++] = arena_strdup(build->arena, text.data);
    }
    text_free(&text);
  }
  return seen_count > 0;
}

static void print_command(const Build *build, const Job *job) {
  if (build->options->verbose)
    fprintf(stderr, "%s\n", process_command_line(build->arena, &job->arguments));
}

static Job make_job(const Build *build, const char *name, const char *input) {
  return (Job){.input = input,
               .output = scratch_file(build->scratch, arena_printf(build->arena, "%s.out", name)),
               .log = scratch_file(build->scratch, arena_printf(build->arena, "%s.log", name))};
}

/* The whole file once more, for messages that name its lines. */
static bool print_syntax_errors(const Build *build) {
  Job job = make_job(build, "syntax", "/dev/null");
  const char *level = build->options->level_count > 0 ? build->options->levels[0] : NULL;
  command_flags(build->arena, &job.arguments, build->options, level);
  command_include(build->arena, &job.arguments, build->options);
  process_add(build->arena, &job.arguments, "-fsyntax-only", build->options->source, NULL);
  return !process_run_jobs(build->arena, 1, &job, 1) && print_logs(build, 1, &job, true);
}

/* Whether it makes an object of the least program, for `arch` unless that is NULL. */
static bool is_compiler(const Build *build, const char *arch) {
  static const char program[] = "int main(void) { return 0; }\n";
  const char *input = scratch_file(build->scratch, "least.c");
  const char *object = scratch_file(build->scratch, "least.o");
  Job job = make_job(build, "least", input);
  Text made = {0};
  vec_push(build->arena, &job.arguments, build->options->toolchain.cc);
  if (arch != NULL)
    vec_push(build->arena, &job.arguments, arena_printf(build->arena, "-march=%s", arch));
  process_add(build->arena, &job.arguments, "-c", "-x", "c", "-", "-o", object, NULL);
  bool good = file_write(input, 0666, program, sizeof program - 1) &&
              process_run_jobs(build->arena, 1, &job, 1) && file_read(object, &made) &&
              made.length > 0;
  text_free(&made);
  return good;
}

/* Whether the compiler does not know a machine that the code is to be for: that is told. */
static bool explain_arch(const Build *build) {
  const CompileOptions *options = build->options;
  const char *refused = NULL;
  for (int i = options->level_count - 1; i >= 0; i--) {
    const char *level = arena_printf(build->arena, "x86-64-%s", options->levels[i]);
    if (!is_compiler(build, level)) refused = level;
  }
  if (options->level_count == 0 && !is_compiler(build, options->arch)) refused = options->arch;
  if (refused == NULL || !is_compiler(build, NULL)) return false;
  fprintf(stderr,
          "nnc: error: --arch: %s knows no machine '%s'; there are native, x86-64-v2, x86-64-v3, "
          "x86-64-v4, and what this compiler's -march takes\n",
          options->toolchain.cc, refused);
  return true;
}

static void explain_failure(const Build *build, int count, const Job *jobs) {
  const CompileOptions *options = build->options;
  const Job *failed = jobs;
  for (int i = count - 1; i >= 0; i--)
    if (jobs[i].status > 0 || jobs[i].status == -1) failed = &jobs[i];
  if (failed->status == -1) {
    fprintf(stderr, "nnc: error: cannot run %s: %s\n", options->toolchain.cc,
            strerror(failed->error));
    return;
  }
  if (!is_compiler(build, NULL)) {
    print_logs(build, count, jobs, true);
    fprintf(stderr, "nnc: error: '%s' does not compile C: --cc names another compiler\n",
            options->toolchain.cc);
    return;
  }
  if (!write_whole(build)) return;
  if (!print_syntax_errors(build)) print_logs(build, count, jobs, true);
  const char *library = command_library(build->arena, options);
  if (access(library, R_OK) != 0)
    fprintf(stderr, "nnc: error: cannot read the runtime library %s: %s\n", library,
            strerror(errno));
  else if (*options->cflags)
    fprintf(stderr,
            "nnc: error: %s refused the generated code with the flags %s (status %d); it is "
            "kept in %s\n",
            options->toolchain.cc, options->cflags, failed->status, options->source);
  else
    fprintf(stderr,
            "nnc: internal error: %s refused the generated code (status %d); please report "
            "it with %s, which is kept\n",
            options->toolchain.cc, failed->status, options->source);
}

/* ---- objects ---- */

static int count_cores(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static Job object_job(const Build *build, const Object *object, const char *input,
                      const char *headers) {
  Arena *arena = build->arena;
  Job job = make_job(build, object->name, input);
  job.weight = build->source->units[object->unit].weight;
  command_flags(arena, &job.arguments, build->options, object->level);
  command_include(arena, &job.arguments, build->options);
  const char *file = build->source->units[object->unit].file;
  const char *slash = file ? strrchr(file, '/') : NULL;
  if (file != NULL) /* what lies beside it */
    process_add(arena, &job.arguments, "-iquote",
                slash ? arena_strndup(arena, file, (size_t)(slash - file) + 1) : ".", NULL);
  if (object->unit == 0) process_add(arena, &job.arguments, "-MD", "-MF", headers, NULL);
  process_add(arena, &job.arguments, "-c", "-x", "c", "-", "-o", object->file, NULL);
  return job;
}

static bool write_file(const char *path, const Text *text) {
  if (file_write(path, 0666, text->data, text->length)) return true;
  fprintf(stderr, "nnc: error: cannot write %s: %s\n", path, strerror(errno));
  return false;
}

/* Lists the objects: every unit, and those of levels for each level. */
static void list_objects(Build *build) {
  const CSource *source = build->source;
  const int levels = build->options->level_count;
  build->objects = ARENA_ARRAY(build->arena, Object, source->unit_count * (levels + 1) + 1);
  for (int i = 0; i < source->unit_count; i++) {
    bool is_of_level = source->units[i].is_of_level;
    for (int k = 0; k < (is_of_level ? levels : 1); k++) {
      const char *level = is_of_level ? build->options->levels[k] : NULL;
      const char *name =
          arena_printf(build->arena, "unit_%d%s%s", i, level ? "_" : "", level ? level : "");
      build->objects[build->object_count++] = (Object){.unit = i, .level = level, .name = name};
    }
  }
}

/* Takes the objects that the cache has. */
static bool find_objects(Build *build) {
  bool good = true;
  for (int i = 0; good && i < build->object_count; i++) {
    Object *object = &build->objects[i];
    Text bytes = {0};
    object->is_cached = cache_get(build->options->cache, &object->key, &bytes);
    if (object->is_cached) good = write_file(object->file, &bytes);
    text_free(&bytes);
  }
  return good;
}

/* What was printed while a file was made would be lost in the cache, so such a file is not kept. */
static void keep(const Build *build, const Job *job, const CacheKey *key, const char *path) {
  struct stat log;
  Text bytes = {0};
  bool is_quiet = stat(job->log, &log) == 0 && log.st_size == 0;
  if (is_quiet && file_read(path, &bytes))
    cache_put(build->options->cache, key, bytes.data, bytes.length);
  text_free(&bytes);
}

/* The jobs of the objects that are not there; false after a message. */
static bool make_jobs(Build *build, const char *headers, Job *jobs, Object **made, int *count) {
  const char **inputs = ARENA_ARRAY(build->arena, const char *, build->source->unit_count + 1);
  for (int i = 0; i < build->object_count; i++) {
    Object *object = &build->objects[i];
    if (object->is_cached) continue;
    const char **input = &inputs[object->unit];
    if (*input == NULL) {
      *input = scratch_file(build->scratch, arena_printf(build->arena, "unit_%d.c", object->unit));
      if (!write_file(*input, &build->source->units[object->unit].text)) return false;
    }
    made[*count] = object;
    jobs[*count] = object_job(build, object, *input, headers);
    print_command(build, &jobs[(*count)++]);
  }
  return true;
}

/* The user's file that the C compiler refused, with what it said; false when it was another. */
static bool explain_extern(const Build *build, int count, const Job *jobs, Object *const *made) {
  for (int i = 0; i < count; i++) {
    const char *file = build->source->units[made[i]->unit].file;
    if (jobs[i].status <= 0 || file == NULL) continue;
    print_logs(build, 1, &jobs[i], true);
    const ExternInfo *external = build->source->units[made[i]->unit].external;
    diag_error(build->options->diagnostics, external->span,
               "%s refused %s, a file of the C function '%s': see above",
               build->options->toolchain.cc, file, external->function);
    return true;
  }
  return false;
}

static bool compile_objects(Build *build) {
  Job *jobs = ARENA_ARRAY(build->arena, Job, build->object_count + 1);
  Object **made = ARENA_ARRAY(build->arena, Object *, build->object_count + 1);
  const char *headers = scratch_file(build->scratch, "headers.d");
  int count = 0;
  if (!make_jobs(build, headers, jobs, made, &count)) return false;
  int parallel = build->options->jobs > 0 ? build->options->jobs : count_cores();
  if (!process_run_jobs(build->arena, count, jobs, parallel)) {
    if (!explain_arch(build) && !explain_extern(build, count, jobs, made))
      explain_failure(build, count, jobs);
    return false;
  }
  print_logs(build, count, jobs, false);
  if (build->options->cache == NULL) return true;
  keys_keep_headers(build, headers);
  if (!keys_of_objects(build)) return true;
  for (int i = 0; i < count; i++) keep(build, &jobs[i], &made[i]->key, made[i]->file);
  return true;
}

/* ---- the executable ---- */

/* The word after `start` is the name, in whatever quotes linkers put it. */
static bool says(const char *log, const char *start, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(log, start); at; at = strstr(at, start)) {
    at += strlen(start);
    at += strspn(at, " :`'\"");
    if (strncmp(at, name, length) == 0 && strchr("'\"\n`( ", at[length])) return true;
  }
  return false;
}

/* A program with functions of the user's that cannot be linked: which of them is not there, or else
 * that something of their files does not fit. */
static void explain_link(const Build *build, const Job *job) {
  static const char *const undefined[] = {"undefined reference to", "undefined symbol"};
  const CompileOptions *options = build->options;
  Text log = {0};
  bool has_log = file_read(job->log, &log) && log.length > 0, found = false;
  print_logs(build, 1, job, true);
  for (int i = 0; has_log && i < options->extern_count; i++) {
    const ExternInfo *external = options->externs[i];
    bool is_missing = false;
    for (int k = 0; k < 2; k++)
      is_missing = is_missing || says(log.data, undefined[k], external->function);
    if (!is_missing) continue;
    diag_error(options->diagnostics, external->span, "no file of '%s' defines the C function '%s'",
               external->function, external->function);
    found = true;
  }
  if (!found)
    diag_error(options->diagnostics, options->externs[0]->span,
               "%s cannot link the program with the files of its extern operators: see above",
               options->toolchain.cc);
  text_free(&log);
}

static bool link_objects(Build *build, const char *executable) {
  Job job = make_job(build, "link", "/dev/null");
  command_flags(build->arena, &job.arguments, build->options, NULL);
  for (int i = 0; i < build->object_count; i++)
    vec_push(build->arena, &job.arguments, build->objects[i].file);
  command_linked(build->arena, &job.arguments, build->options);
  process_add(build->arena, &job.arguments, "-o", executable, NULL);
  command_libraries(build->arena, &job.arguments, build->options);
  print_command(build, &job);
  if (build->options->cache != NULL) vec_push(build->arena, &job.arguments, "-Wl,--trace");
  if (!process_run_jobs(build->arena, 1, &job, 1)) {
    if (build->options->extern_count == 0) explain_failure(build, 1, &job);
    else explain_link(build, &job);
    return false;
  }
  print_logs(build, 1, &job, false);
  if (build->options->cache == NULL) return true;
  keys_keep_linked(build, job.output);
  CacheKey key;
  if (keys_of_objects(build) && keys_of_link(build, &key)) keep(build, &job, &key, executable);
  return true;
}

/* Into `executable`: out of the cache, or made. */
static bool make_executable(Build *build, Text *executable) {
  CacheKey key;
  bool has_keys = build->options->cache != NULL && keys_of_objects(build);
  if (has_keys && keys_of_link(build, &key) && cache_get(build->options->cache, &key, executable)) {
    if (build->options->verbose) fprintf(stderr, "nnc: the executable is in the cache\n");
    return true;
  }
  build->scratch = scratch_create(build->arena);
  if (build->scratch == NULL) return false;
  for (int i = 0; i < build->object_count; i++)
    build->objects[i].file =
        scratch_file(build->scratch, arena_printf(build->arena, "%s.o", build->objects[i].name));
  const char *path = scratch_file(build->scratch, "executable");
  bool good =
      (!has_keys || find_objects(build)) && compile_objects(build) && link_objects(build, path);
  if (good && !file_read(path, executable)) {
    fprintf(stderr, "nnc: error: '%s' ran and made no executable: --cc names another compiler\n",
            build->options->toolchain.cc);
    good = false;
  }
  scratch_remove(build->scratch);
  return good;
}

/* Before anything is compiled. */
static bool check_outputs(const CompileOptions *options) {
  bool keeps_c = options->debug || options->save_temps;
  return output_check(options->inputs, options->output, MADE_EXECUTABLE) &&
         (!keeps_c || output_check(options->inputs, options->source, MADE_C));
}

bool compile_c(Arena *arena, const CompileOptions *given, const CSource *source) {
  CompileOptions options = *given;
  if (!check_outputs(&options)) return false;
  bool is_complete = keys_are_complete(&options);
  for (int i = 0; i < source->unit_count; i++)
    is_complete = is_complete && externs_unit_is_whole(&source->units[i]);
  if (!is_complete) options.cache = NULL;
  Build build = {.arena = arena, .options = &options, .source = source};
  list_objects(&build);
  Text executable = {0};
  bool good = make_executable(&build, &executable) &&
              output_write(arena, options.output, MADE_EXECUTABLE, &executable);
  if (good && (options.debug || options.save_temps)) good = write_whole(&build);
  text_free(&executable);
  cache_close(options.cache);
  return good;
}
