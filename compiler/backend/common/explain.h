/* What is said of a build that failed, and whose mistake it is: the machine's, the user's or ours.
 * All messages go to standard error. */
#ifndef NNC_BACKEND_COMMON_EXPLAIN_H
#define NNC_BACKEND_COMMON_EXPLAIN_H

#include "backend/common/keys.h"
#include "backend/common/process.h"

/* A job whose output and log are files of the build. */
Job explain_job(const Build *build, const char *name, const char *input);

/* Writes the emitted file beside the executable; false after a message. */
bool explain_keep_source(const Build *build);
/* What failed jobs printed, or all: equal texts once. True when that was anything. */
bool explain_print_logs(const Build *build, int count, const Job *jobs, bool only_failed);
/* The command of a job, for --verbose. */
void explain_command(const Build *build, const Job *job);

/* Whether the compiler does not know a machine that the code is to be for: that is told. */
bool explain_arch(const Build *build);
/* The user's file that the C compiler refused, with what it said; false when it was another. */
bool explain_extern(const Build *build, int count, const Job *jobs, Object *const *made);
/* A program with functions of the user's that cannot be linked: which of them is not there, or else
 * that something of their files does not fit. */
void explain_link(const Build *build, const Job *job);
/* What else failed. */
void explain_failure(const Build *build, int count, const Job *jobs);

#endif
