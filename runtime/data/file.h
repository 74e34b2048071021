/* Files: plain or gzip-compressed, standard input, and members of archives. */
#ifndef NNC_DATA_FILE_H
#define NNC_DATA_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "data/table.h"

/* What something is that is no file: "a pipe"; NULL for a file. */
const char *data_file_kind(mode_t mode);
typedef struct DataFile DataFile;
/* "DIRECTORY/NAMESUFFIX", allocated; without the directory where the name is absolute or it is
 * ".", NULL or empty.  NULL: no memory. */
char *data_path(const char *directory, const char *name, const char *suffix);
/* What follows the last slash, or all of a path that has none, as of what is in ".". */
const char *data_path_last(const char *path);
/* "-" is standard input only when `from_command_line`. */
DataFile *data_file_open(const DataContext *context, const char *name);
/* A file inside another: its bytes come from `class`, `size` of them, which is known to be possible. Takes
 * over `name` and `state`, also when it fails. */
typedef struct DataMemberClass {
  /* As data_file_read; 0 at the end, where it checks what there is to check. */
  int64_t (*read)(const DataContext *context, void *state, void *buffer, int64_t size);
  /* The descriptor whose bytes from *start on are the member's, as they are; -1: they are packed. */
  int (*place)(const void *state, int64_t *start);
  void (*close)(void *state);
} DataMemberClass;
DataFile *data_file_of_member(const DataContext *context, const DataMemberClass *class, void *state,
                              char *name, int64_t size);
const char *data_file_name(const DataFile *file); /* lives until data_file_close */
const struct nnc_data_part *
data_file_part(const DataFile *file); /* as of its context; NULL: it is whole */
/* The descriptor of a file that can be read at any place, and where its bytes begin there; it is the
 * DataFile's. -1 with a message for what is compressed, and for pipes. */
int data_file_place(const DataContext *context, DataFile *file, int64_t *start);
/* Bytes that can still follow: exact for a plain file, a bound for a compressed one, INT64_MAX for
 * a pipe.  Callers refuse larger claims before they allocate. */
int64_t data_file_limit(const DataFile *file);
typedef int DataFileLoad(const DataContext *context, DataFile *file, DataField *field);
/* For sources with a file each: opens the file of every field that is needed (the nth unnamed
 * argument, or the next of the files from the command line), sets field->file, and calls `load`.
 */
int data_file_load_each(const DataContext *context, DataTable *table, DataFileLoad *load);
/* Loads the field's rows of a file; where it has those of others already, these follow. */
int data_file_load_field(const DataContext *context, DataFile *file, DataField *field,
                         DataFileLoad *load);
int data_file_load_named(const DataContext *context, const char *name, DataField *field,
                         DataFileLoad *load);
/* What patterns need of the runtime; the stage `match` has it. */
typedef struct DataMatching {
  /* Adds the names that the pattern matches. */
  int (*match)(const DataContext *context, const char *pattern, DataNames *names);
  /* Loads a file whose rows follow those that the field has. */
  int (*add_rows)(const DataContext *context, DataFile *file, DataField *field, DataFileLoad *load);
  /* Loads all files that the pattern matches. */
  int (*load)(const DataContext *context, const char *pattern, DataField *field,
              DataFileLoad *load);
} DataMatching;
/* The files that the name stands for, which may be a pattern; data_names_free. */
int data_file_names(const DataContext *context, const char *name, DataNames *names);
int data_names_add(const DataContext *context, DataNames *names, const char *name); /* a copy */
/* As many bytes as there are, up to `size`; -1 with a message on a read error or corrupt gzip. */
int64_t data_file_read(const DataContext *context, DataFile *file, void *buffer, int64_t size);
/* Nothing may follow; also checks the sum at the end of a compressed file. */
int data_file_expect_end(const DataContext *context, DataFile *file);
void data_file_close(DataFile *file);
/* Allocates the values of a field whose shape is set, if the file can hold them: their bytes or
 * -1. */
int64_t data_file_claim(const DataContext *context, DataFile *file, DataField *field);
/* Fails because the values, which start at that byte of the file, are not all there. */
int data_file_fail_short(const DataContext *context, const DataFile *file, const DataField *field,
                         int64_t start);
int64_t data_file_consumed(const DataFile *file); /* bytes read so far, uncompressed */
/* The rest of the file, allocated, with a zero byte after it; NULL with a message. */
char *data_file_read_all(const DataContext *context, DataFile *file, int64_t *size);
/* For sources with one file for all fields: opens it (the argument `file`, or the file from the
 * command line). */
DataFile *data_file_open_argument(const DataContext *context, const char *const *formals);
/* The same where a pattern may stand for several. */
int data_file_argument_names(const DataContext *context, const char *const *formals,
                             DataNames *names);
/* Reads the values of a field with a file of its own, whose shape is set: allocates and reads
 * exactly so many bytes, and checks that the file ends there. `swaps`: its numbers are big-endian.
 * Where rows stay on disk, they are only noted. */
int data_file_read_field(const DataContext *context, DataFile *file, DataField *field, bool swaps);
/* Fails because the field's shape needs more bytes than any file has; how many it needs, or -1. */
int64_t data_file_needed(const DataContext *context, const DataFile *file, const DataField *field);

#endif
