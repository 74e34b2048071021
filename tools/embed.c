/* Writes the table of embedded files (compiler/support/embedded.h) as C source.
 *
 *     embed OUTPUT.c [NAME=PATH]...
 *
 * NAME is what embedded_find() will look for, PATH the file to read.  The text becomes one string
 * literal a source line, with octal escapes for everything that is not plain ASCII, so the result
 * compiles fast and can be read.  The order is that of the arguments. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *doing, const char *path) {
  fprintf(stderr, "embed: cannot %s %s: %s\n", doing, path, strerror(errno));
  exit(1);
}

static void write_byte(FILE *out, int byte) {
  if (byte == '"' || byte == '\\' || byte == '?') fprintf(out, "\\%c", byte);
  else if (byte >= ' ' && byte < 0x7f) putc(byte, out);
  else fprintf(out, "\\%03o", (unsigned)byte);
}

/* Writes the literals of one file; returns its length. */
static size_t write_text(FILE *out, const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in) fail("open", path);
  size_t length = 0, column = 0;
  for (int byte; (byte = getc(in)) != EOF; length++) {
    if (column == 0) fputs("\n  \"", out);
    column++;
    if (byte == '\n') fputs("\\n", out);
    else write_byte(out, byte);
    if (byte == '\n' || column == 2000) {
      putc('"', out);
      column = 0;
    }
  }
  if (ferror(in)) fail("read", path);
  fclose(in);
  if (column) putc('"', out);
  if (length == 0) fputs("\"\"", out);
  return length;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: embed OUTPUT.c [NAME=PATH]...\n", stderr);
    return 2;
  }
  int count = argc - 2;
  size_t *lengths = calloc((size_t)count + 1, sizeof *lengths);
  FILE *out = fopen(argv[1], "wb");
  if (!lengths || !out) fail("create", argv[1]);
  fputs("/* Written by tools/embed.c. */\n#include \"support/embedded.h\"\n", out);
  for (int i = 0; i < count; i++) {
    char *separator = strchr(argv[i + 2], '=');
    if (!separator) {
      fprintf(stderr, "embed: '%s' is not NAME=PATH\n", argv[i + 2]);
      return 2;
    }
    fprintf(out, "\nstatic const char file_%d[] =", i);
    lengths[i] = write_text(out, separator + 1);
    fputs(";\n", out);
  }
  fputs("\nconst EmbeddedFile embedded_files[] = {\n", out);
  for (int i = 0; i < count; i++) {
    fputs("    {\"", out);
    for (const char *c = argv[i + 2]; *c != '='; c++) write_byte(out, (unsigned char)*c);
    fprintf(out, "\", file_%d, %zu},\n", i, lengths[i]);
  }
  fprintf(out, "    {0, 0, 0},\n};\n\nconst int embedded_file_count = %d;\n", count);
  free(lengths);
  if (ferror(out) | fclose(out)) fail("write", argv[1]);
  return 0;
}
