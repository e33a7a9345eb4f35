// Conversion between character encodings: the system's iconv, without its pointers to pointers and errno.
#ifndef CICONV_H
#define CICONV_H

#include <stddef.h>

/// Opens a converter; NULL if one of the encodings is not known.
void *cconv_open(const char *to, const char *from);

void cconv_close(void *converter);

/// Forgets the state of encodings that have one.
void cconv_reset(void *converter);

/// Converts bytes. Returns 0 if all were converted or the output is full, 1 if the bytes after the consumed ones are invalid or have no
/// counterpart, 2 if they are the beginning of a character.
int cconv_convert(
    void *converter, const unsigned char *in, size_t count, unsigned char *out, size_t capacity, size_t *consumed, size_t *produced);

#endif
