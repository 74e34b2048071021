/* How many values a row's reduction takes at a time: known to the compiler, too. */
#ifndef NNC_BLOCK_H
#define NNC_BLOCK_H

enum { NNC_BLOCK = 128 };

#endif
