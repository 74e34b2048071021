/* The files that predictions are made of and those of the program's data sets, whose place results never take. */
#ifndef NNC_PREDICT_SOURCES_H
#define NNC_PREDICT_SOURCES_H

#include "core/options.h"
#include "data/read.h"

typedef struct nnc_predict_source nnc_predict_source;

typedef struct nnc_predict_sources {
  int64_t count, room;
  nnc_predict_source *items; /* in order */
} nnc_predict_sources;

/* `data`: whose examples are predicted; or NULL. False after a message; nnc_predict_sources_free is fine then too. */
bool nnc_predict_sources_find(nnc_predict_sources *sources, const nnc_options *options,
                              const nnc_data *data);
void nnc_predict_sources_free(nnc_predict_sources *sources);

/* Whether a result may be written to the path: none of the files is there. False after a message. */
bool nnc_predict_sources_spare(const nnc_predict_sources *sources, const char *flag,
                               const char *path);

#endif
