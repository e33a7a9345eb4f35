/* The structures of Arrow come from the module CArrow, so that Swift sees them once. */
#include "../CArrow/interface.h"
#include "firn.h"
