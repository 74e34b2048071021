/* Rows that are sounds in WAV files. */
#ifndef NNC_DATA_WAV_H
#define NNC_DATA_WAV_H

#include "data/row_files.h"

struct DataVisit;

/* Which part of a longer sound is a row. */
enum WavFit { WAV_EXACT, WAV_START, WAV_MIDDLE, WAV_RANDOM, WAV_FITS };

/* What the sounds of a source are, and what is done with those of another length. */
typedef struct WavForm {
  int64_t rate; /* samples a second */
  enum WavFit fit;
} WavForm;

/* The call's arguments `rate` and `fit`. */
int data_wav_form(const DataContext *context, const char *const *formals, WavForm *form);
/* The shape of a field whose rows are so many sounds, as its input wants it. */
int data_wav_shape(const DataContext *context, DataField *field, int64_t count);

/* Where a sound lies: `size` bytes of an open file, from `at` on. */
typedef struct WavOrigin {
  const char *name; /* in messages */
  int descriptor;
  int64_t at, size;
} WavOrigin;
/* Fills a row of the field. */
int data_wav_read(const DataContext *context, const WavForm *form, const DataField *field,
                  const struct DataVisit *visit, const WavOrigin *origin, unsigned char *row);

/* Makes the table's state, with the call's arguments `workers`, `rate` and `fit`; -1 with a message. */
int data_wav_open(const DataContext *context, DataTable *table, const char *const *formals);

int data_wav_make(const DataContext *context, const DataTable *table, const DataField *field,
                  const struct DataVisit *visit, unsigned char *row);

#endif
