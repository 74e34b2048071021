/* What is said of a build that failed: see explain.h. */
#include "backend/common/explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "backend/common/command.h"
#include "support/files.h"

bool explain_keep_source(const Build *build) {
  const CompileOptions *options = build->options;
  return output_check(options->inputs, options->source, MADE_C) &&
         output_write(build->arena, options->source, MADE_C, &build->source->whole);
}

bool explain_print_logs(const Build *build, int count, const Job *jobs, bool only_failed) {
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

void explain_command(const Build *build, const Job *job) {
  if (build->options->verbose)
    fprintf(stderr, "%s\n", process_command_line(build->arena, &job->arguments));
}

Job explain_job(const Build *build, const char *name, const char *input) {
  return (Job){.input = input,
               .output = scratch_file(build->scratch, arena_printf(build->arena, "%s.out", name)),
               .log = scratch_file(build->scratch, arena_printf(build->arena, "%s.log", name))};
}

/* The whole file once more, for messages that name its lines. */
static bool print_syntax_errors(const Build *build) {
  Job job = explain_job(build, "syntax", "/dev/null");
  const char *level = build->options->level_count > 0 ? build->options->levels[0] : NULL;
  command_flags(build->arena, &job.arguments, build->options, level);
  command_include(build->arena, &job.arguments, build->options);
  process_add(build->arena, &job.arguments, "-fsyntax-only", "-x", "c", build->options->source,
              NULL);
  return !process_run_jobs(build->arena, 1, &job, 1) && explain_print_logs(build, 1, &job, true);
}

/* Whether it makes an object of the least program, for `arch` unless that is NULL. */
static bool is_compiler(const Build *build, const char *arch) {
  static const char program[] = "int main(void) { return 0; }\n";
  const char *input = scratch_file(build->scratch, "least.c");
  const char *object = scratch_file(build->scratch, "least.o");
  Job job = explain_job(build, "least", input);
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

bool explain_arch(const Build *build) {
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

void explain_failure(const Build *build, int count, const Job *jobs) {
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
    explain_print_logs(build, count, jobs, true);
    fprintf(stderr, "nnc: error: '%s' does not compile C: --cc names another compiler\n",
            options->toolchain.cc);
    return;
  }
  if (!explain_keep_source(build)) return;
  if (!print_syntax_errors(build)) explain_print_logs(build, count, jobs, true);
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

/* ---- files of the user's ---- */

bool explain_extern(const Build *build, int count, const Job *jobs, Object *const *made) {
  for (int i = 0; i < count; i++) {
    const char *file = build->source->units[made[i]->unit].file;
    if (jobs[i].status <= 0 || file == NULL) continue;
    explain_print_logs(build, 1, &jobs[i], true);
    const ExternInfo *external = build->source->units[made[i]->unit].external;
    diag_error(build->options->diagnostics, external->span,
               "%s refused %s, a file of the C function '%s': see above",
               build->options->toolchain.cc, file, external->function);
    return true;
  }
  return false;
}

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

void explain_link(const Build *build, const Job *job) {
  static const char *const undefined[] = {"undefined reference to", "undefined symbol"};
  const CompileOptions *options = build->options;
  Text log = {0};
  bool has_log = file_read(job->log, &log) && log.length > 0, found = false;
  explain_print_logs(build, 1, job, true);
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
