/* Mixtures of the examples of a batch. */
#ifndef NNC_DATA_MIXING_H
#define NNC_DATA_MIXING_H

#include "data/examples.h"
#include "data/visit.h"

typedef struct nnc_data nnc_data;

/* What reads batches knows this alone, so that the rest is linked where a program mixes. */
typedef struct DataMixing {
  struct DataMixing *next; /* of the set's next line that mixes */
  /* Changes the rows of the batch in the inputs. */
  void (*mix)(const struct DataMixing *mixing, const nnc_data *data, const DataExamples *examples,
              const struct DataVisit *visit, void *const *inputs);
  void (*close)(struct DataMixing *mixing);
} DataMixing;

#endif
