/* Flags of a run: see run_flags.h. */
#include "core/run_flags.h"

#include <inttypes.h>
#include <stdio.h>

#include "os/message.h"

#define FORM(number)                                                                               \
  "%" number " %" number " %" number " %" number " %" number " %" number " %d %" number
enum { WITHOUT_TABLES = 6, WITH_TABLES = 8 }; /* numbers */
enum { CONFUSION = 1, PER_CLASS = 2, CALIBRATION = 4 };

static bool has_interval(const nnc_interval *every) {
  return every->steps > 0 || every->epochs > 0 || every->minutes > 0;
}

nnc_run_flags nnc_run_flags_of(const nnc_options *options) {
  return (nnc_run_flags){options->keep, options->patience, options->validate_every,
                         options->save_every, options->class_tables};
}

static int tables_of(const nnc_class_tables *wanted) {
  return (wanted->confusion ? CONFUSION : 0) | (wanted->per_class ? PER_CLASS : 0) |
         (wanted->calibration ? CALIBRATION : 0);
}

char *nnc_run_flags_format(const nnc_run_flags *flags, bool keeps) {
  const nnc_interval none = {0}, *every = keeps ? &flags->save_every : &none;
  char *text = NULL;
  int tables = tables_of(&flags->class_tables);
  int64_t wrong = flags->class_tables.wrong;
  bool is_given = flags->keep >= 0 || flags->patience >= 0 || flags->validate_every >= 0 ||
                  has_interval(every) || tables || wrong > 0;
  if (!is_given ||
      asprintf(&text, FORM(PRId64), flags->keep, flags->patience, flags->validate_every,
               every->steps, every->epochs, every->minutes, tables, wrong) < 0)
    return NULL;
  return text;
}

/* One flag; `said` gets it when the text has it and the command line does not. */
static void take(int64_t *own, int64_t recorded, const char *name, char said[32]) {
  said[0] = '\0';
  if (*own >= 0 || recorded < 0) return;
  *own = recorded;
  snprintf(said, 32, " --%s %" PRId64, name, recorded);
}

static void take_interval(nnc_interval *own, const nnc_interval *recorded, char said[48]) {
  said[0] = '\0';
  if (has_interval(own) || !has_interval(recorded)) return;
  *own = *recorded;
  int64_t count = recorded->steps + recorded->epochs + recorded->minutes; /* one of them */
  snprintf(said, 48, " --save-every %" PRId64 "%s", count,
           recorded->steps > 0    ? "steps"
           : recorded->epochs > 0 ? "epochs"
                                  : "minutes");
}

/* Tables add up: there is no flag that takes one away. */
static void take_tables(nnc_class_tables *own, int recorded, char said[48]) {
  int added = recorded & ~tables_of(own);
  own->confusion |= (added & CONFUSION) != 0;
  own->per_class |= (added & PER_CLASS) != 0;
  own->calibration |= (added & CALIBRATION) != 0;
  snprintf(said, 48, "%s%s%s", added & CONFUSION ? " --confusion" : "",
           added & PER_CLASS ? " --per-class" : "", added & CALIBRATION ? " --calibration" : "");
}

bool nnc_run_flags_recorded(nnc_run_flags *flags, const char *text, const char *path) {
  nnc_run_flags had = {.class_tables = {.wrong = -1}};
  int tables = 0;
  int64_t *wrong = &had.class_tables.wrong;
  nnc_interval *every = &had.save_every;
  char keep[32], patience[32], validate[32], save[48], classes[48], list[32];
  int count = sscanf(text, FORM(SCNd64), &had.keep, &had.patience, &had.validate_every,
                     &every->steps, &every->epochs, &every->minutes, &tables, wrong);
  if ((count != WITHOUT_TABLES && count != WITH_TABLES) || had.keep > NNC_MOST_KEPT ||
      *wrong > NNC_MOST_WRONG)
    return false;
  take(&flags->keep, had.keep, "keep", keep);
  take(&flags->patience, had.patience, "patience", patience);
  take(&flags->validate_every, had.validate_every, "validate-every", validate);
  take_interval(&flags->save_every, every, save);
  take_tables(&flags->class_tables, tables, classes);
  take(&flags->class_tables.wrong, *wrong, "wrong", list);
  if (*keep || *patience || *validate || *save || *classes || *list)
    nnc_note("goes on with%s%s%s%s%s%s, as %s was made", keep, patience, validate, save, classes,
             list, path);
  return true;
}
