/* Images of the kernels' units: see images.h. */
#include "backend/common/images.h"

#include <stdio.h>
#include <string.h>
#include "backend/common/code.h"
#include "backend/common/code_runs.h"
#include "backend/common/explain.h"
#include "backend/common/externs.h"
#include "support/files.h"

static bool is_of_device(const Build *build, const Object *object) {
  return build->source->units[object->unit].is_of_device;
}

void images_add_command(const Build *build, Job *job, const Object *object) {
  const ImageCompiler *compiler = build->options->images;
  const char *file = build->source->units[object->unit].file;
  ImageRequest request = {.architecture = object->level,
                          .file = object->file,
                          .beside = file ? externs_folder(build->arena, file) : NULL};
  compiler->add_command(build->arena, &job->arguments, build->options, &request);
}

CacheKey images_key(const Build *build, const Object *object) {
  const CompileOptions *options = build->options;
  const Text *text = &build->source->units[object->unit].text;
  Sha256 hash;
  sha256_begin(&hash);
  sha256_add_string(&hash, "image 1");
  sha256_add_string(&hash, object->level);
  options->images->add_identity(build->arena, &hash, options);
  bool is_of_user = build->source->units[object->unit].file != NULL;
  code_runs_add(&hash, text->data, text->length, options->debug || is_of_user);
  return cache_key(&hash);
}

void images_print_notes(const Build *build, int count, const Job *jobs, Object *const *made) {
  for (int i = 0; i < count && build->options->verbose; i++) {
    Text text = {0};
    if (is_of_device(build, made[i]) && file_read(jobs[i].output, &text) && text.length > 0)
      fprintf(stderr, "%s", text.data);
    text_free(&text);
  }
}

/* ---- the file of assembly ---- */

static void write_label(Text *text, const char *name) {
  text_printf(text, ".globl %s\n.hidden %s\n%s:\n", name, name, name);
}

/* The byte after an image ends a text, as which images for future machines are read. */
void images_write_assembly(Text *text, const Build *build) {
  int number = -1, unit = -1;
  text_add(text, ".section .rodata.nnc_images,\"a\",%progbits\n");
  for (int i = 0; i < build->object_count; i++) {
    const Object *object = &build->objects[i];
    if (!is_of_device(build, object)) continue;
    number += object->unit != unit;
    unit = object->unit;
    const char *name = arena_printf(build->arena, "nnc_image_%d_%s", number, object->level);
    text_add(text, ".balign 64\n");
    write_label(text, name);
    text_printf(text, ".incbin %s\n", code_string(build->arena, object->file));
    write_label(text, arena_printf(build->arena, "%s_end", name));
    text_add(text, ".byte 0\n");
  }
  text_add(text, ".section .note.GNU-stack,\"\",%progbits\n");
}

/* ---- what failed ---- */

/* The whole emitted file once more, for messages that name its lines; false when it has no
 * mistakes. */
static bool print_whole(const Build *build, const char *architecture) {
  const ImageCompiler *compiler = build->options->images;
  Job job = explain_job(build, "whole", build->options->source);
  ImageRequest request = {.architecture = architecture,
                          .file = scratch_file(build->scratch, "whole.image"),
                          .is_whole = true};
  compiler->add_command(build->arena, &job.arguments, build->options, &request);
  return !process_run_jobs(build->arena, 1, &job, 1) && job.status == IMAGE_REFUSED &&
         explain_print_logs(build, 1, &job, true);
}

static void explain_refusal(const Build *build, const Job *job, const char *architecture) {
  const CompileOptions *options = build->options;
  const char *compiler = options->images->name;
  if (!explain_keep_source(build)) return;
  bool is_said = job->status == IMAGE_REFUSED && print_whole(build, architecture);
  if (!is_said) explain_print_logs(build, 1, job, true);
  fprintf(stderr, "nnc: internal error: %s %s for %s; please report it with %s, which is kept\n",
          compiler,
          job->status == IMAGE_REFUSED ? "refused the generated kernels"
                                       : "made poor code of the generated kernels",
          architecture, options->source);
}

/* ---- files of the user's ---- */

/* Whether the compiler says that the file has no function of that name: as NVRTC, clang and gcc do of
 * what the emitted text calls in the file's own namespace. */
static bool says_missing(const char *log, const char *name) {
  static const char *const ways[][2] = {
      {"has no member \"", "\""},
      {"no member named '", "'"},
      {"error: '", "' is not a member"},
      {"error: \342\200\230", "\342\200\231 is not a member"}}; /* curved quotes */
  for (int i = 0; i < 4; i++)
    for (const char *at = strstr(log, ways[i][0]); at; at = strstr(at, ways[i][0])) {
      at += strlen(ways[i][0]);
      size_t length = strlen(name);
      if (strncmp(at, name, length) == 0 &&
          strncmp(at + length, ways[i][1], strlen(ways[i][1])) == 0)
        return true;
    }
  return false;
}

static void explain_user(const Build *build, const Job *job, const SourceUnit *unit) {
  const CompileOptions *options = build->options;
  Text log = {0};
  bool found = false, has_log = file_read(job->log, &log) && log.length > 0;
  explain_print_logs(build, 1, job, true);
  for (int i = 0; i < options->extern_count && has_log; i++) {
    const ExternInfo *external = options->externs[i];
    if (strcmp(external->cuda, unit->external->cuda) != 0) continue;
    if (!says_missing(log.data, external->function)) continue;
    diag_error(options->diagnostics, external->span, "%s defines no function '%s'", unit->file,
               external->function);
    found = true;
  }
  bool lacks_header = has_log && strstr(log.data, "cannot open source file") != NULL;
  text_free(&log);
  if (found) return;
  Diagnostic *d =
      diag_error(options->diagnostics, unit->external->span,
                 "%s %s %s, the file of the CUDA function '%s': see above", options->images->name,
                 job->status == IMAGE_REFUSED ? "refused" : "made poor code of", unit->file,
                 unit->external->function);
  if (lacks_header)
    diag_help(d, "it may include nnc_cuda_extern.h and what lies beside it; mathematical functions "
                 "are there without a header");
}

bool images_explain(const Build *build, int count, const Job *jobs, Object *const *made) {
  const char *compiler = build->options->images ? build->options->images->name : NULL;
  int failed = 0;
  while (failed < count && (!is_of_device(build, made[failed]) || jobs[failed].status == 0 ||
                            jobs[failed].status < -1))
    failed++;
  if (failed == count) return false;
  const Job *job = &jobs[failed];
  const char *architecture = made[failed]->level;
  const SourceUnit *unit = &build->source->units[made[failed]->unit];
  bool is_refused = job->status == IMAGE_REFUSED || job->status == IMAGE_POOR;
  if (job->status == -1)
    fprintf(stderr, "nnc: error: cannot run %s: %s\n", job->arguments.items[0],
            strerror(job->error));
  else if (is_refused && unit->file != NULL) explain_user(build, job, unit);
  else if (is_refused) explain_refusal(build, job, architecture);
  else {
    explain_print_logs(build, 1, job, true);
    if (job->status > 128)
      fprintf(stderr,
              "nnc: error: %s was ended by signal %d (%s) while it compiled for %s; with fewer "
              "--jobs it needs less memory\n",
              compiler, job->status - 128, strsignal(job->status - 128), architecture);
    else if (job->status != IMAGE_UNUSABLE)
      fprintf(stderr, "nnc: error: %s ended with status %d while it compiled for %s\n", compiler,
              job->status, architecture);
  }
  return true;
}
