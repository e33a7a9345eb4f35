#ifndef FIRN_CSQLITELIBRARY_H
#define FIRN_CSQLITELIBRARY_H

/// SQLite's table of functions, of the library that is linked into the program; null if it does not start. The loadable extension does
/// not link this: it uses the SQLite that loads it.
const void *firn_sqlite_functions(void);
#endif
