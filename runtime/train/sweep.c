/* The sweep command: trains once for every combination of listed values, each in a folder of its own.
 *
 * A run is a copy of this process that does what `train` does with the flags of that run: so its bits are those of the
 * single run. Several go on side by side. A run that ended well leaves a mark in its folder, the text of what it was
 * told; --resume leaves out runs with the same mark, and goes on where others have a checkpoint. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device.h"
#include "core/json.h"
#include "core/session.h"
#include "os/clock.h"
#include "os/cpus.h"
#include "os/message.h"
#include "os/process.h"
#include "os/replace.h"
#include "os/stop.h"
#include "train/commands.h"
#include "train/sweep_over.h"
#include "train/sweep_plan.h"
#include "train/sweep_table.h"

enum { LINE = 512 };

typedef enum State { NOT_STARTED, RUNNING, DONE, SKIPPED, FAILED, INTERRUPTED } State;
static const char *const state_names[] = {"not started", "running", "done",
                                          "done",        "failed",  "interrupted"};

typedef struct Run {
  char *name, *folder, *mark_path, *mark; /* mark: of a run that has ended well */
  char *events;                           /* its folder in that of --tensorboard; NULL: none */
  nnc_options options;
  State state;
  nnc_process process;
  char line[LINE]; /* of its messages, as far as it is there */
  int length;
} Run;

typedef struct Sweep {
  nnc_sweep_plan plan;
  const nnc_options *options;
  Run *runs;
  int jobs, next, running, ended;
  bool was_interrupted;
  double shown; /* when the progress line was */
} Sweep;

/* --- Marks ---------------------------------------------------------------------------------- */

/* FNV-1a: another program is another run. */
static uint64_t hash(const char *text) {
  uint64_t sum = 14695981039346656037u;
  for (; *text; text++) sum = (sum ^ (unsigned char)*text) * 1099511628211u;
  return sum;
}

static char *make_mark(const nnc_options *options) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  fprintf(file, "{\"program\":\"%016" PRIx64 "\",\"seed\":", hash(nnc_the_model.source));
  if (options->has_seed) fprintf(file, "\"%" PRIu64 "\"", options->seed);
  else fputs("null", file);
  fprintf(file, ",\"epochs\":%" PRId64 ",\"steps\":%" PRId64 ",\"schedule\":%" PRId64 ",\"init\":[",
          options->epochs, options->steps, options->schedule);
  for (int i = 0; i < options->init_count; i++) {
    if (i > 0) fputc(',', file);
    nnc_json_put_string(file, options->init[i]);
  }
  fputs("],\"options\":", file);
  nnc_settings_put(file, &options->settings);
  fputs("}\n", file);
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

static bool has_mark(const Run *run) {
  size_t length = strlen(run->mark);
  char *found = calloc(length + 2, 1);
  FILE *file = found ? fopen(run->mark_path, "r") : NULL;
  bool same = file && fread(found, 1, length + 1, file) == length && strcmp(found, run->mark) == 0;
  if (file) fclose(file);
  free(found);
  return same;
}

static void leave_mark(const Run *run) {
  nnc_replacement mark;
  if (nnc_replace_open(&mark, run->mark_path) &&
      nnc_replace_write(&mark, run->mark, strlen(run->mark)))
    (void)nnc_replace_commit(&mark, NULL); /* else --resume looks at the checkpoint */
}

/* --- Starting ------------------------------------------------------------------------------- */

static bool has_checkpoint(const Run *run) {
  char *path = nnc_path_join(run->folder, "checkpoint.safetensors");
  bool is_there = path && access(path, R_OK) == 0;
  free(path);
  return is_there;
}

static int train(void *context) {
  const Run *run = context;
  return nnc_train_command(&run->options);
}

static bool start(Sweep *sweep, Run *run) {
  bool goes_on = sweep->options->resume && has_checkpoint(run);
  if (goes_on && has_mark(run)) {
    run->state = SKIPPED;
    sweep->ended++;
    return true;
  }
  run->options.resume = goes_on ? "" : NULL;
  if (goes_on) { /* the checkpoint has them */
    run->options.has_seed = false;
    run->options.init_count = 0;
  }
  if (unlink(run->mark_path) != 0 && errno != ENOENT && errno != ENOTDIR) {
    nnc_error_system("remove", run->mark_path);
    return false;
  }
  if (!nnc_process_start(&run->process, train, run)) return false;
  run->state = RUNNING;
  sweep->running++;
  return true;
}

/* --- Messages ------------------------------------------------------------------------------- */

static void show_progress(Sweep *sweep, const Run *run) {
  double now = nnc_seconds_now(), interval = nnc_progress_is_live() ? 0.2 : 5;
  char line[LINE + 160];
  if (now - sweep->shown < interval) return;
  snprintf(line, sizeof line, "%d of %d runs; %.60s: %s", sweep->ended, sweep->plan.run_count,
           run->name, run->line);
  nnc_progress_show(line);
  sweep->shown = now;
}

/* Errors and warnings are told; what is no message of the program is its progress. */
static void take_line(Sweep *sweep, Run *run) {
  run->line[run->length] = '\0';
  run->length = 0;
  const char *error = strstr(run->line, ": error: "), *warning = strstr(run->line, ": warning: ");
  if (error) nnc_error("%s: %s", run->name, error + strlen(": error: "));
  else if (warning) nnc_warning("%s: %s", run->name, warning + strlen(": warning: "));
  else if (strncmp(run->line, "epoch ", 6) == 0 || strncmp(run->line, "step ", 5) == 0)
    show_progress(sweep, run);
}

/* False when there is nothing more to come. */
static bool take_messages(Sweep *sweep, Run *run) {
  char bytes[4096];
  int count;
  while ((count = nnc_process_read(&run->process, bytes, sizeof bytes)) > 0)
    for (int i = 0; i < count; i++) {
      if (bytes[i] == '\n') take_line(sweep, run);
      else if (run->length < LINE - 1) run->line[run->length++] = bytes[i];
    }
  return count == 0;
}

static void tell_end(const Sweep *sweep, const Run *run) {
  char line[LINE];
  nnc_sweep_result result;
  nnc_sweep_measure by = nnc_sweep_compared_by();
  bool is_known = nnc_sweep_result_read(&result, run->folder) && result.is_there;
  int at = snprintf(line, sizeof line, "[%d/%d] %.200s: %s", sweep->ended, sweep->plan.run_count,
                    run->name, state_names[run->state]);
  if (is_known)
    snprintf(line + at, sizeof line - (size_t)at, ", step %lld, %s/%s %.6g, %.1f s",
             (long long)result.last.step, nnc_sweep_set(by.set),
             nnc_the_model.metric_names[by.metric], nnc_sweep_compared(&result.last)[by.metric],
             result.seconds);
  nnc_sweep_result_free(&result);
  nnc_progress_report(line);
}

static void end_run(Sweep *sweep, Run *run) {
  int status = nnc_process_finish(&run->process);
  run->state = status == NNC_EXIT_OK ? DONE : status == NNC_EXIT_INTERRUPTED ? INTERRUPTED : FAILED;
  if (run->state == DONE) leave_mark(run);
  if (status > 128 && status != NNC_EXIT_INTERRUPTED)
    nnc_error("%s: ended by signal %d", run->name, status - 128);
  sweep->running--;
  sweep->ended++;
  tell_end(sweep, run);
}

/* --- All runs ------------------------------------------------------------------------------- */

static void interrupt(Sweep *sweep) {
  if (sweep->was_interrupted) return;
  sweep->was_interrupted = true;
  for (int i = 0; i < sweep->plan.run_count; i++)
    if (sweep->runs[i].state == RUNNING) nnc_process_interrupt(&sweep->runs[i].process);
}

static void watch(Sweep *sweep, const nnc_process **processes) {
  int count = 0;
  for (int i = 0; i < sweep->plan.run_count; i++)
    if (sweep->runs[i].state == RUNNING) processes[count++] = &sweep->runs[i].process;
  nnc_process_poll(count, processes, 0.25);
  for (int i = 0; i < sweep->plan.run_count; i++) {
    Run *run = &sweep->runs[i];
    if (run->state == RUNNING && !take_messages(sweep, run)) end_run(sweep, run);
  }
  if (nnc_stop_requested()) interrupt(sweep);
}

static bool run_all(Sweep *sweep) {
  const nnc_process **processes = calloc((size_t)sweep->plan.run_count + 1, sizeof *processes);
  bool good = processes != NULL;
  if (!good) nnc_error("cannot allocate the list of runs");
  while (good) {
    bool stops = nnc_stop_requested();
    while (good && !stops && sweep->running < sweep->jobs && sweep->next < sweep->plan.run_count)
      good = start(sweep, &sweep->runs[sweep->next++]);
    if (sweep->running == 0 && (stops || sweep->next == sweep->plan.run_count)) break;
    if (sweep->running > 0) watch(sweep, processes);
  }
  if (!good) interrupt(sweep);
  while (sweep->running > 0) watch(sweep, processes);
  nnc_progress_end();
  free(processes);
  return good;
}

/* --- Opening, results ----------------------------------------------------------------------- */

static void choose_jobs(Sweep *sweep) {
  nnc_cpus cpus;
  nnc_cpus_find(&cpus);
  int cores = nnc_cpus_default_threads(&cpus);
  int64_t jobs = sweep->options->jobs;
  if (jobs < 0) jobs = nnc_device_has_number() ? 1 : cores;
  sweep->jobs = (int)(jobs < sweep->plan.run_count ? jobs : sweep->plan.run_count);
  for (int i = 0; i < sweep->plan.run_count; i++)
    if (sweep->options->threads < 0)
      sweep->runs[i].options.threads = cores > sweep->jobs ? cores / sweep->jobs : 1;
}

static bool open_run(Sweep *sweep, int number) {
  Run *run = &sweep->runs[number];
  char *part = nnc_sweep_name(&sweep->plan, number, ",", -1);
  run->name = nnc_sweep_name(&sweep->plan, number, " ", -1);
  run->folder = part ? nnc_path_join(sweep->plan.folder, part) : NULL;
  run->mark_path = run->folder ? nnc_path_join(run->folder, "sweep.json") : NULL;
  const char *all_events = sweep->options->tensorboard;
  run->events = part && all_events ? nnc_path_join(all_events, part) : NULL;
  free(part);
  run->options = nnc_sweep_options(&sweep->plan, number);
  run->options.out = run->folder;
  run->options.tensorboard = run->events;
  run->mark = make_mark(&run->options);
  run->process.messages = -1;
  return run->name && run->mark_path && run->mark && (run->events || !all_events);
}

static bool open_runs(Sweep *sweep) {
  sweep->runs = calloc((size_t)sweep->plan.run_count, sizeof *sweep->runs);
  bool good = sweep->runs != NULL;
  if (!good) nnc_error("cannot allocate the runs");
  for (int i = 0; i < sweep->plan.run_count && good; i++) good = open_run(sweep, i);
  return good;
}

static void close_runs(Sweep *sweep) {
  for (int i = 0; sweep->runs && i < sweep->plan.run_count; i++) {
    free(sweep->runs[i].name);
    free(sweep->runs[i].folder);
    free(sweep->runs[i].mark_path);
    free(sweep->runs[i].mark);
    free(sweep->runs[i].events);
  }
  free(sweep->runs);
}

static bool print_results(const Sweep *sweep) {
  int count = sweep->plan.run_count;
  nnc_sweep_row *rows = calloc((size_t)count + 1, sizeof *rows);
  bool good = rows != NULL;
  for (int i = 0; i < count && good; i++) {
    rows[i].folder = sweep->runs[i].folder;
    rows[i].state = state_names[sweep->runs[i].state];
    if (sweep->runs[i].state != NOT_STARTED || sweep->options->resume)
      good = nnc_sweep_result_read(&rows[i].result, rows[i].folder);
  }
  if (good) nnc_sweep_print(&sweep->plan, rows, sweep->options->json);
  if (good && sweep->plan.over >= 0) nnc_sweep_print_over(&sweep->plan, rows, sweep->options->json);
  for (int i = 0; i < count && rows; i++) nnc_sweep_result_free(&rows[i].result);
  free(rows);
  if (fflush(stdout) == 0 && !ferror(stdout)) return good;
  nnc_error_system("write", "the table");
  return false;
}

static int sweep_all(Sweep *sweep) {
  choose_jobs(sweep);
  nnc_note("%d runs in %s, %d at a time", sweep->plan.run_count, sweep->plan.folder, sweep->jobs);
  bool good = run_all(sweep);
  good = print_results(sweep) && good;
  for (int i = 0; i < sweep->plan.run_count; i++) good = good && sweep->runs[i].state != FAILED;
  if (!good) return NNC_EXIT_FAILURE;
  if (!sweep->was_interrupted && sweep->next == sweep->plan.run_count) return NNC_EXIT_OK;
  nnc_note("interrupted; --resume continues");
  return NNC_EXIT_INTERRUPTED;
}

int nnc_sweep_command(const nnc_options *options) {
  Sweep sweep = {.options = options};
  bool usage;
  int code = NNC_EXIT_FAILURE;
  if (!nnc_sweep_plan_open(&sweep.plan, options, &usage)) {
    nnc_sweep_plan_close(&sweep.plan);
    return usage ? NNC_EXIT_USAGE : NNC_EXIT_FAILURE;
  }
  if (nnc_stop_install() && open_runs(&sweep)) code = sweep_all(&sweep);
  close_runs(&sweep);
  nnc_sweep_plan_close(&sweep.plan);
  return code;
}
