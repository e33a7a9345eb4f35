#ifndef FIRN_CSIMDJSON_H
#define FIRN_CSIMDJSON_H
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
/// Version of the simdjson library that was compiled in, as text.
const char *firn_simdjson_version(void);
#ifdef __cplusplus
}
#endif
#endif
