/* The static libzstd and libbz2 of Debian use stdin, stdout and stderr, for traces only, with code that a shared library can
   have for its own variables alone. These variables take the place of those of the system's library within libfirn. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

struct _IO_FILE;
struct _IO_FILE *stdin, *stdout, *stderr;

static struct _IO_FILE *standard(const char *name) {
    struct _IO_FILE **found = dlsym(RTLD_NEXT, name);
    return found == NULL ? NULL : *found;
}

__attribute__((constructor)) static void begin(void) {
    stdin = standard("stdin");
    stdout = standard("stdout");
    stderr = standard("stderr");
}
