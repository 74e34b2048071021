/* The shortest decimal that reads back as the same number. */
#ifndef NNC_SHORTEST_H
#define NNC_SHORTEST_H

#include <stdbool.h>

enum { NNC_SHORTEST_TEXT = 40 };

/* As printf's %g writes it with 6 to 9 digits, of a double with 15 to 17; `value` is finite. The length, without the end. */
int nnc_shortest(char text[NNC_SHORTEST_TEXT], double value, bool is_double);

#endif
