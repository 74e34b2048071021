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
#include "backend/common/explain.h"
#include "backend/common/externs.h"
#include "backend/common/images.h"
#include "backend/common/keys.h"
#include "backend/common/process.h"
#include "backend/common/scratch.h"
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
  const char *suffix = options->images ? ".cu" : ".c";
  size_t stem = length > strlen(suffix) ? length - strlen(suffix) : 0;
  bool names_source = stem > 0 && strcmp(options->output + stem, suffix) == 0;
  options->source =
      names_source ? options->output : arena_printf(arena, "%s%s", options->output, suffix);
  if (names_source) options->output = arena_strndup(arena, options->output, stem);
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
  for (int i = 0; options->images && i < options->images->architecture_count; i++)
    options->compiler = arena_printf(arena, "%s%s%s", options->compiler, i > 0 ? "," : " ",
                                     options->images->architectures[i]);
  options->command = command_whole(arena, options);
  return true;
}

/* ---- objects ---- */

static int count_cores(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static Job object_job(const Build *build, const Object *object, const char *input,
                      const char *headers) {
  Arena *arena = build->arena;
  Job job = explain_job(build, object->name, input);
  job.weight = build->source->units[object->unit].weight;
  if (build->source->units[object->unit].is_of_device) {
    images_add_command(build, &job, object);
    return job;
  }
  command_flags(arena, &job.arguments, build->options, object->level);
  command_include(arena, &job.arguments, build->options);
  const char *file = build->source->units[object->unit].file;
  if (file != NULL)
    process_add(arena, &job.arguments, "-iquote", externs_folder(arena, file), NULL);
  if (object->unit == 0) process_add(arena, &job.arguments, "-MD", "-MF", headers, NULL);
  process_add(arena, &job.arguments, "-c", "-x", "c", "-", "-o", object->file, NULL);
  return job;
}

static bool write_file(const char *path, const Text *text) {
  if (file_write(path, 0666, text->data, text->length)) return true;
  fprintf(stderr, "nnc: error: cannot write %s: %s\n", path, strerror(errno));
  return false;
}

/* Lists the objects: every unit, those of levels for each level, and the device's for each of its
 * architectures. */
static void list_objects(Build *build) {
  const CSource *source = build->source;
  const int levels = build->options->level_count;
  const int images = build->options->images ? build->options->images->architecture_count : 0;
  build->objects =
      ARENA_ARRAY(build->arena, Object, source->unit_count * (levels + images + 1) + 1);
  for (int i = 0; i < source->unit_count; i++) {
    const SourceUnit *unit = &source->units[i];
    const char *const *names = unit->is_of_device  ? build->options->images->architectures
                               : unit->is_of_level ? build->options->levels
                                                   : NULL;
    int copies = unit->is_of_device ? images : unit->is_of_level ? levels : 1;
    for (int k = 0; k < copies; k++) {
      const char *level = names ? names[k] : NULL;
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
    explain_command(build, &jobs[(*count)++]);
  }
  return true;
}

static bool compile_objects(Build *build) {
  Job *jobs = ARENA_ARRAY(build->arena, Job, build->object_count + 1);
  Object **made = ARENA_ARRAY(build->arena, Object *, build->object_count + 1);
  const char *headers = scratch_file(build->scratch, "headers.d");
  int count = 0;
  if (!make_jobs(build, headers, jobs, made, &count)) return false;
  int parallel = build->options->jobs > 0 ? build->options->jobs : count_cores();
  if (!process_run_jobs(build->arena, count, jobs, parallel)) {
    if (!images_explain(build, count, jobs, made) && !explain_arch(build) &&
        !explain_extern(build, count, jobs, made))
      explain_failure(build, count, jobs);
    return false;
  }
  explain_print_logs(build, count, jobs, false);
  images_print_notes(build, count, jobs, made);
  if (build->options->cache == NULL) return true;
  keys_keep_headers(build, headers);
  if (!keys_of_objects(build)) return true;
  for (int i = 0; i < count; i++) keep(build, &jobs[i], &made[i]->key, made[i]->file);
  return true;
}

/* ---- the executable ---- */

/* The object that holds the images, if there are any. */
static bool assemble_images(Build *build) {
  if (build->options->images == NULL) return true;
  Text text = {0};
  const char *file = scratch_file(build->scratch, "images.s");
  build->images = scratch_file(build->scratch, "images.o");
  images_write_assembly(&text, build);
  bool good = write_file(file, &text);
  text_free(&text);
  if (!good) return false;
  Job job = explain_job(build, "images", "/dev/null");
  process_add(build->arena, &job.arguments, build->options->toolchain.cc, "-c", "-x", "assembler",
              file, "-o", build->images, NULL);
  explain_command(build, &job);
  good = process_run_jobs(build->arena, 1, &job, 1);
  if (!good) explain_failure(build, 1, &job);
  return good;
}

static bool link_objects(Build *build, const char *executable) {
  Job job = explain_job(build, "link", "/dev/null");
  command_flags(build->arena, &job.arguments, build->options, NULL);
  /* some are for compiling alone */
  vec_push(build->arena, &job.arguments, "-Wno-unused-command-line-argument");
  for (int i = 0; i < build->object_count; i++)
    if (!build->source->units[build->objects[i].unit].is_of_device)
      vec_push(build->arena, &job.arguments, build->objects[i].file);
  if (build->images != NULL) vec_push(build->arena, &job.arguments, build->images);
  command_linked(build->arena, &job.arguments, build->options);
  process_add(build->arena, &job.arguments, "-o", executable, NULL);
  command_libraries(build->arena, &job.arguments, build->options);
  explain_command(build, &job);
  if (build->options->cache != NULL) vec_push(build->arena, &job.arguments, "-Wl,--trace");
  if (!process_run_jobs(build->arena, 1, &job, 1)) {
    if (build->options->extern_count == 0 || build->images != NULL) explain_failure(build, 1, &job);
    else explain_link(build, &job);
    return false;
  }
  explain_print_logs(build, 1, &job, false);
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
  bool good = (!has_keys || find_objects(build)) && compile_objects(build) &&
              assemble_images(build) && link_objects(build, path);
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
  if (good && (options.debug || options.save_temps)) good = explain_keep_source(&build);
  text_free(&executable);
  cache_close(options.cache);
  return good;
}
