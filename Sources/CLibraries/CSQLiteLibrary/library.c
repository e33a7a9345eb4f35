#include <sqlite3.h>
#include <stddef.h>
#include "CSQLiteLibrary.h"

static const void *functions;

/// An extension that only stores the table of functions, because SQLite passes it only to extensions.
static int take(sqlite3 *db, char **error, const void *api) {
    (void)db, (void)error;
    functions = api;
    return SQLITE_OK;
}

const void *firn_sqlite_functions(void) {
    if (functions) return functions;
    void (*entry)(void) = (void (*)(void))take;
    if (sqlite3_auto_extension(entry) != SQLITE_OK) return NULL;
    sqlite3 *db = NULL;
    sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL);
    sqlite3_close(db);
    sqlite3_cancel_auto_extension(entry);
    return functions;
}
