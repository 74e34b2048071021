/* nnc-sounds: draws short sounds of five kinds, as a data set of recordings.
 *
 *     nnc-sounds DIRECTORY [--train N] [--val N] [--seed S]
 *
 * Writes WAV files in a folder for each class, train/CLASS/NUMBER.wav and val/..., for `wav_folder`: half a second of
 * one channel at 8000 samples a second, 16 bits, the classes in turns. A sound has any pitch, strength and beginning,
 * before a ground of noise: a tone, one that rises or falls, one that is switched on and off, or mere noise. Each has a
 * random stream of its own, keyed by seed, set and number, so the sets are disjoint. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "random.h"

enum { RATE = 8000, SAMPLES = RATE / 2, HEAD = 44, BYTES = HEAD + 2 * SAMPLES };
static const double turn = 6.283185307179586;

typedef enum Kind { FALL, NOISE, PULSE, RISE, TONE, KINDS } Kind;
static const char *const names[KINDS] = {"fall", "noise", "pulse", "rise", "tone"}; /* in order */

static _Noreturn void fail(const char *doing, const char *what) {
  fprintf(stderr, "nnc-sounds: cannot %s %s: %s\n", doing, what, strerror(errno));
  exit(1);
}

static void draw(Random *random, Kind kind, double sound[SAMPLES]) {
  double pitch = random_between(random, 400, 1500), change = random_between(random, 1.6, 2.4);
  double loud = random_between(random, 0.2, 0.7), ground = random_between(random, 0.005, 0.03);
  double pulses = random_between(random, 8, 16), phase = random_between(random, 0, turn);
  int begin = (int)random_between(random, 0, SAMPLES / 4);
  if (kind == FALL) pitch *= change, change = 1 / change;
  if (kind != FALL && kind != RISE) change = 1;
  for (int i = 0; i < SAMPLES; i++) {
    double at = (double)(i - begin) / (SAMPLES - begin);
    double wave = kind == NOISE ? random_between(random, -1, 1) : sin(phase);
    if (kind == PULSE && sin(turn * pulses * i / RATE) < 0) wave = 0;
    sound[i] = (at < 0 ? 0 : loud * wave) + ground * random_between(random, -1, 1);
    phase += turn * pitch * pow(change, at < 0 ? 0 : at) / RATE;
  }
}

static void put(unsigned char *at, int bytes, uint32_t value) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * i & 255);
}

static void encode(const double sound[SAMPLES], unsigned char bytes[BYTES]) {
  memcpy(bytes, "RIFF....WAVEfmt ", 16);
  put(bytes + 4, 4, BYTES - 8);
  put(bytes + 16, 4, 16);       /* bytes of the format: */
  put(bytes + 20, 2, 1);        /* PCM */
  put(bytes + 22, 2, 1);        /* channels */
  put(bytes + 24, 4, RATE);     /* samples a second */
  put(bytes + 28, 4, 2 * RATE); /* bytes a second */
  put(bytes + 32, 2, 2);        /* bytes a sample */
  put(bytes + 34, 2, 16);       /* bits a sample */
  memcpy(bytes + 36, "data", 4);
  put(bytes + 40, 4, 2 * SAMPLES);
  for (int i = 0; i < SAMPLES; i++)
    put(bytes + HEAD + 2 * i, 2, (uint32_t)(int32_t)lrint(sound[i] * 32767));
}

static void write_file(const char *path, const unsigned char bytes[BYTES]) {
  FILE *file = fopen(path, "wb");
  if (!file) fail("create", path);
  if (fwrite(bytes, 1, BYTES, file) != BYTES) fail("write", path);
  if (fclose(file) != 0) fail("write", path);
}

static void write_set(const char *directory, const char *set_name, int set, long count,
                      uint64_t seed) {
  static double sound[SAMPLES];
  static unsigned char bytes[BYTES];
  char path[4096];
  for (long i = -KINDS; i < count; i++) {
    Kind kind = (Kind)((i + KINDS) % KINDS);
    int length = i < 0 ? snprintf(path, sizeof path, "%s/%s/%s", directory, set_name, names[kind])
                       : snprintf(path, sizeof path, "%s/%s/%s/%06ld.wav", directory, set_name,
                                  names[kind], i);
    errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length >= sizeof path) fail("write into", directory);
    if (i < 0) {
      if (!folder_make(path)) fail("make the folder", path);
      continue;
    }
    Random random = random_stream(seed, set, i);
    draw(&random, kind, sound);
    encode(sound, bytes);
    write_file(path, bytes);
  }
}

static _Noreturn void usage(int status) {
  fputs("usage: nnc-sounds DIRECTORY [--train N] [--val N] [--seed S]\n"
        "Draws sounds of half a second, at 8000 samples a second, in a folder for each of five\n"
        "classes (train/CLASS/*.wav, val/...).  1000 and 200 sounds unless told otherwise.\n",
        status ? stderr : stdout);
  exit(status);
}

static long number_of(const char *option, const char *text) {
  char *end = NULL;
  errno = 0;
  long number = text ? strtol(text, &end, 10) : 0;
  if (text && *text && !*end && errno == 0 && number >= 0 && number <= 1000000) return number;
  fprintf(stderr, "nnc-sounds: %s needs a number from 0 to 1000000, not '%s'\n", option,
          text ? text : "");
  exit(2);
}

int main(int argc, char **argv) {
  long train = 1000, val = 200, seed = 1;
  const char *directory = NULL;
  for (int i = 1; i < argc; i++) {
    long *option = strcmp(argv[i], "--train") == 0  ? &train
                   : strcmp(argv[i], "--val") == 0  ? &val
                   : strcmp(argv[i], "--seed") == 0 ? &seed
                                                    : NULL;
    if (strcmp(argv[i], "--help") == 0) usage(0);
    if (option) {
      *option = number_of(argv[i], argv[i + 1]);
      i++;
    } else if (!directory && argv[i][0] != '-') {
      directory = argv[i];
    } else {
      usage(2);
    }
  }
  if (!directory) usage(2);
  write_set(directory, "train", 0, train, (uint64_t)seed);
  write_set(directory, "val", 1, val, (uint64_t)seed);
  return 0;
}
