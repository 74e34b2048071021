/* Opening data for a session's entries. */
#ifndef NNC_SESSION_DATA_H
#define NNC_SESSION_DATA_H

#include "core/session.h"
#include "data/open.h"

/* The folder of the data: --data or the current one. */
static inline const char *nnc_data_folder(const nnc_options *options) {
  return options->data ? options->data : ".";
}

/* A data set, or the files of the command line, for an entry: opened, and index inputs checked
 * against their limits.  NULL after a message. */
nnc_data *nnc_session_open_data(nnc_session *session, const char *set, const nnc_entry *entry);
/* `part`: what standard input is, NULL for all of it. With `told` the message goes there, in NNC_MESSAGE bytes. */
nnc_data *nnc_session_open_files(nnc_session *session, const nnc_entry *entry,
                                 const nnc_data_part *part, char *told);

/* Lets the device keep the rows of training's inputs (NULL: it has none), or those of `data`, unless
 * --resident=no; false: it does not. */
bool nnc_session_keep_rows(nnc_session *session, const nnc_rows *rows);
bool nnc_session_keep_data(nnc_session *session, const nnc_data *data);

#endif
