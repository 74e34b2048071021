/* Where a number that is not finite came from.
 *
 * Training keeps no state of earlier steps. When a loss is NaN or infinite the run goes back to what was saved last, or
 * to its beginning, and does the steps from there once more: equal steps give equal bits. Before each step its
 * variables are kept; the first after which the loss, or a variable that was finite, is not, is done
 * once more with an inspector (core/inspect.h), and what that has found is told. With --check-numerics
 * the inspector is there from the first step on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/inspect.h"
#include "core/number.h"
#include "os/buffer.h"
#include "os/message.h"
#include "os/stop.h"
#include "train/trainer.h"

enum { PIECE = NNC_BUFFER(1 << 16, 8), MOST_LINES = 32 };

/* ---- variables ---- */

typedef struct Variables {
  int64_t bytes;
  char *values;         /* of all, before a step */
  bool *are_bad, *were; /* which hold what is not finite, now and before the step */
  int first_bad;        /* of those that have become so; -1: none */
} Variables;

static bool variables_open(Variables *variables, const nnc_model *model, bool keeps_values) {
  size_t count = (size_t)model->variable_count + 1;
  *variables = (Variables){.first_bad = -1};
  for (int i = 0; i < model->variable_count; i++)
    variables->bytes += nnc_tensor_bytes(&model->variables[i].tensor);
  variables->are_bad = calloc(count, sizeof(bool));
  variables->were = calloc(count, sizeof(bool));
  if (keeps_values) variables->values = malloc((size_t)variables->bytes + 1);
  if (variables->are_bad && variables->were && (variables->values || !keeps_values)) return true;
  nnc_error("cannot allocate %lld bytes to keep the variables before a step",
            (long long)variables->bytes);
  return false;
}

static void variables_close(Variables *variables) {
  free(variables->values);
  free(variables->are_bad);
  free(variables->were);
}

static void variables_copy(const Variables *variables, const Trainer *trainer, bool is_back) {
  char *at = variables->values;
  for (int i = 0; i < trainer->model->variable_count; i++) {
    const nnc_tensor *tensor = &trainer->model->variables[i].tensor;
    int64_t elements = nnc_tensor_elements(tensor);
    if (is_back) nnc_device_write(trainer->session->device, tensor, 0, elements, at);
    else nnc_device_read(trainer->session->device, tensor, 0, elements, at);
    at += nnc_tensor_bytes(tensor);
  }
}

static bool is_finite(const nnc_device *device, const nnc_tensor *tensor) {
  _Alignas(8) char piece[PIECE];
  nnc_extremes extremes = {0};
  int64_t elements = nnc_tensor_elements(tensor), most = PIECE / nnc_dtype_size(tensor->dtype);
  if (!nnc_dtype_is_float(tensor->dtype)) return true;
  for (int64_t from = 0, count; from < elements; from += count) {
    count = elements - from < most ? elements - from : most;
    nnc_device_read(device, tensor, from, count, piece);
    nnc_extremes_add(&extremes, tensor->dtype, piece, count);
    if (extremes.nan + extremes.infinite > 0) return false;
  }
  return true;
}

/* After a step, and once before the first. */
static void variables_look(Variables *variables, const Trainer *trainer) {
  const nnc_model *model = trainer->model;
  memcpy(variables->were, variables->are_bad, (size_t)model->variable_count * sizeof(bool));
  variables->first_bad = -1;
  for (int i = 0; i < model->variable_count; i++) {
    variables->are_bad[i] = !is_finite(trainer->session->device, &model->variables[i].tensor);
    if (variables->are_bad[i] && !variables->were[i] && variables->first_bad < 0)
      variables->first_bad = i;
  }
}

/* ---- messages ---- */

/* "from -0.5 to 3.2, 4 of 640 are NaN" into a buffer of 160 bytes. */
static const char *extremes_text(char text[160], const nnc_extremes *extremes) {
  size_t at = 0;
  text[0] = '\0';
  if (extremes->finite > 0)
    at += (size_t)snprintf(text, 160, "from %.6g to %.6g", extremes->least, extremes->most);
  if (extremes->nan > 0)
    at += (size_t)snprintf(text + at, 160 - at, "%s%lld of %lld NaN", at ? ", " : "",
                           (long long)extremes->nan, (long long)extremes->elements);
  if (extremes->infinite > 0)
    snprintf(text + at, 160 - at, "%s%lld of %lld infinite", at ? ", " : "",
             (long long)extremes->infinite, (long long)extremes->elements);
  return text;
}

/* Of what is written only what is not finite matters. */
static void tell_operands(const nnc_origin *origin) {
  char text[160];
  int told = 0;
  for (int i = 0; i < origin->count && told < MOST_LINES; i++) {
    const nnc_operand *operand = &origin->operands[i];
    if (!operand->is_read) continue;
    nnc_note("  reads %s, %s: %s", operand->name, nnc_dtype_name(operand->dtype),
             extremes_text(text, &operand->before));
    told++;
  }
  for (int i = 0; i < origin->count; i++) {
    const nnc_operand *operand = &origin->operands[i];
    if (operand->after.nan + operand->after.infinite > 0)
      nnc_note("  makes %s, %s: %s", operand->name, nnc_dtype_name(operand->dtype),
               extremes_text(text, &operand->after));
  }
}

/* Line `line` of the program, with the first `length` bytes of `operators`. */
static void tell_line(const nnc_model *model, long line, const char *operators, size_t length) {
  const char *at = model->source;
  for (long i = 1; at && i < line; i++) {
    at = strchr(at, '\n');
    if (at) at++;
  }
  if (!at || line < 1) return;
  nnc_note("  %s:%ld: %.*s   (%.*s)", model->file, line, (int)strcspn(at, "\n"), at, (int)length,
           operators);
}

/* The lines that a kernel computes, with their operators. */
static void tell_lines(const nnc_model *model, const nnc_step *step) {
  const char *at = step->nodes;
  while (at && *at) {
    char *end;
    long line = strtol(at, &end, 10);
    end += *end == ' ';
    size_t length = strcspn(end, ",");
    tell_line(model, line, end, length);
    at = end + length + (end[length] == ',' ? 2 : 0);
  }
}

/* Operators that make such numbers of usual ones; of others a number must be very large. */
static bool is_suspect(const char *name, size_t length) {
  char word[16];
  snprintf(word, sizeof word, " %.*s ", (int)length, name);
  return strstr(" log log1p div exp expm1 pow sqrt rsqrt asin acos atanh acosh ", word);
}

/* The lines of a kernel that have such an operator, or else all, each once: "7", "7, 8". */
static const char *likely_lines(char text[80], const nnc_step *step, bool has_suspects) {
  const char *at = step->nodes;
  char line[24] = ""; /* " 7," */
  size_t length = 0;
  text[0] = '\0';
  while (at && *at) {
    size_t word = strcspn(at, " ,");
    bool is_line = *at >= '0' && *at <= '9';
    if (is_line) snprintf(line, sizeof line, " %.*s,", (int)word, at);
    if (length < 56 && !strstr(text, line) && (has_suspects ? is_suspect(at, word) : is_line))
      length = strlen(strcat(text, line));
    at += word;
    at += strspn(at, " ,");
  }
  if (length == 0 && has_suspects) return likely_lines(text, step, false);
  if (length == 0) length = (size_t)snprintf(text, 80, " %d,", step->line);
  text[length - 1] = '\0';
  return text + 1;
}

static const char *bad_name(const nnc_origin *origin) {
  for (int i = 0; i < origin->count; i++)
    if (origin->operands[i].after.nan + origin->operands[i].after.infinite > 0)
      return origin->operands[i].name;
  return origin->count > 0 ? origin->operands[0].name : "";
}

static void tell_origin(const Trainer *trainer, int64_t step, const nnc_origin *origin,
                        const char *what) {
  const nnc_model *model = trainer->model;
  char example[NNC_MESSAGE];
  if (origin->step < 0) {
    nnc_error("step %lld: %s was there before the step computed: %s", (long long)step, what,
              bad_name(origin));
  } else {
    const nnc_step *made = &origin->entry->steps[origin->step];
    char text[80];
    const char *lines = likely_lines(text, made, true);
    nnc_error("step %lld: %s is in '%s', %s:%s%s", (long long)step, what, bad_name(origin),
              model->file, lines, strchr(lines, ',') ? ": one kernel computes these lines" : "");
    tell_lines(model, made);
  }
  tell_operands(origin);
  if (origin->step < 0 && trainer->data &&
      nnc_data_tell_not_finite(trainer->data, bad_name(origin), example))
    nnc_note("  %s", example);
}

static void tell_scalars(const Trainer *trainer) {
  for (int i = 0; i < trainer->model->scalar_count; i++)
    if (!isfinite(trainer->session->scalars[i]))
      nnc_note("  the schedules give %s = %g", trainer->model->scalar_names[i],
               nnc_number_told(trainer->session->scalars[i]));
}

/* The loss, or else the variables that have become so: the origin of that. */
static const nnc_origin *find_origin(const Trainer *trainer, const nnc_inspector *inspector,
                                     const Variables *variables) {
  const nnc_origin *origin = trainer->has_failed ? nnc_inspector_accumulated(inspector) : NULL;
  for (int i = 0; !origin && i < trainer->model->variable_count; i++)
    if (variables->are_bad[i] && !variables->were[i])
      origin = nnc_inspector_find(inspector, &trainer->model->variables[i].tensor);
  return origin;
}

/* What was found in step `step`, which has been inspected. */
static void tell(const Trainer *trainer, const nnc_inspector *inspector, int64_t step,
                 const Variables *variables) {
  const nnc_origin *last = find_origin(trainer, inspector, variables), *first = last;
  if (inspector->has_failed) return;
  if (variables->first_bad >= 0 && !trainer->has_failed)
    nnc_note("step %lld: %s is no longer finite, the loss still is", (long long)step,
             trainer->model->variables[variables->first_bad].tensor.name);
  if (!first) {
    nnc_error("step %lld: all that its kernels computed is finite; what is not is the arithmetic "
              "of the reported loss itself",
              (long long)step);
    return;
  }
  while (nnc_inspector_parent(inspector, first)) first = nnc_inspector_parent(inspector, first);
  tell_origin(trainer, step, first, "the first value that is not finite");
  if (last != first) tell_origin(trainer, step, last, "the first NaN made of it");
  tell_scalars(trainer);
}

/* ---- once more ---- */

/* What a step changes besides variables. */
typedef struct Moment {
  nnc_position position;
  int64_t epoch, index; /* of the loader */
} Moment;

static Moment moment_of(const Trainer *trainer) {
  Moment moment = {.position = trainer->position};
  if (trainer->loader) nnc_loader_position(trainer->loader, &moment.epoch, &moment.index);
  return moment;
}

/* False when the step could not be done: an example cannot be read. */
static bool do_step(Trainer *trainer, Variables *variables) {
  if (nnc_trainer_run_step(trainer) < nnc_trainer_minibatches(trainer->model)) return false;
  (void)nnc_trainer_settle(trainer);
  variables_look(variables, trainer);
  return true;
}

/* The step that has just been done, from the variables before it, with an inspector. */
static bool inspect_step(Trainer *trainer, Variables *variables, const Moment *before) {
  nnc_inspector inspector;
  trainer->position = before->position;
  trainer->has_failed = false;
  if (trainer->loader) nnc_loader_seek(trainer->loader, before->epoch, before->index);
  variables_copy(variables, trainer, true);
  variables_look(variables, trainer); /* as they were */
  nnc_inspector_open(&inspector, trainer->session->device, trainer->model);
  nnc_device_watch(trainer->session->device, &inspector.onlooker);
  bool good = do_step(trainer, variables);
  nnc_device_watch(trainer->session->device, NULL);
  if (good) tell(trainer, &inspector, before->position.step + 1, variables);
  nnc_inspector_close(&inspector);
  return good;
}

/* A report moves schedules that follow a metric. */
static bool pass_report(Trainer *trainer) {
  bool is_due = trainer->position.report_is_due;
  if (!is_due || trainer->model->plateau_count == 0) {
    if (is_due) nnc_tally_reset(&trainer->tally);
    trainer->position.report_is_due = false;
    return true;
  }
  return nnc_trainer_report(trainer);
}

/* Goes on until the step that failed; false when that cannot be. */
static bool search(Trainer *trainer, Variables *variables, int64_t failed) {
  variables_look(variables, trainer);
  while (trainer->position.step < failed) {
    if (nnc_stop_requested() || !pass_report(trainer)) {
      nnc_note("interrupted: where it came from is not known");
      return true;
    }
    Moment before = moment_of(trainer);
    variables_copy(variables, trainer, false);
    if (!do_step(trainer, variables)) return false;
    if (trainer->has_failed || variables->first_bad >= 0)
      return inspect_step(trainer, variables, &before);
    nnc_trainer_advance(trainer);
  }
  nnc_note("done once more, the steps up to %lld gave numbers that are finite", (long long)failed);
  return true;
}

void nnc_trainer_explain(Trainer *trainer) {
  Variables variables;
  int64_t failed = trainer->failed_step;
  trainer->is_replay = true;
  trainer->unseen_count = trainer->first_unseen = 0;
  trainer->has_failed = false;
  nnc_device_wait(trainer->session->device);
  nnc_tally_reset(&trainer->step_tally);
  if (!variables_open(&variables, trainer->model, true) || !nnc_trainer_return(trainer)) {
    variables_close(&variables);
    return;
  }
  nnc_note("where it came from: %lld step%s once more, from step %lld on (Ctrl-C ends it)",
           (long long)(failed - trainer->position.step),
           failed - trainer->position.step == 1 ? "" : "s", (long long)trainer->position.step + 1);
  if (!search(trainer, &variables, failed))
    nnc_note("where it came from is not known: %s", nnc_loader_failure(trainer->loader));
  variables_close(&variables);
}

/* ---- --check-numerics ---- */

struct nnc_checker {
  nnc_inspector inspector;
  Variables variables;
};

bool nnc_trainer_begin_checks(Trainer *trainer) {
  struct nnc_checker *checker = calloc(1, sizeof *checker);
  trainer->checker = checker;
  if (!checker) {
    nnc_error("cannot allocate what checks numbers");
    return false;
  }
  nnc_inspector_open(&checker->inspector, trainer->session->device, trainer->model);
  if (!variables_open(&checker->variables, trainer->model, false)) return false;
  variables_look(&checker->variables, trainer);
  nnc_device_watch(trainer->session->device, &checker->inspector.onlooker);
  return true;
}

bool nnc_trainer_check(Trainer *trainer) {
  struct nnc_checker *checker = trainer->checker;
  int64_t step = trainer->position.step + 1;
  bool is_finite = nnc_trainer_settle(trainer);
  variables_look(&checker->variables, trainer);
  is_finite = is_finite && checker->variables.first_bad < 0;
  if (!is_finite) tell(trainer, &checker->inspector, step, &checker->variables);
  nnc_inspector_reset(&checker->inspector);
  return is_finite && !checker->inspector.has_failed;
}

void nnc_trainer_end_checks(Trainer *trainer) {
  struct nnc_checker *checker = trainer->checker;
  if (!checker) return;
  nnc_device_watch(trainer->session->device, NULL);
  nnc_inspector_close(&checker->inspector);
  variables_close(&checker->variables);
  free(checker);
  trainer->checker = NULL;
}
