#include "CIconv.h"

#include <errno.h>
#include <iconv.h>

void *cconv_open(const char *to, const char *from) {
    iconv_t converter = iconv_open(to, from);
    return converter == (iconv_t)-1 ? NULL : (void *)converter;
}

void cconv_close(void *converter) { iconv_close((iconv_t)converter); }

void cconv_reset(void *converter) { iconv((iconv_t)converter, NULL, NULL, NULL, NULL); }

int cconv_convert(
    void *converter, const unsigned char *in, size_t count, unsigned char *out, size_t capacity, size_t *consumed, size_t *produced) {
    char *from = (char *)in, *to = (char *)out;
    size_t left = count, room = capacity;
    size_t result = iconv((iconv_t)converter, &from, &left, &to, &room);
    int problem = result == (size_t)-1 ? errno : 0;
    *consumed = count - left;
    *produced = capacity - room;
    return problem == EILSEQ ? 1 : problem == EINVAL ? 2 : 0;
}
