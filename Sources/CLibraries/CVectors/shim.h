// The vector instructions that every x86-64 processor has. Their functions are compiled into the code that calls them.
#if defined(__x86_64__)
#include <emmintrin.h>
#endif
