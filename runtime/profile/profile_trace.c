/* The last steps as a file for trace viewers (chrome://tracing, Perfetto): a track for each
 * worker, an event for each step of an entry.
 * Format: "Trace Event Format", complete events ("ph": "X") in microseconds. */
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "os/message.h"
#include "profile/profile.h"
#include "os/replace.h"

typedef struct Trace {
  const nnc_profile *profile;
  FILE *file;
  int64_t origin; /* time 0 */
  bool has_event;
} Trace;

static void event_begin(Trace *trace, const char *phase, const char *name, int worker) {
  fprintf(trace->file,
          "%s{\"ph\":\"%s\",\"pid\":1,\"tid\":%d,\"name\":", trace->has_event ? ",\n" : "", phase,
          worker);
  nnc_json_put_string(trace->file, name);
  trace->has_event = true;
}

static void put_text(Trace *trace, const char *before, const char *text) {
  fputs(before, trace->file);
  nnc_json_put_string(trace->file, text);
}

static void span_begin(Trace *trace, const char *name, const char *category, int worker,
                       int64_t begin, int64_t end) {
  event_begin(trace, "X", name, worker);
  put_text(trace, ",\"cat\":", category);
  fprintf(trace->file, ",\"ts\":%.3f,\"dur\":%.3f", (double)(begin - trace->origin) * 1e-3,
          (double)(end - begin) * 1e-3);
}

static void span(Trace *trace, const char *name, const char *category, int worker, int64_t begin,
                 int64_t end) {
  span_begin(trace, name, category, worker, begin, end);
  fputc('}', trace->file);
}

static void span_step(Trace *trace, const nnc_step *step, int worker, int64_t begin, int64_t end) {
  if (!*step->path) {
    span(trace, "(barrier)", step->class_name, worker, begin, end);
    return;
  }
  span_begin(trace, step->path, step->class_name, worker, begin, end);
  put_text(trace, ",\"args\":{\"operator\":", step->operator_name);
  put_text(trace, ",\"stores\":", step->stores);
  fprintf(trace->file, ",\"flops\":%.17g,\"bytes\":%.17g,\"tasks\":%lld,\"line\":%d}}", step->flops,
          step->bytes, (long long)step->tasks, step->line);
}

static void trace_run(Trace *trace, const nnc_profile_run *run, const nnc_entry *entry) {
  const nnc_profile *profile = trace->profile;
  if (profile->trial.loader) span(trace, "(next minibatch)", "data", 0, run->load, run->begin);
  for (int w = 0; w < nnc_device_workers(profile->session->device); w++) {
    const int64_t *marks = run->marks + w * profile->stride;
    span(trace, "(workers begin)", "start", w, run->begin, marks[0]);
    for (int i = 0; i < entry->step_count; i++)
      span_step(trace, &entry->steps[i], w, marks[i], marks[i + 1]);
    span(trace, "(workers end)", "barrier", w, marks[entry->step_count], run->end);
  }
}

static void trace_all(Trace *trace) {
  const nnc_profile *profile = trace->profile;
  int64_t runs = profile->trial.runs;
  for (int w = 0; w < nnc_device_workers(profile->session->device); w++) {
    event_begin(trace, "M", "thread_name", w);
    fprintf(trace->file, ",\"args\":{\"name\":\"worker %d\"}}", w);
  }
  for (int64_t s = 0; s < profile->trace_steps; s++) {
    const nnc_profile_run *first = &profile->trace[s * runs];
    char name[48];
    snprintf(name, sizeof name, "step %lld", (long long)s + 1);
    span(trace, name, "step", 0, profile->trace_begin[s], first[runs - 1].end);
    for (int64_t i = 0; i < runs; i++)
      trace_run(trace, &first[i], nnc_trial_entry(&profile->trial, i));
  }
}

static const char beginning[] = "{\"displayTimeUnit\":";

bool nnc_profile_check_trace(const char *path) {
  return nnc_may_replace(path, "trace", 0, beginning);
}

bool nnc_profile_write_trace(const nnc_profile *profile, const char *path) {
  Trace trace = {.profile = profile, .file = fopen(path, "we"), .origin = profile->trace_begin[0]};
  if (!trace.file) {
    nnc_error_system("create", path);
    return false;
  }
  fprintf(trace.file, "%s\"ms\",\"traceEvents\":[\n", beginning);
  trace_all(&trace);
  fputs("\n]}\n", trace.file);
  bool good = !ferror(trace.file);
  if (fclose(trace.file) == 0 && good) return true;
  nnc_error_system("write", path);
  return false;
}
