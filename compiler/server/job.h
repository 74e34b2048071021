/* Work in processes of their own. A child has a copy of all that the server knows, answers with lines of JSON through a
 * pipe, and is gone: what it took is given back, and a mistake of ours, a program that takes too long or too much memory ends
 * it alone. */
#ifndef NNC_SERVER_JOB_H
#define NNC_SERVER_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include "support/text.h"

typedef struct Job {
  pid_t pid; /* 0: none */
  int pipe;  /* what it answers */
  Text answer;
  size_t taken; /* bytes of it that were handed out */
} Job;

/* Runs work(context, out) in a child, which answers by job_answer(out, ...). False when none could be started. */
bool job_start(Job *job, void (*work)(const void *context, int out), const void *context);
/* In the child: takes over `answer`. */
void job_answer(int out, json_t *answer);

/* Reads what has come; false at the end, when `reason` is NULL or says how the child failed. */
bool job_read(Job *job, const char **reason);
/* The next whole line of what was read, which the caller owns; NULL: none yet. */
json_t *job_next(Job *job);
/* Ends the child, if there is one. */
void job_stop(Job *job);

#endif
