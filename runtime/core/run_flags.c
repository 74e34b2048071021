/* Flags of a run: see run_flags.h. */
#include "core/run_flags.h"

#include <inttypes.h>
#include <stdio.h>

#include "os/message.h"

#define FORM(number) "%" number " %" number " %" number " %" number " %" number " %" number

static bool has_interval(const nnc_interval *every) {
  return every->steps > 0 || every->epochs > 0 || every->minutes > 0;
}

nnc_run_flags nnc_run_flags_of(const nnc_options *options) {
  return (nnc_run_flags){options->keep, options->patience, options->validate_every,
                         options->save_every};
}

char *nnc_run_flags_format(const nnc_run_flags *flags, bool keeps) {
  const nnc_interval none = {0}, *every = keeps ? &flags->save_every : &none;
  char *text = NULL;
  bool is_given =
      flags->keep >= 0 || flags->patience >= 0 || flags->validate_every >= 0 || has_interval(every);
  if (!is_given || asprintf(&text, FORM(PRId64), flags->keep, flags->patience,
                            flags->validate_every, every->steps, every->epochs, every->minutes) < 0)
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

bool nnc_run_flags_recorded(nnc_run_flags *flags, const char *text, const char *path) {
  nnc_run_flags had;
  nnc_interval *every = &had.save_every;
  char keep[32], patience[32], validate[32], save[48];
  if (sscanf(text, FORM(SCNd64), &had.keep, &had.patience, &had.validate_every, &every->steps,
             &every->epochs, &every->minutes) != 6 ||
      had.keep > NNC_MOST_KEPT)
    return false;
  take(&flags->keep, had.keep, "keep", keep);
  take(&flags->patience, had.patience, "patience", patience);
  take(&flags->validate_every, had.validate_every, "validate-every", validate);
  take_interval(&flags->save_every, every, save);
  if (*keep || *patience || *validate || *save)
    nnc_note("goes on with%s%s%s%s, as %s was made", keep, patience, validate, save, path);
  return true;
}
