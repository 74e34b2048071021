/* Diagnostics: what a user is told of a mistake.
 *
 *     mnist.net:14:10: error: unknown name 'relux'
 *        14 | h1 = relux(linear(x, 1000))
 *           |      ^~~~~
 *       help: did you mean 'relu'?
 *
 * Errors are collected and printed in the order of their discovery; several come from one run. A
 * diagnostic carries notes (each may have a place of its own, shown with its line) and helps (no
 * place). The chain of calls for an error inside a `def` is a list of notes.  The text of the
 * messages is stable: golden tests hold all of it. */
#ifndef NNC_SUPPORT_DIAGNOSTICS_H
#define NNC_SUPPORT_DIAGNOSTICS_H

#include <stdio.h>
#include "support/source.h"

typedef struct Diagnostics Diagnostics;
typedef struct Diagnostic Diagnostic;

typedef enum Severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE, SEVERITY_HELP } Severity;

typedef struct Message {
  Severity severity;
  Span at; /* line 0: no place */
  const char *text;
} Message;

enum { DIAGNOSTICS_LIMIT = 20 }; /* errors printed in one run; then "and N more" */

Diagnostics *diagnostics_create(Arena *arena);
int diagnostics_error_count(const Diagnostics *diagnostics);
int diagnostics_warning_count(const Diagnostics *diagnostics);
/* Prints all; colour only where `colour` is nonzero. */
void diagnostics_print(const Diagnostics *diagnostics, FILE *stream, int colour);

/* Of the diagnostic number `i`, its error or warning with `part` 0, then its notes and helps; NULL past the last. */
const Message *diagnostics_message(const Diagnostics *diagnostics, int i, int part);

/* The same message at the same place is recorded once.  The result is valid in either case. */
Diagnostic *diag_error(Diagnostics *diagnostics, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
Diagnostic *diag_warning(Diagnostics *diagnostics, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Both give NULL: what a function returns that could not do its work. */
void *diag_note(Diagnostic *diagnostic, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *diag_help(Diagnostic *diagnostic, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
