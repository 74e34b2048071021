/* Executables that --tune measures: their commands profile and bench, and what these print. */
#include "driver/tune.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "backend/common/process.h"
#include "support/files.h"

/* Tells what went wrong, and the last line that the executable printed. */
static void explain(Arena *arena, const Job *job, const char *json_error) {
  const char *line = process_command_line(arena, &job->arguments);
  int status = job->status;
  Text log = {0};
  if (status < 0)
    fprintf(stderr, "nnc: error: --tune cannot start '%s': %s\n", line, strerror(job->error));
  else if (status > 128)
    fprintf(stderr, "nnc: error: --tune: '%s' was ended by signal %d, %s\n", line, status - 128,
            strsignal(status - 128));
  else if (status > 0)
    fprintf(stderr, "nnc: error: --tune: '%s' ended with status %d\n", line, status);
  else fprintf(stderr, "nnc: error: --tune: '%s' printed no JSON: %s\n", line, json_error);
  if (file_read(job->log, &log) && log.length > 0)
    fprintf(stderr, "%.*s", (int)log.length, log.data);
  text_free(&log);
}

/* The output as JSON of a command with flags; NULL after a message. */
static json_t *run(Arena *arena, const char *executable, const char *const *command, int threads,
                   int steps) {
  Job job = {.input = "/dev/null",
             .output = arena_printf(arena, "%s.out", executable),
             .log = arena_printf(arena, "%s.log", executable)};
  process_add(arena, &job.arguments, executable, NULL);
  for (int i = 0; command[i]; i++) process_add(arena, &job.arguments, command[i], NULL);
  process_add(arena, &job.arguments, "--all", "--warmup", "2", "--steps",
              arena_printf(arena, "%d", steps), "--threads", arena_printf(arena, "%d", threads),
              NULL);
  json_error_t error = {0};
  json_t *root = process_run_jobs(arena, 1, &job, 1) ? json_load_file(job.output, 0, &error) : NULL;
  if (!root) explain(arena, &job, error.text);
  return root;
}

/* Adds the times of an entry's kernels. */
static void add_entry(Arena *arena, const json_t *instances, const Program *program, EntryKind kind,
                      const Tuning *tuning, double *ms) {
  const ProgramEntry *entry = &program->entries[kind];
  double *of_step = ARENA_ARRAY(arena, double, entry->steps.count + 1);
  const json_t *instance;
  size_t index;
  json_array_foreach(instances, index, instance) {
    const char *name = json_string_value(json_object_get(instance, "entry"));
    const json_t *step = json_object_get(instance, "step");
    int64_t number = (int64_t)json_number_value(step);
    if (!step || !name || strcmp(name, entry_name(kind)) != 0) continue;
    if (number >= 0 && number < entry->steps.count)
      of_step[number] = json_number_value(json_object_get(instance, "ms"));
  }
  tuning_share_waits(entry, of_step);
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    int kernel = step->kind == STEP_LAUNCH
                     ? tuning_find(tuning, program->kernel_keys.items[step->kernel])
                     : -1;
    if (kernel >= 0) ms[kernel] += of_step[i];
  }
}

double tune_profile(Arena *arena, const char *executable, int steps, const Program *program,
                    const Tuning *tuning, double *ms) {
  static const char *const profile[] = {"profile", "--json", "--no-bound", NULL};
  json_t *root = run(arena, executable, profile, tuning->threads, steps);
  if (!root) return -1;
  const json_t *instances = json_object_get(root, "instances");
  for (int i = 0; i < tuning->count; i++) ms[i] = 0;
  add_entry(arena, instances, program, ENTRY_TRAIN, tuning, ms);
  add_entry(arena, instances, program, ENTRY_ACCUMULATE, tuning, ms);
  double step_ms = json_number_value(json_object_get(root, "step_ms"));
  json_decref(root);
  return step_ms;
}

double tune_bench(Arena *arena, const char *executable, int threads, int steps) {
  static const char *const bench[] = {"bench", NULL};
  json_t *root = run(arena, executable, bench, threads, steps), *value;
  double least = -1;
  size_t index;
  if (!root) return -1;
  json_array_foreach(json_object_get(root, "all_ms"), index, value) {
    double ms = json_number_value(value);
    if (least < 0 || ms < least) least = ms;
  }
  if (least < 0) fprintf(stderr, "nnc: error: --tune: '%s bench' told no times\n", executable);
  json_decref(root);
  return least;
}
