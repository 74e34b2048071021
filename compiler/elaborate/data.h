/* What the files about data blocks share. */
#ifndef NNC_ELABORATE_DATA_H
#define NNC_ELABORATE_DATA_H

#include "elaborate/elaborator.h"

/* ---- lines (data_calls.c) ----------------------------------------------------------------- */

/* Evaluates `names = source | stage ...`; false after an error, then with the calls that are good. */
bool data_read_pipeline(Elaborator *e, const AstEntry *entry, DataPipeline *pipeline);
bool data_has_field(const DataPipeline *pipeline, const char *name);
double data_argument_number(const DataCall *call, const char *name, double fallback);
/* Whether the source has no rows of its own: those of the other lines are its rows. */
bool data_follows_rows(const DataCall *source);

/* Whether the numbers of a call lie where the runtime takes them (data_ranges.c). */
bool data_check_ranges(Elaborator *e, const DataCall *call);

/* ---- sources and the inputs that they feed (data_sources.c) ------------------------------- */

/* What a set may hold: `files` in predict alone and once, rows for those that follow them. */
void data_check_sources(Elaborator *e, const DataSet *set);
/* Whether the values of `counter` and `constant` fit the inputs. */
void data_check_values(Elaborator *e, const DataSet *set);

#endif
