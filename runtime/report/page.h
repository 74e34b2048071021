/* Pieces of an HTML page. Whatever comes from a program, its data or its files goes through nnc_page_text. */
#ifndef NNC_PAGE_H
#define NNC_PAGE_H

#include <stdint.h>
#include <stdio.h>

/* As text or as an attribute's value: what HTML reads as more than a character is escaped, and what no page may hold
 * (control characters, bytes that are not UTF-8) is U+FFFD. */
void nnc_page_text(FILE *file, const char *text);

/* `refresh`: the page reads itself anew after so many seconds; 0: it does not. */
void nnc_page_begin(FILE *file, const char *title, int refresh);
void nnc_page_end(FILE *file);
void nnc_page_section(FILE *file, const char *title);

/* A figure of the run in large type, and what it is. */
void nnc_page_tile(FILE *file, const char *value, const char *what);

/* A number to so many digits; what is none is called as in the log: NaN, Infinity, -Infinity. */
enum { NNC_DIGITS = 32 };
const char *nnc_page_digits(char text[NNC_DIGITS], int digits, double number);

/* The cell of a table, of text or of a number. */
void nnc_page_cell(FILE *file, const char *text);
void nnc_page_number(FILE *file, double number);
/* Begins a table, which scrolls by itself where it is too wide; ended with "</table></div>". */
void nnc_page_table(FILE *file, const char *class, const char *label);
/* The same with its head: the names of the columns; those that begin with '>' are of numbers. */
void nnc_page_head(FILE *file, const char *caption, int count, const char *const *names);
/* A row of two cells. */
void nnc_page_pair(FILE *file, const char *name, const char *text);

/* Before what is wanted by few; closed with "</details>". */
void nnc_page_fold(FILE *file, const char *title);

/* "data:image/png;base64,...": a picture of rows of bytes, 1 or 3 a pixel. */
void nnc_page_picture(FILE *file, int width, int height, int channels, const uint8_t *pixels);

#endif
