#ifndef FIRN_CSQLITE_H
#define FIRN_CSQLITE_H
#include <stdbool.h>
#include <stdint.h>

// The interface of SQLite for the module SQL. Every call goes through the table of functions that SQLite passes to extensions, so that the same objects
// serve the command, which contains its own SQLite, and the loadable extension, which must use the one that loads it. Therefore no `sqlite3_` functions are
// declared here.

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_index_info sqlite3_index_info;
/// The arguments of one call of a function.
typedef struct firn_sql_arguments firn_sql_arguments;

enum { FIRN_SQL_OK = 0, FIRN_SQL_ERROR = 1, FIRN_SQL_INTERRUPT = 9, FIRN_SQL_CONSTRAINT = 19, FIRN_SQL_ROW = 100, FIRN_SQL_DONE = 101 };
/// The kinds of modules: tables without arguments that are paths, tables of files by path, and groups, which are a table-valued function.
enum { FIRN_SQL_TABLES = 0, FIRN_SQL_FILES = 1, FIRN_SQL_GROUPS = 2 };
/// The type of a value.
enum { FIRN_SQL_INT = 1, FIRN_SQL_REAL = 2, FIRN_SQL_TEXT = 3, FIRN_SQL_BLOB = 4, FIRN_SQL_NULL = 5, FIRN_SQL_MIXED = 6 };
/// The operators of constraints.
enum {
    FIRN_SQL_EQ = 2, FIRN_SQL_GT = 4, FIRN_SQL_LE = 8, FIRN_SQL_LT = 16, FIRN_SQL_GE = 32, FIRN_SQL_LIKE = 65, FIRN_SQL_GLOB = 66, FIRN_SQL_NE = 68,
    FIRN_SQL_IS_NOT_NULL = 70, FIRN_SQL_IS_NULL = 71, FIRN_SQL_IS = 72, FIRN_SQL_LIMIT = 73, FIRN_SQL_OFFSET = 74,
};

// MARK: Rows, as the module passes them to SQLite

/// One column of the current rows: arrays that stay in place until the rows change. Text i is bytes offsets[i] ..< offsets[i + 1].
typedef struct {
    /// FIRN_SQL_INT … FIRN_SQL_MIXED; for FIRN_SQL_MIXED, `forms` has the type of each row.
    int32_t form;
    const uint8_t *forms;
    /// One bit for each row; null if every row has a value.
    const uint64_t *present;
    const int64_t *words;
    const double *reals;
    const int64_t *offsets;
    const uint8_t *bytes;
    /// The stamp of the rows that were read into this column.
    uint64_t stamp;
} firn_sql_column;

/// The position of a cursor. SQLite's calls for rows and values are answered from here. Swift is called once for each run of rows, and once for each column
/// of a run that is read.
typedef struct {
    /// The rows in the columns' arrays, in order; null for 0, 1, 2, …
    const int32_t *rows;
    int32_t at, count;
    /// Columns with another stamp contain other rows.
    uint64_t stamp;
    /// One for each column of the type, and one for the row ids.
    firn_sql_column *columns;
    int32_t column_count;
    bool ended;
    /// Whether no rows follow the current ones.
    bool is_last;
    /// For each column null, or all vectors of the table that are already decoded (their form is not 0); the current ones are at index `vector`.
    /// Null if there are none, so that the rows are in `columns`.
    firn_sql_column *const *kept;
    int64_t vector;
} firn_sql_rows;

// MARK: Functions that Swift defines (Tools/SQL/SQLModule.swift)

/// Opens a table of at most `maximum_columns`; `declaration` and `error` are allocated by firn_sql_text. Returns null after an error.
void *firn_sql_table_open(void *context, int maximum_columns, int count, const char *const *arguments, char **declaration, char **error);
void firn_sql_table_close(void *table);
int firn_sql_plan(void *table, sqlite3_index_info *info, char **error);
void *firn_sql_cursor_open(void *table, firn_sql_rows *rows, char **error);
void firn_sql_cursor_close(void *cursor);
int firn_sql_filter(void *cursor, int plan, int count, sqlite3_value **values, char **error);
/// Advances to the next run of rows.
int firn_sql_advance(void *cursor, char **error);
/// Fills a column for the current rows.
int firn_sql_load(void *cursor, int column, char **error);
void firn_sql_context_release(void *context);
/// Implements `SELECT firn_open('people.firn')`.
void firn_sql_open_function(void *context, sqlite3_context *call, int count, sqlite3_value **values);
/// Returns 0 if a statement may do this, 1 if not.
int firn_sql_authorize(void *guard, int action, const char *first, const char *second, const char *database);
/// Calls the function with a number (Tools/SQL/SQLFunctions+Module.swift), which answers or fails.
void firn_sql_call(void *context, int number, const firn_sql_arguments *arguments);
/// Makes the state of an aggregate.
void *firn_sql_aggregate_new(void *context, int number);
/// Adds a row; `removes`: removes the row that was added first, for windows.
void firn_sql_aggregate_step(void *state, const firn_sql_arguments *arguments, bool removes);
void firn_sql_aggregate_value(void *state, const firn_sql_arguments *arguments);
void firn_sql_aggregate_release(void *state);
/// Adds the module and the functions to a connection that loads the extension.
int firn_sql_extend(sqlite3 *db, char **error);

// MARK: The module

/// Sets the table of functions. Only the first call has an effect.
void firn_sql_use(const void *api);
/// Returns a copy that SQLite frees.
char *firn_sql_text(const char *bytes, int64_t count);
/// Registers the module `name`; `context` is released with it. Views and triggers of a schema cannot use FIRN_SQL_FILES, whose arguments are paths.
int firn_sql_add_module(sqlite3 *db, const char *name, int kind, void *context);
int firn_sql_add_function(sqlite3 *db, const char *name, int arguments, void *context);
/// Adds the collation that compares texts as decimals.
int firn_sql_add_collation(sqlite3 *db, const char *name);
/// Replaces a function of SQLite by one that fails, in this connection.
int firn_sql_forbid_function(sqlite3 *db, const char *name, int arguments);

// MARK: Functions (functions.c)

/// Sets the table of functions for functions.c; `firn_sql_use` calls it.
void firn_sql_use_in_functions(const void *api);
/// Adds a function with this number of arguments (-1: any); `context` is released with it. Aggregates are window functions too.
int firn_sql_add(sqlite3 *db, const char *name, int arguments, int number, bool is_aggregate, void *context);
int firn_sql_argument_count(const firn_sql_arguments *arguments);
sqlite3_value *firn_sql_argument(const firn_sql_arguments *arguments, int index);
void firn_sql_answer_null(const firn_sql_arguments *arguments);
void firn_sql_answer_int(const firn_sql_arguments *arguments, int64_t value);
void firn_sql_answer_real(const firn_sql_arguments *arguments, double value);
void firn_sql_answer_text(const firn_sql_arguments *arguments, const uint8_t *bytes, int64_t count);
void firn_sql_answer_blob(const firn_sql_arguments *arguments, const uint8_t *bytes, int64_t count);
void firn_sql_answer_error(const firn_sql_arguments *arguments, const char *message);
/// The maximum number of bytes of a value.
int64_t firn_sql_maximum_length(const firn_sql_arguments *arguments);

int firn_sql_constraint_count(const sqlite3_index_info *info);
bool firn_sql_constraint(const sqlite3_index_info *info, int index, int *column, int *comparison);
/// Returns whether the constraint compares text bytewise.
bool firn_sql_is_binary(sqlite3_index_info *info, int index);
/// Returns the constant on the right side, or null if it is not known.
sqlite3_value *firn_sql_right_side(sqlite3_index_info *info, int index);
/// Returns whether the constraint is an IN whose values can be passed together; if so, requests that.
bool firn_sql_take_in(sqlite3_index_info *info, int index);
void firn_sql_take(sqlite3_index_info *info, int index, int argument, bool omit);
int firn_sql_order_count(const sqlite3_index_info *info);
int firn_sql_order(const sqlite3_index_info *info, int index, bool *descending);
uint64_t firn_sql_columns_used(const sqlite3_index_info *info);
void firn_sql_finish_plan(sqlite3_index_info *info, int plan, const char *description, bool ordered, bool unique, double cost, int64_t rows);

int firn_sql_value_type(sqlite3_value *value);
/// Returns the type after text that is a number was converted, as in comparisons with numeric columns.
int firn_sql_numeric_type(sqlite3_value *value);
int64_t firn_sql_value_int(sqlite3_value *value);
double firn_sql_value_real(sqlite3_value *value);
const uint8_t *firn_sql_value_bytes(sqlite3_value *value, int64_t *count);
/// Return the values of an IN, one after the other; null at the end.
sqlite3_value *firn_sql_in_first(sqlite3_value *list);
sqlite3_value *firn_sql_in_next(sqlite3_value *list);

sqlite3 *firn_sql_context_db(sqlite3_context *call);
void firn_sql_result_int(sqlite3_context *call, int64_t value);
void firn_sql_result_error(sqlite3_context *call, const char *message);

// MARK: A connection

/// Opens a connection for untrusted statements, and limits SQLite's memory in the whole process to half of the available memory.
int firn_sql_open(const char *name, sqlite3 **db);
/// Limits SQLite's memory further, to `bytes`.
void firn_sql_limit_memory(int64_t bytes);
int64_t firn_sql_memory_limit(void);
/// Returns whether the last error is a lack of memory.
bool firn_sql_is_out_of_memory(sqlite3 *db);
bool firn_sql_is_full(sqlite3 *db);
void firn_sql_close(sqlite3 *db);
int firn_sql_execute(sqlite3 *db, const char *sql, char **error);
void firn_sql_free(void *memory);
void firn_sql_guard(sqlite3 *db, void *guard);
/// Interrupts the statements of this thread's connection that still run after this many seconds from now.
void firn_sql_set_timeout(sqlite3 *db, double seconds);
/// Makes the statements that run end with an error. Any thread may call it.
void firn_sql_interrupt(sqlite3 *db);
/// Returns whether the last timeout on this thread has interrupted a statement.
bool firn_sql_is_timed_out(void);
/// Returns the number of rows that SQLite has requested from all tables. Any thread may call it.
int64_t firn_sql_rows_passed(void);
const char *firn_sql_message(sqlite3 *db);
/// Returns the byte offset in the statement that the last error refers to, or -1 if it is not known.
int firn_sql_error_offset(sqlite3 *db);
int firn_sql_prepare(sqlite3 *db, const char *sql, int count, sqlite3_stmt **statement, const char **rest);
int firn_sql_step(sqlite3_stmt *statement);
void firn_sql_finalize(sqlite3_stmt *statement);
const char *firn_sql_statement_text(sqlite3_stmt *statement);
int firn_sql_column_count(sqlite3_stmt *statement);
const char *firn_sql_column_name(sqlite3_stmt *statement, int column);
/// The column of a table that a result column shows.
typedef struct {
    const char *database, *table, *column;
} firn_sql_origin;
/// Returns NULL in all members for an expression, and in a SQLite that was built without this function.
firn_sql_origin firn_sql_column_origin(sqlite3_stmt *statement, int column);
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
