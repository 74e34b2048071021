/* Messages, with the calls that led there. */
#ifndef NNC_ELABORATE_REPORT_H
#define NNC_ELABORATE_REPORT_H

#include "elaborate/core/value.h"
#include "support/diagnostics.h"

/* An error at `at` with the chain of calls; in the prelude the caret goes to the user's call. */
Diagnostic *report_error(Elaborator *e, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
Diagnostic *report_warning(Elaborator *e, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same error where no note or help is added, as what a function returns that could not do its work:
 * NULL, which is false as well; an error value. */
void *report_failure(Elaborator *e, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
Value report_error_value(Elaborator *e, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Where a tensor came from, with its type; NULL, as of the other additions. */
void *report_note_tensor(Elaborator *e, Diagnostic *diagnostic, const char *what, const Node *node);
void report_suggest(Diagnostic *diagnostic, const char *name, const char *const *candidates,
                    int count);
/* "loss, accuracy and f1"; "nothing" of none. */
const char *report_list(Arena *arena, const char *const *names, int count);
/* The candidate that was probably meant, by its spelling or as another framework's word; or NULL. */
const char *report_meant(const char *name, const char *const *candidates, int count);
/* Which candidate another framework's word means; NULL when none (synonyms.c). */
const char *report_synonym(const char *name, const char *const *candidates, int count);
/* "an integer" where another was found: "WHAT must be WANTED, found FOUND". */
void *report_wrong_kind(Elaborator *e, Span at, const char *what, const char *wanted, Value found);
Value report_kind(Elaborator *e, Span at, const char *what, const char *wanted, Value found);
/* Where the value is, or is computed of, an option: the option's place, and that a constant is needed here;
 * then true. */
bool report_option(Elaborator *e, Diagnostic *diagnostic, Value value);
/* The place in the user's file that stands for `at`. */
Span report_user_span(const Elaborator *e, Span at);

#endif
