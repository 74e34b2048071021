/* What the program says on stderr: errors, warnings, notes and the progress line, which must
 * not mix. */
#ifndef NNC_MESSAGE_H
#define NNC_MESSAGE_H

#include <stdbool.h>

/* The name before every message, the program's own. */
void nnc_message_program(const char *argv0);

/* Each prints one line, "train: error: ...", after clearing an open progress line. What it quotes
 * may come from any file: control characters are escaped (printable.h). */
void nnc_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void nnc_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void nnc_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what was being done, to what, and the reason in errno: "cannot write a/b: No space
 * left". */
void nnc_error_system(const char *doing, const char *what);

/* Quiet programs say only errors and warnings. */
void nnc_message_quiet(bool quiet);
bool nnc_message_is_quiet(void);

/* The progress line: rewritten in place on a terminal, a line of its own elsewhere. */
bool nnc_progress_is_live(void);
void nnc_progress_show(const char *line);   /* cut where the terminal's row ends */
void nnc_progress_report(const char *line); /* a whole line that stays */
int nnc_progress_columns(void);             /* of the terminal */
int nnc_progress_width(const char *line);   /* columns that it takes */
void nnc_progress_end(void);                /* leaves what is shown and goes to the next line */

/* Bytes for a message of one line, where a function fills one instead of printing it. */
enum { NNC_MESSAGE = 1024 };

/* The candidate nearest to a mistyped word, NULL when none is near. */
const char *nnc_nearest(const char *word, int count, const char *const *candidates);

#endif
