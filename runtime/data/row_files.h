/* Rows that are files, one each: pictures, sounds. */
#ifndef NNC_DATA_ROW_FILES_H
#define NNC_DATA_ROW_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "data/table.h"

/* A growing list of strings that it owns. */
typedef struct FileNames {
  int64_t count, capacity;
  char **items;
} FileNames;

/* A kind of such files. */
typedef struct RowFileKind {
  const char *what, *one; /* in messages: "pictures", "a picture" */
  const char *ends[4];    /* of their names, in any case; NULL-terminated */
  const char *ends_text;  /* ".jpg, .jpeg, .png" */
  size_t bytes;           /* of a table's state, which begins with RowFiles */
  /* The shape of a field of so many of them, as its input wants it; 0, or -1 with a message. */
  int (*shape)(const DataContext *context, DataField *field, int64_t count);
} RowFileKind;

/* What a table of such rows has as its state. */
typedef struct RowFiles {
  const RowFileKind *kind;
  FileNames names; /* of the files, as they are opened: a row each */
  bool skips;      /* files that cannot be read are left out */
  int workers;     /* 0: as many as there are processors */
} RowFiles;

/* Takes over `name`; NULL is a failure of memory.  0, or -1 with a message. */
int data_files_add_name(const DataContext *context, FileNames *names, char *name);
void data_files_free_names(FileNames *names);
/* The folder's files of the kind, or (NULL) its own folders, sorted; hidden ones do not count.  `tells_rows`: what is
 * called like a file of the kind but cannot be one is listed, to be told when it is read; else it is an error. */
int data_files_list(const DataContext *context, const char *folder, const RowFileKind *kind,
                    bool tells_rows, FileNames *names);
/* The files of a folder, of which there must be some, after those that are there. */
int data_files_add_folder(const DataContext *context, const char *folder, RowFiles *files);
/* Whether there are any. */
bool data_files_hold(const DataContext *context, const char *folder, const RowFileKind *kind);
/* The files of a folder that has some itself; an error where its folders have some, too: what is meant? */
int data_files_add_flat(const DataContext *context, const char *root, RowFiles *files);
/* The message of a folder that has no folders, one for each class; -1. */
int data_files_fail_flat(const DataContext *context, const char *root, const RowFileKind *kind);
/* The files from the command line, or folders of them; `has_classes`: a folder may also be one of a folder for each class. */
int data_files_add_given(const DataContext *context, RowFiles *files, bool has_classes);
/* Makes the table's state, with the call's argument `workers`; NULL with a message. */
RowFiles *data_files_open(const DataContext *context, DataTable *table, const RowFileKind *kind,
                          const char *const *formals);
/* The argument `on_error`. */
int data_files_on_error(const DataContext *context, RowFiles *files, const char *const *formals);

/* Of the class of a source whose table has that state. */
const char *data_files_row_name(const DataTable *table, int64_t row);
bool data_files_skips(const DataTable *table);
int data_files_workers(const DataTable *table);
void data_files_close(DataTable *table);

#endif
