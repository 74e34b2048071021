/* SHA-256 (FIPS 180-4): names what is kept by its content, and finds damage. */
#ifndef NNC_SUPPORT_SHA256_H
#define NNC_SUPPORT_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 2 * SHA256_BYTES };

typedef struct Sha256 {
  uint32_t state[8];
  uint64_t length;         /* bytes so far */
  unsigned char block[64]; /* the last length % 64 of them */
} Sha256;

void sha256_begin(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *bytes, size_t count);
/* A string with its end, so that neighbours do not run together. */
void sha256_add_string(Sha256 *hash, const char *string);
void sha256_end(Sha256 *hash, unsigned char digest[SHA256_BYTES]);
/* Lower-case digits and a NUL. */
void sha256_hex(const unsigned char digest[SHA256_BYTES], char text[SHA256_HEX + 1]);

#endif
