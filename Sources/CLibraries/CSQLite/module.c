// The module `firn`: virtual tables of .firn files. Calls for each row and value are answered here from arrays that Swift filled; everything else
// is implemented in Swift (Tools/SQL).
#include <sqlite3ext.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "CSQLite.h"

// The declaration of SQLITE_EXTENSION_INIT1, but static.
static const sqlite3_api_routines *sqlite3_api;

_Static_assert(FIRN_SQL_EQ == SQLITE_INDEX_CONSTRAINT_EQ && FIRN_SQL_GE == SQLITE_INDEX_CONSTRAINT_GE && FIRN_SQL_LIKE == SQLITE_INDEX_CONSTRAINT_LIKE
               && FIRN_SQL_GLOB == SQLITE_INDEX_CONSTRAINT_GLOB && FIRN_SQL_NE == SQLITE_INDEX_CONSTRAINT_NE && FIRN_SQL_IS == SQLITE_INDEX_CONSTRAINT_IS
               && FIRN_SQL_IS_NULL == SQLITE_INDEX_CONSTRAINT_ISNULL && FIRN_SQL_LIMIT == SQLITE_INDEX_CONSTRAINT_LIMIT
               && FIRN_SQL_OFFSET == SQLITE_INDEX_CONSTRAINT_OFFSET, "the constants of the header must equal SQLite's");
_Static_assert(FIRN_SQL_INT == SQLITE_INTEGER && FIRN_SQL_NULL == SQLITE_NULL && FIRN_SQL_BLOB == SQLITE_BLOB, "the constants of the header must equal SQLite's");

typedef struct {
    sqlite3_vtab base;
    void *table;
} firn_table;

typedef struct {
    sqlite3_vtab_cursor base;
    firn_sql_rows rows;
    void *cursor;
} firn_cursor;

void firn_sql_use(const void *api) {
    if (!sqlite3_api) firn_sql_use_in_functions(sqlite3_api = api);
}

/// Returns whether sqlite3_vtab_in, _rhs_value, _distinct and error_offset exist: 3.38 added them, and the function table of older versions is shorter.
static int is_recent(void) { return sqlite3_libversion_number() >= 3038000; }

char *firn_sql_text(const char *bytes, int64_t count) {
    char *copy = sqlite3_malloc64((sqlite3_uint64)count + 1);
    if (!copy) return NULL;
    if (count > 0) memcpy(copy, bytes, (size_t)count);
    copy[count] = 0;
    return copy;
}

// MARK: The module's methods

static int table_failed(sqlite3_vtab *base, char *error, int code) {
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = error;
    return code;
}

static int connect_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out, char **error) {
    char *declaration = NULL;
    void *opened = firn_sql_table_open(context, sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1), count, arguments, &declaration, error);
    if (!opened) return SQLITE_ERROR;
    int code = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
    firn_table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (!table) {
        if (code != SQLITE_OK) *error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        firn_sql_table_close(opened);
        return code == SQLITE_OK ? SQLITE_NOMEM : code;
    }
    memset(table, 0, sizeof *table);
    table->table = opened;
    *out = &table->base;
    return SQLITE_OK;
}

/// Opens a file by a path. The schema of a database file can contain any path, so its views and triggers must not read such tables: the database may come
/// from an untrusted source. SQLite before 3.31 does not support this restriction.
static int connect_file(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out, char **error) {
    int code = connect_table(db, context, count, arguments, out, error);
    if (code == SQLITE_OK && sqlite3_libversion_number() >= 3031000) sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    return code;
}

static int create_file(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out, char **error) {
    return connect_file(db, context, count, arguments, out, error);
}

/// Must be a different function from `connect_table`: if both were the same, the module's name would itself be a table.
static int create_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out, char **error) {
    return connect_table(db, context, count, arguments, out, error);
}

static int disconnect_table(sqlite3_vtab *base) {
    firn_table *table = (firn_table *)base;
    firn_sql_table_close(table->table);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    char *error = NULL;
    int code = firn_sql_plan(((firn_table *)base)->table, info, &error);
    return code == SQLITE_OK || code == SQLITE_CONSTRAINT ? code : table_failed(base, error, code);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    firn_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    cursor->rows.ended = true;
    char *error = NULL;
    cursor->cursor = firn_sql_cursor_open(((firn_table *)base)->table, &cursor->rows, &error);
    if (!cursor->cursor) {
        sqlite3_free(cursor);
        return table_failed(base, error, SQLITE_ERROR);
    }
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    firn_cursor *cursor = (firn_cursor *)base;
    firn_sql_cursor_close(cursor->cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *description, int count, sqlite3_value **values) {
    (void)description;
    char *error = NULL;
    int code = firn_sql_filter(((firn_cursor *)base)->cursor, plan, count, values, &error);
    return code == SQLITE_OK ? code : table_failed(base->pVtab, error, code);
}

/// The number of rows that SQLite has requested from all tables, for the display of progress. If several threads run statements, some are not counted.
static _Atomic int64_t rows_passed;

static int next_row(sqlite3_vtab_cursor *base) {
    firn_cursor *cursor = (firn_cursor *)base;
    atomic_store_explicit(&rows_passed, atomic_load_explicit(&rows_passed, memory_order_relaxed) + 1, memory_order_relaxed);
    if (++cursor->rows.at < cursor->rows.count) return SQLITE_OK;
    if (cursor->rows.is_last) {
        cursor->rows.ended = true;
        return SQLITE_OK;
    }
    char *error = NULL;
    int code = firn_sql_advance(cursor->cursor, &error);
    return code == SQLITE_OK ? code : table_failed(base->pVtab, error, code);
}

static int is_at_end(sqlite3_vtab_cursor *base) { return ((firn_cursor *)base)->rows.ended; }

static int loaded(firn_cursor *cursor, int index, const firn_sql_column **out) {
    if (cursor->rows.kept) {
        const firn_sql_column *vectors = cursor->rows.kept[index];
        if (vectors && vectors[cursor->rows.vector].form) {
            *out = &vectors[cursor->rows.vector];
            return SQLITE_OK;
        }
    }
    const firn_sql_column *column = &cursor->rows.columns[index];
    *out = column;
    if (column->stamp == cursor->rows.stamp) return SQLITE_OK;
    char *error = NULL;
    int code = firn_sql_load(cursor->cursor, index, &error);
    return code == SQLITE_OK ? code : table_failed(cursor->base.pVtab, error, code);
}

static inline int64_t row_of(const firn_sql_rows *rows) { return rows->rows ? rows->rows[rows->at] : rows->at; }

static int value(sqlite3_vtab_cursor *base, sqlite3_context *call, int index) {
    firn_cursor *cursor = (firn_cursor *)base;
    if (index < 0 || (index > 0 && index >= cursor->rows.column_count)) return SQLITE_OK;  // the row id is column 0 if there is no other
    const firn_sql_column *column;
    int code = loaded(cursor, index, &column);
    if (code != SQLITE_OK) return code;
    int64_t row = row_of(&cursor->rows);
    if (column->present && !(column->present[row >> 6] >> (row & 63) & 1)) return SQLITE_OK;
    int form = column->form == FIRN_SQL_MIXED ? column->forms[row] : column->form;
    switch (form) {
    case FIRN_SQL_INT: sqlite3_result_int64(call, column->words[row]); break;
    case FIRN_SQL_REAL: sqlite3_result_double(call, column->reals[row]); break;
    // The arrays are reused for other rows, while SQLite may keep a value as long as the statement lives. So SQLite copies it, into memory that its register
    // keeps from row to row.
    case FIRN_SQL_TEXT:
        sqlite3_result_text64(call, (const char *)column->bytes + column->offsets[row], (sqlite3_uint64)(column->offsets[row + 1] - column->offsets[row]), SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case FIRN_SQL_BLOB:
        sqlite3_result_blob64(call, column->bytes + column->offsets[row], (sqlite3_uint64)(column->offsets[row + 1] - column->offsets[row]), SQLITE_TRANSIENT);
        break;
    default: break;
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    firn_cursor *cursor = (firn_cursor *)base;
    const firn_sql_column *column;
    int code = loaded(cursor, cursor->rows.column_count, &column);
    if (code == SQLITE_OK) *out = column->words[row_of(&cursor->rows)];
    return code;
}

#define METHODS \
    .iVersion = 1, .xBestIndex = best_index, .xDisconnect = disconnect_table, .xDestroy = disconnect_table, .xOpen = open_cursor, \
    .xClose = close_cursor, .xFilter = filter, .xNext = next_row, .xEof = is_at_end, .xColumn = value, .xRowid = row_id

static const sqlite3_module table_module = {METHODS, .xCreate = create_table, .xConnect = connect_table};
static const sqlite3_module file_module = {METHODS, .xCreate = create_file, .xConnect = connect_file};
// Without xCreate, the module's name is itself a table, and no other table can be created with the module.
static const sqlite3_module group_module = {METHODS, .xConnect = connect_table};

int firn_sql_add_module(sqlite3 *db, const char *name, int kind, void *context) {
    const sqlite3_module *module = kind == FIRN_SQL_FILES ? &file_module : kind == FIRN_SQL_GROUPS ? &group_module : &table_module;
    return sqlite3_create_module_v2(db, name, module, context, firn_sql_context_release);
}

// MARK: The collation of decimals

/// A number in digits: sign (-1, 0 or 1), the exponent of the first digit, and the digits from `first` to before `end`, without zeros at both ends. There may
/// be a point between digits.
typedef struct {
    int sign;
    int64_t power;
    const uint8_t *first, *end;
} firn_digits;

static bool is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

/// Returns false unless the whole text is a number in SQL's notation.
static bool read_digits(const uint8_t *text, int count, firn_digits *out) {
    const uint8_t *end = text + count, *point = NULL, *first = NULL, *last = NULL;
    while (text < end && *text == ' ') text++;
    while (end > text && end[-1] == ' ') end--;
    bool negative = text < end && *text == '-', has_digits = false;
    if (text < end && (*text == '-' || *text == '+')) text++;
    for (; text < end; text++) {
        if (is_digit(*text)) {
            has_digits = true;
            if (*text != '0') {
                if (!first) first = text;
                last = text;
            }
        } else if (*text == '.' && !point) {
            point = text;
        } else {
            break;
        }
    }
    if (!has_digits) return false;
    const uint8_t *whole = point ? point : text;
    int64_t exponent = 0;
    if (text < end) {
        if ((*text | 32) != 'e' || ++text >= end) return false;
        bool below = *text == '-';
        if ((below || *text == '+') && ++text >= end) return false;
        for (; text < end; text++) {
            if (!is_digit(*text)) return false;
            if (exponent < 1 << 30) exponent = exponent * 10 + (*text - '0');
        }
        if (below) exponent = -exponent;
    }
    *out = (firn_digits){0};
    if (!first) return true;
    out->sign = negative ? -1 : 1;
    out->power = exponent + (first < whole ? whole - first - 1 : whole - first);
    out->first = first;
    out->end = last + 1;
    return true;
}

static int compare_sizes(firn_digits a, firn_digits b) {
    if (a.power != b.power) return a.power < b.power ? -1 : 1;
    while (a.first < a.end && b.first < b.end) {
        if (*a.first == '.') a.first++;
        if (*b.first == '.') b.first++;
        if (*a.first != *b.first) return *a.first < *b.first ? -1 : 1;
        a.first++;
        b.first++;
    }
    return (a.first < a.end) - (b.first < b.end);
}

/// Compares texts as decimals, by their exact values. Texts that are not numbers follow all numbers, in the order of their bytes.
static int compare_decimals(void *context, int a_count, const void *a, int b_count, const void *b) {
    (void)context;
    firn_digits left, right;
    bool is_left = read_digits(a, a_count, &left), is_right = read_digits(b, b_count, &right);
    if (is_left != is_right) return is_left ? -1 : 1;
    if (is_left) return left.sign != right.sign ? (left.sign < right.sign ? -1 : 1) : left.sign < 0 ? compare_sizes(right, left) : compare_sizes(left, right);
    int order = memcmp(a, b, (size_t)(a_count < b_count ? a_count : b_count));
    return order ? order : a_count - b_count;
}

int firn_sql_add_collation(sqlite3 *db, const char *name) { return sqlite3_create_collation_v2(db, name, SQLITE_UTF8, NULL, compare_decimals, NULL); }

static void call_open(sqlite3_context *call, int count, sqlite3_value **values) { firn_sql_open_function(sqlite3_user_data(call), call, count, values); }

int firn_sql_add_function(sqlite3 *db, const char *name, int arguments, void *context) {
    return sqlite3_create_function_v2(db, name, arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY, context, call_open, NULL, NULL, firn_sql_context_release);
}

static void forbidden(sqlite3_context *call, int count, sqlite3_value **values) {
    (void)count, (void)values;
    char *message = sqlite3_mprintf("the function %s is not available", (const char *)sqlite3_user_data(call));
    if (message) sqlite3_result_error(call, message, -1);
    else sqlite3_result_error_nomem(call);
    sqlite3_free(message);
}

static void free_name(void *name) { sqlite3_free(name); }

int firn_sql_forbid_function(sqlite3 *db, const char *name, int arguments) {
    char *copy = sqlite3_mprintf("%s", name);
    return copy ? sqlite3_create_function_v2(db, name, arguments, SQLITE_UTF8, copy, forbidden, NULL, NULL, free_name) : SQLITE_NOMEM;
}

/// The entry point of `.load`. Its name follows from the name of the file, libfirn_sqlite.so.
__attribute__((visibility("default"))) int sqlite3_firnsqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
    firn_sql_use(api);
    return firn_sql_extend(db, error);
}

// MARK: Plans

int firn_sql_constraint_count(const sqlite3_index_info *info) { return info->nConstraint; }

bool firn_sql_constraint(const sqlite3_index_info *info, int index, int *column, int *comparison) {
    *column = info->aConstraint[index].iColumn;
    *comparison = info->aConstraint[index].op;
    return info->aConstraint[index].usable;
}

bool firn_sql_is_binary(sqlite3_index_info *info, int index) {
    if (sqlite3_libversion_number() < 3022000) return false;
    const char *name = sqlite3_vtab_collation(info, index);
    return name && sqlite3_stricmp(name, "BINARY") == 0;
}

sqlite3_value *firn_sql_right_side(sqlite3_index_info *info, int index) {
    sqlite3_value *found = NULL;
    if (!is_recent() || sqlite3_vtab_rhs_value(info, index, &found) != SQLITE_OK) return NULL;
    return found;
}

bool firn_sql_take_in(sqlite3_index_info *info, int index) { return is_recent() && sqlite3_vtab_in(info, index, -1) && sqlite3_vtab_in(info, index, 1); }

void firn_sql_take(sqlite3_index_info *info, int index, int argument, bool omit) {
    info->aConstraintUsage[index].argvIndex = argument;
    info->aConstraintUsage[index].omit = omit;
}

int firn_sql_order_count(const sqlite3_index_info *info) { return info->nOrderBy; }

int firn_sql_order(const sqlite3_index_info *info, int index, bool *descending) {
    *descending = info->aOrderBy[index].desc;
    return info->aOrderBy[index].iColumn;
}

uint64_t firn_sql_columns_used(const sqlite3_index_info *info) { return info->colUsed; }

void firn_sql_finish_plan(sqlite3_index_info *info, int plan, const char *description, bool ordered, bool unique, double cost, int64_t rows) {
    info->idxNum = plan;
    info->idxStr = firn_sql_text(description, (int64_t)strlen(description));
    info->needToFreeIdxStr = 1;
    info->orderByConsumed = ordered;
    info->estimatedCost = cost;
    info->estimatedRows = rows;
    if (unique) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
}

// MARK: Values

int firn_sql_value_type(sqlite3_value *value) { return sqlite3_value_type(value); }
int firn_sql_numeric_type(sqlite3_value *value) { return sqlite3_value_numeric_type(value); }
int64_t firn_sql_value_int(sqlite3_value *value) { return sqlite3_value_int64(value); }
double firn_sql_value_real(sqlite3_value *value) { return sqlite3_value_double(value); }

const uint8_t *firn_sql_value_bytes(sqlite3_value *value, int64_t *count) {
    const void *bytes = sqlite3_value_type(value) == SQLITE_BLOB ? sqlite3_value_blob(value) : sqlite3_value_text(value);
    *count = bytes ? sqlite3_value_bytes(value) : 0;
    return bytes;
}

sqlite3_value *firn_sql_in_first(sqlite3_value *list) {
    sqlite3_value *found = NULL;
    return sqlite3_vtab_in_first(list, &found) == SQLITE_OK ? found : NULL;
}

sqlite3_value *firn_sql_in_next(sqlite3_value *list) {
    sqlite3_value *found = NULL;
    return sqlite3_vtab_in_next(list, &found) == SQLITE_OK ? found : NULL;
}

sqlite3 *firn_sql_context_db(sqlite3_context *call) { return sqlite3_context_db_handle(call); }
void firn_sql_result_int(sqlite3_context *call, int64_t value) { sqlite3_result_int64(call, value); }
void firn_sql_result_error(sqlite3_context *call, const char *message) { sqlite3_result_error(call, message, -1); }

// MARK: A connection

static int64_t memory_limit(void) {
    int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = pages > 0 ? pages * sysconf(_SC_PAGESIZE) : (int64_t)1 << 30;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t)bytes) bytes = (int64_t)limit.rlim_cur;
    return bytes / 2;
}

int firn_sql_open(const char *name, sqlite3 **db) {
    int code = sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) return code;
    // A misspelt name in double quotes is an error, not a text; statements cannot write SQLite's internal tables, and cannot name addresses in memory or
    // libraries. A version of SQLite that does not know an option reports an error, which can be ignored.
    const int off[] = {SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                       SQLITE_DBCONFIG_WRITABLE_SCHEMA, SQLITE_DBCONFIG_TRUSTED_SCHEMA};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) sqlite3_db_config(*db, off[i], 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(*db, SQLITE_LIMIT_TRIGGER_DEPTH, 50);
    sqlite3_limit(*db, SQLITE_LIMIT_VDBE_OP, 10000000);
    sqlite3_limit(*db, SQLITE_LIMIT_SQL_LENGTH, 64 << 20);
    sqlite3_hard_heap_limit64(memory_limit());
    return code;
}

void firn_sql_limit_memory(int64_t bytes) { sqlite3_hard_heap_limit64(bytes < memory_limit() ? bytes : memory_limit()); }
int64_t firn_sql_memory_limit(void) { return sqlite3_hard_heap_limit64(-1); }
bool firn_sql_is_out_of_memory(sqlite3 *db) { return (sqlite3_errcode(db) & 0xFF) == SQLITE_NOMEM; }
bool firn_sql_is_full(sqlite3 *db) { return (sqlite3_errcode(db) & 0xFF) == SQLITE_FULL; }
void firn_sql_close(sqlite3 *db) { sqlite3_close_v2(db); }
int firn_sql_execute(sqlite3 *db, const char *sql, char **error) { return sqlite3_exec(db, sql, NULL, NULL, error); }
void firn_sql_free(void *memory) { sqlite3_free(memory); }

static int authorize(void *guard, int action, const char *first, const char *second, const char *database, const char *inner) {
    (void)inner;
    return firn_sql_authorize(guard, action, first, second, database) ? SQLITE_DENY : SQLITE_OK;
}

void firn_sql_guard(sqlite3 *db, void *guard) { sqlite3_set_authorizer(db, guard ? authorize : NULL, guard); }

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Thread_local double deadline;
static _Thread_local bool timed_out;

static int is_late(void *unused) {
    (void)unused;
    if (seconds_now() > deadline) timed_out = true;
    return timed_out;
}

void firn_sql_set_timeout(sqlite3 *db, double seconds) {
    deadline = seconds_now() + seconds;
    timed_out = false;
    // The number of SQLite's instructions between two calls: less than a millisecond.
    sqlite3_progress_handler(db, 50000, is_late, NULL);
}

void firn_sql_interrupt(sqlite3 *db) { sqlite3_interrupt(db); }
bool firn_sql_is_timed_out(void) { return timed_out; }
int64_t firn_sql_rows_passed(void) { return atomic_load_explicit(&rows_passed, memory_order_relaxed); }
const char *firn_sql_message(sqlite3 *db) { return sqlite3_errmsg(db); }
int firn_sql_error_offset(sqlite3 *db) { return is_recent() ? sqlite3_error_offset(db) : -1; }
int firn_sql_prepare(sqlite3 *db, const char *sql, int count, sqlite3_stmt **statement, const char **rest) { return sqlite3_prepare_v2(db, sql, count, statement, rest); }
int firn_sql_step(sqlite3_stmt *statement) { return sqlite3_step(statement); }
void firn_sql_finalize(sqlite3_stmt *statement) { sqlite3_finalize(statement); }
const char *firn_sql_statement_text(sqlite3_stmt *statement) { return sqlite3_sql(statement); }
int firn_sql_column_count(sqlite3_stmt *statement) { return sqlite3_column_count(statement); }
const char *firn_sql_column_name(sqlite3_stmt *statement, int column) { return sqlite3_column_name(statement, column); }

firn_sql_origin firn_sql_column_origin(sqlite3_stmt *statement, int column) {
    firn_sql_origin none = {NULL, NULL, NULL}, found;
    if (!sqlite3_api->column_origin_name || !sqlite3_api->column_table_name || !sqlite3_api->column_database_name) return none;
    found.column = sqlite3_api->column_origin_name(statement, column);
    found.table = sqlite3_api->column_table_name(statement, column);
    found.database = sqlite3_api->column_database_name(statement, column);
    return found.column && found.table && found.database ? found : none;
}

int firn_sql_column_type(sqlite3_stmt *statement, int column) { return sqlite3_column_type(statement, column); }
int64_t firn_sql_column_int(sqlite3_stmt *statement, int column) { return sqlite3_column_int64(statement, column); }
double firn_sql_column_real(sqlite3_stmt *statement, int column) { return sqlite3_column_double(statement, column); }

const uint8_t *firn_sql_column_bytes(sqlite3_stmt *statement, int column, int64_t *count) {
    const void *bytes = sqlite3_column_type(statement, column) == SQLITE_BLOB ? sqlite3_column_blob(statement, column) : sqlite3_column_text(statement, column);
    *count = bytes ? sqlite3_column_bytes(statement, column) : 0;
    return bytes;
}

int firn_sql_parameter_count(sqlite3_stmt *statement) { return sqlite3_bind_parameter_count(statement); }
const char *firn_sql_parameter_name(sqlite3_stmt *statement, int index) { return sqlite3_bind_parameter_name(statement, index); }
int firn_sql_bind_int(sqlite3_stmt *statement, int index, int64_t value) { return sqlite3_bind_int64(statement, index, value); }
int firn_sql_bind_real(sqlite3_stmt *statement, int index, double value) { return sqlite3_bind_double(statement, index, value); }
int firn_sql_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int64_t count) {
    return sqlite3_bind_text64(statement, index, bytes, (sqlite3_uint64)count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
int firn_sql_bind_blob(sqlite3_stmt *statement, int index, const uint8_t *bytes, int64_t count) {
    return sqlite3_bind_blob64(statement, index, count > 0 ? (const void *)bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT);
}
const char *firn_sql_version(void) { return sqlite3_libversion(); }
