/* SHA-256 as FIPS 180-4 writes it: blocks of 64 bytes, 64 rounds each, sixteen words of schedule. */
#include "support/sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }

static uint32_t word_at(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void add_block(uint32_t state[8], const unsigned char *bytes) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) w[i] = word_at(bytes + 4 * i);
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
           (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    uint32_t first = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                     round_constants[i] + w[i];
    uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + second;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

void sha256_begin(Sha256 *hash) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  *hash = (Sha256){0};
  memcpy(hash->state, start, sizeof start);
}

void sha256_add(Sha256 *hash, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  size_t used = hash->length % 64;
  hash->length += count;
  if (used > 0) {
    size_t piece = count < 64 - used ? count : 64 - used;
    memcpy(hash->block + used, at, piece);
    if (used + piece < 64) return;
    add_block(hash->state, hash->block);
    at += piece;
    count -= piece;
  }
  for (; count >= 64; at += 64, count -= 64) add_block(hash->state, at);
  if (count > 0) memcpy(hash->block, at, count);
}

void sha256_add_string(Sha256 *hash, const char *string) {
  sha256_add(hash, string, strlen(string) + 1);
}

void sha256_end(Sha256 *hash, unsigned char digest[SHA256_BYTES]) {
  uint64_t bits = hash->length * 8;
  unsigned char tail[72] = {0x80};
  size_t zeros = (119 - hash->length % 64) % 64; /* after the first byte, up to the length */
  for (int i = 0; i < 8; i++) tail[1 + zeros + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
  sha256_add(hash, tail, 1 + zeros + 8);
  for (int i = 0; i < SHA256_BYTES; i++)
    digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - i % 4 * 8));
}

void sha256_hex(const unsigned char digest[SHA256_BYTES], char text[SHA256_HEX + 1]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < SHA256_BYTES; i++) {
    text[2 * i] = digits[digest[i] >> 4];
    text[2 * i + 1] = digits[digest[i] & 15];
  }
  text[SHA256_HEX] = 0;
}
