#ifndef FIRN_CSQLITE_H
#define FIRN_CSQLITE_H
#include <stdbool.h>
#include <stdint.h>

// SQLite as the room SQL sees it. Every call goes through the table of functions that SQLite hands to its extensions, so that the same objects
// serve the command, which brings its own SQLite, and the loadable extension, which must use the one that loads it. `sqlite3_` functions
// are therefore not declared here.

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_index_info sqlite3_index_info;

enum { FIRN_SQL_OK = 0, FIRN_SQL_ERROR = 1, FIRN_SQL_CONSTRAINT = 19, FIRN_SQL_ROW = 100, FIRN_SQL_DONE = 101 };
/// What a value is.
enum { FIRN_SQL_INT = 1, FIRN_SQL_REAL = 2, FIRN_SQL_TEXT = 3, FIRN_SQL_BLOB = 4, FIRN_SQL_NULL = 5, FIRN_SQL_MIXED = 6 };
/// Comparisons of a constraint.
enum {
    FIRN_SQL_EQ = 2, FIRN_SQL_GT = 4, FIRN_SQL_LE = 8, FIRN_SQL_LT = 16, FIRN_SQL_GE = 32, FIRN_SQL_LIKE = 65, FIRN_SQL_GLOB = 66, FIRN_SQL_NE = 68,
    FIRN_SQL_IS_NOT_NULL = 70, FIRN_SQL_IS_NULL = 71, FIRN_SQL_IS = 72, FIRN_SQL_LIMIT = 73, FIRN_SQL_OFFSET = 74,
};

// MARK: Rows, as the module hands them to SQLite

/// One column of the rows at hand: arrays that stay where they are until the rows change. Text i is bytes offsets[i] ..< offsets[i + 1].
typedef struct {
    /// FIRN_SQL_INT … FIRN_SQL_MIXED; of mixed ones `forms` tells for each row.
    int32_t form;
    const uint8_t *forms;
    /// A bit a row; null: every row has a value.
    const uint64_t *present;
    const int64_t *words;
    const double *reals;
    const int64_t *offsets;
    const uint8_t *bytes;
    /// Of the rows that were read into it.
    uint64_t stamp;
} firn_sql_column;

/// Where a cursor stands. SQLite's calls for rows and values are answered from here; Swift is called once for a run of rows, and once for
/// a column of it that is looked at.
typedef struct {
    /// Rows of the columns' arrays, in order; null: 0, 1, 2, …
    const int32_t *rows;
    int32_t at, count;
    /// Columns with another stamp hold other rows.
    uint64_t stamp;
    /// One for each column of the type, and the row ids.
    firn_sql_column *columns;
    int32_t column_count;
    bool ended;
    /// No rows follow on those at hand.
    bool is_last;
    /// For each column null, or all vectors of the table, as far as they are known (another form than 0): those at hand are the `place`th.
    /// Null: there are none, the rows are in `columns`.
    firn_sql_column *const *kept;
    int64_t place;
} firn_sql_rows;

// MARK: What Swift defines (Tools/SQL/SQLModule.swift)

/// Opens a table of at most `maximum_columns`; `declaration` and `error` are made by firn_sql_text. Null: an error.
void *firn_sql_table_open(void *context, int maximum_columns, int count, const char *const *arguments, char **declaration, char **error);
void firn_sql_table_close(void *table);
int firn_sql_plan(void *table, sqlite3_index_info *info, char **error);
void *firn_sql_cursor_open(void *table, firn_sql_rows *rows, char **error);
void firn_sql_cursor_close(void *cursor);
int firn_sql_filter(void *cursor, int plan, int count, sqlite3_value **values, char **error);
/// Goes on to the next run of rows.
int firn_sql_advance(void *cursor, char **error);
/// Fills a column for the rows at hand.
int firn_sql_load(void *cursor, int column, char **error);
void firn_sql_context_release(void *context);
/// `SELECT firn_open('people.firn')`.
void firn_sql_open_function(void *context, sqlite3_context *call, int count, sqlite3_value **values);
/// What a statement may do: 0 yes, 1 no.
int firn_sql_authorize(void *guard, int action, const char *first, const char *second, const char *database);
/// Adds module and functions to a connection that loads the extension.
int firn_sql_extend(sqlite3 *db, char **error);

// MARK: The module

/// The table of functions: the first one given stays.
void firn_sql_use(const void *api);
/// A copy that SQLite frees.
char *firn_sql_text(const char *bytes, int64_t count);
/// Registers the module `name`; `context` is released with it. `opens_files`: its arguments are paths, not for views and triggers of a schema.
int firn_sql_add_module(sqlite3 *db, const char *name, bool opens_files, void *context);
int firn_sql_add_function(sqlite3 *db, const char *name, int arguments, void *context);
/// Replaces a function of SQLite by one that fails, in this connection.
int firn_sql_forbid_function(sqlite3 *db, const char *name, int arguments);

int firn_sql_constraint_count(const sqlite3_index_info *info);
bool firn_sql_constraint(const sqlite3_index_info *info, int index, int *column, int *comparison);
/// Whether text is compared by its bytes there.
bool firn_sql_is_binary(sqlite3_index_info *info, int index);
/// The constant on the right, if it is known.
sqlite3_value *firn_sql_right_side(sqlite3_index_info *info, int index);
/// Whether the constraint is an IN whose values can be had at once; then they are asked for so.
bool firn_sql_take_in(sqlite3_index_info *info, int index);
void firn_sql_take(sqlite3_index_info *info, int index, int argument, bool omit);
int firn_sql_order_count(const sqlite3_index_info *info);
int firn_sql_order(const sqlite3_index_info *info, int index, bool *descending);
uint64_t firn_sql_columns_used(const sqlite3_index_info *info);
void firn_sql_finish_plan(sqlite3_index_info *info, int plan, const char *description, bool ordered, bool unique, double cost, int64_t rows);

int firn_sql_value_type(sqlite3_value *value);
/// After text that is a number was made one, as comparisons with numeric columns do.
int firn_sql_numeric_type(sqlite3_value *value);
int64_t firn_sql_value_int(sqlite3_value *value);
double firn_sql_value_real(sqlite3_value *value);
const uint8_t *firn_sql_value_bytes(sqlite3_value *value, int64_t *count);
/// The values of an IN, one after the other; null: no more.
sqlite3_value *firn_sql_in_first(sqlite3_value *list);
sqlite3_value *firn_sql_in_next(sqlite3_value *list);

sqlite3 *firn_sql_context_db(sqlite3_context *call);
void firn_sql_result_int(sqlite3_context *call, int64_t value);
void firn_sql_result_error(sqlite3_context *call, const char *message);

// MARK: A connection

/// A connection for statements that are not trusted. SQLite's memory in the whole process is then limited to half of what there is.
int firn_sql_open(const char *name, sqlite3 **db);
/// Limits SQLite's memory further, to `bytes`.
void firn_sql_limit_memory(int64_t bytes);
int64_t firn_sql_memory_limit(void);
/// The last error is that there was no memory.
bool firn_sql_is_out_of_memory(sqlite3 *db);
bool firn_sql_is_full(sqlite3 *db);
void firn_sql_close(sqlite3 *db);
int firn_sql_execute(sqlite3 *db, const char *sql, char **error);
void firn_sql_free(void *memory);
void firn_sql_guard(sqlite3 *db, void *guard);
const char *firn_sql_message(sqlite3 *db);
/// Bytes before what the last error is about; -1: not known.
int firn_sql_error_offset(sqlite3 *db);
int firn_sql_prepare(sqlite3 *db, const char *sql, int count, sqlite3_stmt **statement, const char **rest);
int firn_sql_step(sqlite3_stmt *statement);
void firn_sql_finalize(sqlite3_stmt *statement);
const char *firn_sql_statement_text(sqlite3_stmt *statement);
int firn_sql_column_count(sqlite3_stmt *statement);
const char *firn_sql_column_name(sqlite3_stmt *statement, int column);
int firn_sql_column_type(sqlite3_stmt *statement, int column);
int64_t firn_sql_column_int(sqlite3_stmt *statement, int column);
double firn_sql_column_real(sqlite3_stmt *statement, int column);
const uint8_t *firn_sql_column_bytes(sqlite3_stmt *statement, int column, int64_t *count);
int firn_sql_parameter_count(sqlite3_stmt *statement);
const char *firn_sql_parameter_name(sqlite3_stmt *statement, int index);
int firn_sql_bind_int(sqlite3_stmt *statement, int index, int64_t value);
int firn_sql_bind_real(sqlite3_stmt *statement, int index, double value);
int firn_sql_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int64_t count);
int firn_sql_bind_blob(sqlite3_stmt *statement, int index, const uint8_t *bytes, int64_t count);
const char *firn_sql_version(void);
#endif
