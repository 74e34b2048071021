/* Tables by class while a network trains: --confusion, --per-class, --calibration, --wrong of train. The log has them of every
 * report, as `eval --json` tells them; the screen those of the last one. All room is taken when the run begins. */
#include <stdio.h>
#include <stdlib.h>

#include "core/json.h"
#include "os/message.h"
#include "train/classes.h"
#include "train/trainer.h"

bool nnc_trainer_open_classes(Trainer *trainer) {
  const nnc_class_tables *wanted = &trainer->session->flags.class_tables;
  nnc_evaluator *evaluator = &trainer->evaluator;
  if (!nnc_wants_classes(wanted) || trainer->total_steps == 0) return true;
  if (evaluator->count == 0) {
    nnc_error("tables by class are those of sets that are evaluated, and %s has none: no data but "
              "train",
              trainer->model->file);
    return false;
  }
  trainer->classes = calloc((size_t)evaluator->count, sizeof *trainer->classes);
  if (!trainer->classes) nnc_error("cannot allocate the tables by class");
  bool good = trainer->classes != NULL;
  for (int i = 0; good && i < evaluator->count; i++)
    good = nnc_classes_open(&trainer->classes[i], trainer->session, wanted) &&
           nnc_classes_start(&trainer->classes[i], evaluator->sets[i].data);
  evaluator->look = nnc_classes_look;
  return good;
}

void nnc_trainer_close_classes(Trainer *trainer) {
  for (int i = 0; trainer->classes && i < trainer->evaluator.count; i++)
    nnc_classes_close(&trainer->classes[i]);
  free(trainer->classes);
}

bool nnc_trainer_watch_classes(Trainer *trainer, int set) {
  if (!trainer->classes) return true;
  nnc_classes *classes = &trainer->classes[set];
  trainer->evaluator.looker = classes;
  return nnc_classes_start(classes, trainer->evaluator.sets[set].data);
}

void nnc_trainer_put_classes(const Trainer *trainer, FILE *file) {
  const nnc_evaluator *evaluator = &trainer->evaluator;
  if (!trainer->classes) return;
  fputs(",\"tables\":{", file);
  for (int i = 0; i < evaluator->count; i++) {
    const nnc_eval_set *set = &evaluator->sets[i];
    if (i) fputc(',', file);
    nnc_json_put_string(file, set->name);
    fprintf(file, ":{\"examples\":%lld", (long long)nnc_data_examples(set->data));
    nnc_classes_put_json(file, &trainer->classes[i], set->data);
    fputc('}', file);
  }
  fputc('}', file);
}

void nnc_trainer_say_classes(const Trainer *trainer) {
  const nnc_evaluator *evaluator = &trainer->evaluator;
  bool is_told = trainer->classes && trainer->reports > 0 && !nnc_message_is_quiet();
  for (int i = 0; is_told && i < evaluator->count; i++) {
    nnc_note("classes of %s at step %lld:", evaluator->sets[i].name,
             (long long)trainer->position.step);
    nnc_classes_print(stderr, &trainer->classes[i], evaluator->sets[i].data);
  }
}
