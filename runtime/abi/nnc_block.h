/* How many values a reduction takes at a time, or are computed before they go past the caches: known to
 * the compiler, too. */
#ifndef NNC_BLOCK_H
#define NNC_BLOCK_H

enum { NNC_BLOCK = 128 };

#endif
