/* The report command: one page of HTML about a run, from its log, its checkpoints, the data where they are there, and a short
 * profile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/options.h"
#include "core/session.h"
#include "data/open.h"
#include "data/session_data.h"
#include "os/message.h"
#include "os/replace.h"
#include "profile/profile.h"
#include "report/page.h"
#include "report/report.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/report.h"
#include "train/report_classes.h"
#include "train/report_samples.h"
#include "train/source_change.h"

enum { PROFILE_STEPS = 5, WRONG = 12, REFRESH = 5 /* seconds */ };

typedef struct Writer {
  const nnc_options *options;
  nnc_options evaluating; /* as `eval` would have them */
  char *log, *last, *best, *page;
  nnc_history history;
  nnc_report report;
  FILE *file; /* of the sections that are computed */
  char *text;
  size_t length;
} Writer;

static void put_text(FILE *file, void *context) {
  const Writer *writer = context;
  fwrite(writer->text, 1, writer->length, file);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *choose(const char *given, const char *folder, const char *name) {
  return given ? strdup(given) : nnc_path_join(folder, name);
}

static bool find_files(Writer *writer, const char *folder) {
  const nnc_options *options = writer->options;
  writer->log = choose(options->log, folder, "log.jsonl");
  writer->last = nnc_path_join(folder, "checkpoint.safetensors");
  writer->best = nnc_path_join(folder, "best.safetensors");
  writer->page = choose(options->to, folder, "report.html");
  return writer->log && writer->last && writer->best && writer->page;
}

static nnc_report_file checkpoint_at(const char *path) {
  nnc_safetensors *file = access(path, F_OK) == 0 ? nnc_safetensors_open(path) : NULL;
  if (!file) return (nnc_report_file){0};
  bool differs = nnc_source_differs(file, &nnc_the_model);
  nnc_safetensors_close(file);
  return (nnc_report_file){path, nnc_checkpoint_step(path), differs};
}

static bool read_run(Writer *writer, const char *folder) {
  const nnc_model *model = &nnc_the_model;
  if (!nnc_history_read(&writer->history, writer->log) ||
      !nnc_history_fits(&writer->history, model, writer->log))
    return false;
  nnc_report *report = &writer->report;
  *report = (nnc_report){.history = &writer->history,
                         .log = writer->log,
                         .best = checkpoint_at(writer->best),
                         .last = checkpoint_at(writer->last),
                         .put_more = put_text,
                         .context = writer};
  if (writer->history.count > 0 || report->last.path || report->best.path ||
      writer->options->init_count > 0)
    return true;
  nnc_error(
      "there is no run in %s: neither a log nor a checkpoint; train first, or name its folder "
      "with --out",
      folder);
  return false;
}

/* ---- what is computed ------------------------------------------------------------------------ */

/* In a session of its own, since it trains; a failure leaves the section out, after a message. */
static void put_profile(Writer *writer) {
  nnc_options options = *writer->options;
  nnc_session session;
  nnc_profile profile;
  if (!nnc_the_model.train.run || options.steps == 0) return;
  if (options.steps < 0) options.steps = PROFILE_STEPS;
  options.warmup = 1;
  options.data = NULL;
  if (nnc_session_open(&session, &options)) {
    if (nnc_profile_measure(&profile, &session)) nnc_profile_put_page(writer->file, &profile);
    nnc_profile_close(&profile);
  }
  nnc_session_close(&session);
}

/* The first set to evaluate, else that of training; NULL: there is none. */
static const char *choose_set(const nnc_model *model) {
  const char *chosen = NULL;
  for (int i = 0; i < model->data_set_count; i++) {
    const char *name = model->data_sets[i].name;
    bool is_train = strcmp(name, "train") == 0;
    if (strcmp(name, "predict") == 0 || (is_train && chosen)) continue;
    if (!is_train) return name;
    chosen = name;
  }
  return chosen;
}

static bool evaluate(nnc_evaluator *evaluator, nnc_classes *classes, const char *set) {
  char *name = (char *)set;
  double *metrics = calloc((size_t)evaluator->session->model->metric_count + 1, sizeof *metrics);
  if (!metrics) return false;
  bool good = nnc_evaluator_open(evaluator, evaluator->session, 1, &name) &&
              nnc_classes_start(classes, evaluator->sets[0].data);
  evaluator->looker = classes;
  evaluator->look = nnc_classes_look;
  good = good && nnc_evaluator_run(evaluator, 0, metrics);
  free(metrics);
  return good;
}

/* Of a checkpoint that is loaded. */
static void put_evaluation(Writer *writer, nnc_session *session, const char *set) {
  const nnc_model *model = session->model;
  nnc_classes classes = {0};
  nnc_evaluator evaluator = {.session = session};
  bool has_classes = model->class_losses == 1 && model->eval_one.run &&
                     nnc_classes_open(&classes, session, &session->options->class_tables) &&
                     evaluate(&evaluator, &classes, set);
  if (has_classes) nnc_report_put_classes(writer->file, &classes, set);
  nnc_report_put_samples(writer->file, session, set, has_classes ? &classes : NULL);
  nnc_evaluator_close(&evaluator);
  nnc_classes_close(&classes);
}

/* Without the data the page is made without them, and says so. */
static bool has_data(Writer *writer, nnc_session *session, const char *set) {
  char message[NNC_MESSAGE];
  nnc_data *data = nnc_data_open(session->model, set, &session->model->eval,
                                 nnc_data_folder(session->options), &session->fitted, message);
  if (data) {
    nnc_data_close(data);
    return true;
  }
  nnc_note("no classes and no examples: %s", message);
  fputs("<p class=\"soft\">There are no classes and no examples here: ", writer->file);
  nnc_page_text(writer->file, message);
  fputs("</p>\n", writer->file);
  return false;
}

static bool put_computed(Writer *writer, nnc_session *session) {
  const nnc_model *model = session->model;
  const nnc_report *report = &writer->report;
  const char *set = choose_set(model);
  nnc_position position = {0};
  bool has_checkpoint = report->last.path || report->best.path || session->options->init_count > 0;
  if (has_checkpoint) {
    if (!nnc_checkpoint_load(session, &position)) return false;
    nnc_session_host(session, position.step > 0 ? position.step : 1, position.epoch,
                     nnc_checkpoint_length(model, &position), position.steps_per_epoch);
  }
  if (has_checkpoint && set && model->eval.run && model->eval.input_count > 0 &&
      has_data(writer, session, set))
    put_evaluation(writer, session, set);
  if (has_checkpoint) nnc_report_put_drawn(writer->file, session);
  return true;
}

static bool write_page(Writer *writer, nnc_session *session) {
  writer->file = open_memstream(&writer->text, &writer->length);
  if (!writer->file) {
    nnc_error("no memory for the page");
    return false;
  }
  bool good = put_computed(writer, session);
  if (good) put_profile(writer);
  good = fclose(writer->file) == 0 && good;
  writer->report.session = session;
  return good && nnc_report_write(&writer->report, writer->page);
}

static bool report_run(Writer *writer, const char *folder) {
  nnc_session session;
  if (!find_files(writer, folder) || !nnc_report_may_write(writer->page) ||
      !read_run(writer, folder))
    return false;
  writer->evaluating = *writer->options;
  writer->evaluating.best = writer->report.best.path && writer->options->init_count == 0;
  writer->evaluating.class_tables =
      (nnc_class_tables){.per_class = true, .calibration = true, .wrong = WRONG};
  bool good = nnc_session_open(&session, &writer->evaluating) && write_page(writer, &session);
  nnc_session_close(&session);
  if (good) nnc_note("wrote %s", writer->page);
  return good;
}

static int run(const nnc_options *options) {
  Writer writer = {.options = options};
  char *folder = nnc_default_folder(options);
  bool good = folder && report_run(&writer, folder);
  nnc_history_free(&writer.history);
  free(writer.text);
  free(writer.log);
  free(writer.last);
  free(writer.best);
  free(writer.page);
  free(folder);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}

/* ---- a run that goes on ---------------------------------------------------------------------- */

static bool may_follow(const nnc_followed_run *run) { return nnc_report_may_write(run->page); }

static bool follow(const nnc_session *session, const nnc_followed_run *run) {
  nnc_history history;
  if (!nnc_history_read(&history, run->log)) return false;
  nnc_report report = {.session = session,
                       .history = &history,
                       .log = run->log,
                       .best = {.path = run->best, .step = run->best_step},
                       .last = {.path = run->last, .step = run->last_step},
                       .refresh = run->goes_on ? REFRESH : 0};
  bool good = nnc_report_write(&report, run->page);
  nnc_history_free(&history);
  return good;
}

const struct nnc_report_writer nnc_report_writer = {
    .run = run, .may_follow = may_follow, .follow = follow};
