/* Running other programs: one whose output is read, or several side by side. */
#ifndef NNC_BACKEND_COMMON_PROCESS_H
#define NNC_BACKEND_COMMON_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "support/text.h"
#include "support/vec.h"

typedef struct Arguments {
  const char **items;
  int count, capacity;
} Arguments;

/* Adds the words of a text that blanks separate. */
/* Adds words; NULL is after the last one. */
void process_add(Arena *arena, Arguments *arguments, ...) __attribute__((sentinel));
void process_add_words(Arena *arena, Arguments *arguments, const char *text);
/* Quoted for a shell. */
const char *process_command_line(Arena *arena, const Arguments *arguments);

/* The exit status; -1 with errno when it could not be started. Standard output is read into
 * `output`, standard error is thrown away. */
int process_read(Arena *arena, const Arguments *arguments, Text *output);
/* The same of several side by side, which may print some thousand bytes each. */
void process_read_all(Arena *arena, int count, const Arguments *arguments, Text *outputs,
                      int *statuses);

/* A program to run. */
typedef struct Job {
  Arguments arguments;
  const char *input;        /* file for its standard input */
  const char *output, *log; /* files for its standard output and error */
  int64_t weight;           /* about its duration */
  int status;               /* as of process_read, with `error`; -2: was not started */
  int error;
  pid_t child;
} Job;

/* Runs them, the heaviest first, `parallel` at a time; when one fails, those that wait are not
 * started. True when all ended with status 0. */
bool process_run_jobs(Arena *arena, int count, Job *jobs, int parallel);
/* Ends those that run and waits for them; may be called by a signal's handler. */
void process_stop_jobs(void);

#endif
