/* The exit statuses of a generated program. */
#ifndef NNC_EXIT_H
#define NNC_EXIT_H

enum nnc_exit {
  NNC_EXIT_OK = 0,
  NNC_EXIT_FAILURE = 1, /* a file, the data, the numbers, memory */
  NNC_EXIT_USAGE = 2,
  NNC_EXIT_INTERRUPTED = 130, /* by a signal, after saving */
};

#endif
