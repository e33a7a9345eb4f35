#include "CSimdJSON.h"
#include <simdjson.h>
#define TEXT_OF(x) #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)
#define SIMDJSON_VERSION_TEXT TEXT_OF_VALUE(SIMDJSON_VERSION)

extern "C" const char *firn_simdjson_version(void) { return SIMDJSON_VERSION_TEXT; }
