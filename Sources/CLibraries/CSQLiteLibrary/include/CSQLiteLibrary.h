#ifndef FIRN_CSQLITELIBRARY_H
#define FIRN_CSQLITELIBRARY_H
#include <stdbool.h>
#include <stdint.h>

/// Returns the table of functions of the SQLite that is linked into the program, or null if SQLite does not start. The loadable extension does not link
/// this library: it uses the SQLite that loads it.
const void *firn_sqlite_functions(void);

// MARK: Database files (Formats/SQLite)

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

/// Results: those of SQLite, and some of this library.
enum {
    FIRN_SQLITE_OK = 0, FIRN_SQLITE_ERROR = 1, FIRN_SQLITE_PERMISSION = 3, FIRN_SQLITE_BUSY = 5, FIRN_SQLITE_LOCKED = 6, FIRN_SQLITE_NO_MEMORY = 7,
    FIRN_SQLITE_READ_ONLY = 8, FIRN_SQLITE_INPUT_OUTPUT = 10, FIRN_SQLITE_CORRUPT = 11, FIRN_SQLITE_FULL = 13, FIRN_SQLITE_CANNOT_OPEN = 14,
    FIRN_SQLITE_TOO_BIG = 18, FIRN_SQLITE_CONSTRAINT = 19, FIRN_SQLITE_FORBIDDEN = 23, FIRN_SQLITE_NOT_A_DATABASE = 26, FIRN_SQLITE_ROW = 100,
    FIRN_SQLITE_DONE = 101,
    /// A value has another type than the survey found.
    FIRN_SQLITE_MISFIT = 1 << 20,
    /// The row ids of a table do not ascend, or a table has more rows than its file can contain.
    FIRN_SQLITE_DISORDER,
    /// A batch would exceed `limit_bytes`.
    FIRN_SQLITE_BEYOND_LIMIT,
    /// The pages of a table are not as `firn_sqlite_tree` reads them.
    FIRN_SQLITE_UNUSUAL,
};

/// Opens a database for reading, with a URI. Its schema is untrusted: it can call no function that has effects, and nothing can be written.
int firn_sqlite_open(const char *uri, sqlite3 **db);
/// Likewise for a database in memory, whose bytes are copied.
int firn_sqlite_open_bytes(const uint8_t *bytes, int64_t count, sqlite3 **db);
/// Opens a new database for writing, in a file that is empty.
int firn_sqlite_create(const char *path, sqlite3 **db);
void firn_sqlite_close(sqlite3 *db);
/// The maximum number of bytes that SQLite allocates in the whole process.
void firn_sqlite_limit_memory(int64_t bytes);
const char *firn_sqlite_message(sqlite3 *db);
/// The description of a result.
const char *firn_sqlite_words(int code);
int firn_sqlite_execute(sqlite3 *db, const char *sql);
int firn_sqlite_prepare(sqlite3 *db, const char *sql, int64_t count, sqlite3_stmt **statement);
int firn_sqlite_step(sqlite3_stmt *statement);
void firn_sqlite_reset(sqlite3_stmt *statement);
void firn_sqlite_finalize(sqlite3_stmt *statement);
bool firn_sqlite_is_null(sqlite3_stmt *statement, int column);
bool firn_sqlite_is_int(sqlite3_stmt *statement, int column);
int64_t firn_sqlite_int(sqlite3_stmt *statement, int column);
/// Returns the text or the bytes of a value, which are valid until the next step.
const uint8_t *firn_sqlite_bytes(sqlite3_stmt *statement, int column, int64_t *count);
/// The maximum number of columns of a table.
int firn_sqlite_maximum_columns(sqlite3 *db);
/// A number that differs if a file was changed.
uint64_t firn_sqlite_stamp(const char *path);

/// The zone of a date and time: FIRN_SQLITE_ZONE_…, the offset in quarters of an hour, and whether `T` precedes the time.
typedef struct {
    int32_t kind, quarters;
    bool follows_t;
} firn_zone;

/// What the values of a column are.
typedef struct {
    int64_t nulls, integers, reals, texts, blobs;
    /// Texts that are not UTF-8.
    int64_t malformed;
    /// The integers' minimum and maximum, and the number of those that a double does not represent.
    int64_t minimum, maximum, inexact;
    /// What is tested: FIRN_SQLITE_TEST_…, and the digits of a decimal.
    int32_t test, precision, scale;
    /// The values that fail the test.
    int64_t misfits;
    /// Dates: bit F is set if there is one of FIRN_SQLITE_DATE_… F; bit D of `digits` likewise if seconds have D digits of a fraction.
    uint32_t forms, digits;
    /// Whether a fraction ends in 0.
    bool has_zero_fraction;
    /// The zone of all dates of FIRN_SQLITE_DATE_ZONED.
    firn_zone zone;
} firn_sqlite_facts;

enum { FIRN_SQLITE_TEST_NONE, FIRN_SQLITE_TEST_DECIMAL, FIRN_SQLITE_TEST_FLOAT, FIRN_SQLITE_TEST_DATE };
enum { FIRN_SQLITE_DATE_DAY, FIRN_SQLITE_DATE_SPACE, FIRN_SQLITE_DATE_T, FIRN_SQLITE_DATE_Z, FIRN_SQLITE_DATE_ZONED };
/// `Z`, ` UTC`, `+02:00`, `+0200`, `+02`, ` +02:00`, ` +0200`: as in `DateTimeLayout.Zone`.
enum {
    FIRN_SQLITE_ZONE_ZULU = 1,
    FIRN_SQLITE_ZONE_UTC,
    FIRN_SQLITE_ZONE_COLON,
    FIRN_SQLITE_ZONE_DIGITS,
    FIRN_SQLITE_ZONE_HOURS,
    FIRN_SQLITE_ZONE_SPACED_COLON,
    FIRN_SQLITE_ZONE_SPACED_DIGITS
};

/// Steps over rows and adds what their values are to `facts`; the first one is of column `first`. If `first` is 1, column 0 is the row id. A table with more
/// than `maximum_rows` rows is in disorder.
int firn_sqlite_survey(sqlite3_stmt *statement, firn_sqlite_facts *facts, int count, int first, int64_t maximum_rows, int64_t *rows, int64_t *last_row_id);

/// How values become entries of a column.
enum {
    FIRN_SQLITE_INT, FIRN_SQLITE_REAL, FIRN_SQLITE_TEXT, FIRN_SQLITE_BLOB,
    /// Of any type, with the tags of FIRN_SQLITE_TAG_….
    FIRN_SQLITE_ANY,
    /// Texts of dates: seconds in `words`, nanoseconds in `extra`.
    FIRN_SQLITE_DATE,
};
enum { FIRN_SQLITE_TAG_NULL = 0, FIRN_SQLITE_TAG_INT = 2, FIRN_SQLITE_TAG_REAL = 4, FIRN_SQLITE_TAG_TEXT = 5, FIRN_SQLITE_TAG_BLOB = 6 };

/// The values of a column. Text i is bytes offsets[i] ..< offsets[i + 1].
typedef struct {
    int32_t form;
    int64_t nulls;
    uint64_t *present;
    int64_t *words, *extra;
    double *reals;
    int64_t *offsets;
    uint8_t *tags;
    uint8_t *bytes;
    int64_t byte_count, byte_capacity;
} firn_sqlite_column;

typedef struct {
    firn_sqlite_column *columns;
    /// The first of them is column `first` of the statement. If `first` is 1, column 0 is the row id.
    int32_t count, first;
    /// A batch ends after so many rows, or when the texts have so many bytes.
    int64_t maximum_rows, maximum_bytes;
    /// The maximum number of bytes of all texts of a batch.
    int64_t limit_bytes;
    int64_t rows;
    int64_t last_row_id;
    /// The column that FIRN_SQLITE_MISFIT or FIRN_SQLITE_BEYOND_LIMIT is about.
    int32_t fault;
    bool has_row_id;
} firn_sqlite_batch;

/// Makes a batch of columns whose form is set afterwards. Returns null if there is no memory.
firn_sqlite_batch *firn_sqlite_batch_new(int count, int64_t maximum_rows);
void firn_sqlite_batch_free(firn_sqlite_batch *batch);
/// Reads the next rows. Returns FIRN_SQLITE_ROW if there can be more of them, FIRN_SQLITE_DONE at the end.
int firn_sqlite_fetch(sqlite3_stmt *statement, firn_sqlite_batch *batch);

/// Reads the rows of a table from the pages of the database's file, which must not change meanwhile: in a transaction, and without a write-ahead log.
typedef struct firn_sqlite_tree firn_sqlite_tree;

/// Opens the table whose pages begin with the page `root`. `row_id_column` is the column that is the row id, or -1; `reals` states for each column whether
/// its affinity is REAL; `pads`: columns that were added later are null in the rows before. Returns null if only SQLite can read the table.
firn_sqlite_tree *firn_sqlite_tree_open(sqlite3 *db, int64_t root, int count, int row_id_column, const bool *reals, bool pads);
void firn_sqlite_tree_free(firn_sqlite_tree *tree);
/// Restricts the rows to those with at least the row id `low` and, unless it is INT64_MAX, less than `high`.
void firn_sqlite_tree_limit(firn_sqlite_tree *tree, int64_t low, int64_t high);
/// As `firn_sqlite_survey` and `firn_sqlite_fetch`. With FIRN_SQLITE_UNUSUAL, SQLite must read the table.
int firn_sqlite_tree_survey(firn_sqlite_tree *tree, firn_sqlite_facts *facts, int64_t *rows);
int firn_sqlite_tree_fetch(firn_sqlite_tree *tree, firn_sqlite_batch *batch);

/// Empties a column, and allocates its arrays for its form, with room for so many bytes of text. Returns false if there is no memory.
bool firn_sqlite_reserve(firn_sqlite_batch *batch, int column, int64_t bytes);
/// Executes a statement for each row, with the values of its columns. After an error, `rows` is the number of the row.
int firn_sqlite_insert(sqlite3_stmt *statement, firn_sqlite_batch *batch);
/// Binds values for a single row.
void firn_sqlite_bind_text(sqlite3_stmt *statement, int index, const uint8_t *bytes, int64_t count);
void firn_sqlite_bind_blob(sqlite3_stmt *statement, int index, const uint8_t *bytes, int64_t count);
void firn_sqlite_bind_int(sqlite3_stmt *statement, int index, int64_t value);
void firn_sqlite_bind_null(sqlite3_stmt *statement, int index);
#endif
