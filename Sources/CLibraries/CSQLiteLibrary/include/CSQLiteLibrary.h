#ifndef FIRN_CSQLITELIBRARY_H
#define FIRN_CSQLITELIBRARY_H

/// Returns the table of functions of the SQLite that is linked into the program, or null if SQLite does not start. The loadable extension does not link
/// this library: it uses the SQLite that loads it.
const void *firn_sqlite_functions(void);
#endif
