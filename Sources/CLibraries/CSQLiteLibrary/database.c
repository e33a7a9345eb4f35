// Database files as batches of columns (Formats/SQLite): rows are stepped over and their values are collected here, without a call from Swift for each.
#include <sys/stat.h>
#include "cells.h"

_Static_assert(FIRN_SQLITE_ROW == SQLITE_ROW && FIRN_SQLITE_DONE == SQLITE_DONE && FIRN_SQLITE_CORRUPT == SQLITE_CORRUPT
               && FIRN_SQLITE_BUSY == SQLITE_BUSY && FIRN_SQLITE_NO_MEMORY == SQLITE_NOMEM && FIRN_SQLITE_READ_ONLY == SQLITE_READONLY
               && FIRN_SQLITE_INPUT_OUTPUT == SQLITE_IOERR && FIRN_SQLITE_CANNOT_OPEN == SQLITE_CANTOPEN && FIRN_SQLITE_TOO_BIG == SQLITE_TOOBIG
               && FIRN_SQLITE_NOT_A_DATABASE == SQLITE_NOTADB && FIRN_SQLITE_FORBIDDEN == SQLITE_AUTH && FIRN_SQLITE_LOCKED == SQLITE_LOCKED
               && FIRN_SQLITE_PERMISSION == SQLITE_PERM && FIRN_SQLITE_FULL == SQLITE_FULL && FIRN_SQLITE_CONSTRAINT == SQLITE_CONSTRAINT,
               "the constants of the header must equal SQLite's");

// MARK: Connections

/// The file is open for reading, and nothing but the modules of virtual tables prepares statements that write. A view cannot run a pragma.
static int authorize(void *unused, int action, const char *first, const char *second, const char *database, const char *inner) {
    (void)unused, (void)first, (void)database;
    switch (action) {
    case SQLITE_FUNCTION: return second && sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return inner ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_ATTACH: case SQLITE_DETACH: return SQLITE_DENY;
    default: return SQLITE_OK;
    }
}

static void distrust(sqlite3 *db) {
    // A version of SQLite that does not know an option reports an error, which can be ignored.
    const int off[] = {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_WRITABLE_SCHEMA,
                       SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) sqlite3_db_config(db, off[i], 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 10000000);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 64 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_busy_timeout(db, 5000);
}

/// After `distrust`: pragmas that the authorizer would not distinguish.
static int prepare_reading(sqlite3 *db) {
    int code = sqlite3_exec(db, "PRAGMA query_only = 1; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA cell_size_check = 1", NULL, NULL, NULL);
    sqlite3_set_authorizer(db, authorize, NULL);
    return code;
}

int firn_sqlite_open(const char *uri, sqlite3 **db) {
    int code = sqlite3_open_v2(uri, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK) return code;
    distrust(*db);
    return prepare_reading(*db);
}

int firn_sqlite_open_bytes(const uint8_t *bytes, int64_t count, sqlite3 **db) {
    int code = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK) return code;
    distrust(*db);
    if (count > 0) {
        uint8_t *copy = sqlite3_malloc64((sqlite3_uint64)count);
        if (!copy) return SQLITE_NOMEM;
        memcpy(copy, bytes, (size_t)count);
        // A database in memory has no write-ahead log: its format is that of a rollback journal.
        if (count > 19 && copy[18] == 2) copy[18] = 1;
        if (count > 19 && copy[19] == 2) copy[19] = 1;
        code = sqlite3_deserialize(*db, "main", copy, count, count, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
        if (code != SQLITE_OK) return code;
    }
    return prepare_reading(*db);
}

int firn_sqlite_create(const char *path, sqlite3 **db) {
    int code = sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK) return code;
    // The file is new, and replaces its target only when it is complete: it needs no journal.
    return sqlite3_exec(*db,
                        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; "
                        "PRAGMA foreign_keys = OFF; PRAGMA cache_size = -16000",
                        NULL, NULL, NULL);
}

void firn_sqlite_close(sqlite3 *db) { sqlite3_close_v2(db); }
void firn_sqlite_limit_memory(int64_t bytes) { sqlite3_hard_heap_limit64(bytes); }
const char *firn_sqlite_message(sqlite3 *db) { return sqlite3_errmsg(db); }
const char *firn_sqlite_words(int code) { return sqlite3_errstr(code); }
int firn_sqlite_execute(sqlite3 *db, const char *sql) { return sqlite3_exec(db, sql, NULL, NULL, NULL); }

int firn_sqlite_prepare(sqlite3 *db, const char *sql, int64_t count, sqlite3_stmt **statement) {
    if (count >= INT32_MAX) return SQLITE_TOOBIG;
    return sqlite3_prepare_v2(db, sql, (int)count, statement, NULL);
}

int firn_sqlite_step(sqlite3_stmt *statement) { return sqlite3_step(statement); }
void firn_sqlite_reset(sqlite3_stmt *statement) { sqlite3_reset(statement); }
void firn_sqlite_finalize(sqlite3_stmt *statement) { sqlite3_finalize(statement); }
bool firn_sqlite_is_null(sqlite3_stmt *statement, int column) { return sqlite3_column_type(statement, column) == SQLITE_NULL; }
bool firn_sqlite_is_int(sqlite3_stmt *statement, int column) { return sqlite3_column_type(statement, column) == SQLITE_INTEGER; }
int64_t firn_sqlite_int(sqlite3_stmt *statement, int column) { return sqlite3_column_int64(statement, column); }

const uint8_t *firn_sqlite_bytes(sqlite3_stmt *statement, int column, int64_t *count) {
    const void *bytes = sqlite3_column_type(statement, column) == SQLITE_BLOB ? sqlite3_column_blob(statement, column) : sqlite3_column_text(statement, column);
    *count = bytes ? sqlite3_column_bytes(statement, column) : 0;
    return bytes;
}

int firn_sqlite_maximum_columns(sqlite3 *db) { return sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1); }

uint64_t firn_sqlite_stamp(const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0) return 0;
#ifdef __APPLE__
    uint64_t time = (uint64_t)facts.st_mtimespec.tv_sec * 1000000000 + (uint64_t)facts.st_mtimespec.tv_nsec;
#else
    uint64_t time = (uint64_t)facts.st_mtim.tv_sec * 1000000000 + (uint64_t)facts.st_mtim.tv_nsec;
#endif
    return (time * 0x9E3779B97F4A7C15u ^ (uint64_t)facts.st_size) * 0x9E3779B97F4A7C15u ^ (uint64_t)facts.st_ino;
}

// MARK: Survey

/// Returns the value of a column; false if there is no memory.
static bool read_cell(sqlite3_value *value, firn_cell *cell) {
    cell->type = sqlite3_value_type(value);
    switch (cell->type) {
    case SQLITE_INTEGER: cell->integer = sqlite3_value_int64(value); return true;
    case SQLITE_FLOAT: cell->real = sqlite3_value_double(value); return true;
    // For a database in UTF-8, no call converts the text.
    case SQLITE_TEXT: cell->bytes = sqlite3_value_text(value); break;
    case SQLITE_BLOB: cell->bytes = sqlite3_value_blob(value); break;
    default: return true;
    }
    cell->count = sqlite3_value_bytes(value);
    return cell->bytes || (cell->type == SQLITE_BLOB && cell->count == 0);
}

int firn_sqlite_survey(sqlite3_stmt *statement, firn_sqlite_facts *facts, int count, int first, int64_t maximum_rows, int64_t *rows, int64_t *last_row_id) {
    int code;
    *rows = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (*rows >= maximum_rows) return FIRN_SQLITE_DISORDER;
        if (first) {
            int64_t row_id = sqlite3_column_int64(statement, 0);
            if (*rows && row_id <= *last_row_id) return FIRN_SQLITE_DISORDER;
            *last_row_id = row_id;
        }
        for (int i = 0; i < count; i++) {
            firn_cell cell;
            if (!read_cell(sqlite3_column_value(statement, i + first), &cell)) return SQLITE_NOMEM;
            note_cell(&facts[i], &cell);
        }
        ++*rows;
    }
    return code;
}

// MARK: Rows

firn_sqlite_batch *firn_sqlite_batch_new(int count, int64_t maximum_rows) {
    firn_sqlite_batch *batch = calloc(1, sizeof *batch);
    firn_sqlite_column *columns = calloc(count > 0 ? (size_t)count : 1, sizeof *columns);
    if (!batch || !columns) {
        free(batch);
        free(columns);
        return NULL;
    }
    batch->columns = columns;
    batch->count = count;
    batch->maximum_rows = maximum_rows;
    return batch;
}

void firn_sqlite_batch_free(firn_sqlite_batch *batch) {
    for (int i = 0; i < batch->count; i++) {
        firn_sqlite_column *column = &batch->columns[i];
        free(column->present), free(column->words), free(column->extra), free(column->reals), free(column->offsets), free(column->tags), free(column->bytes);
    }
    free(batch->columns);
    free(batch);
}

static bool reserve(void **memory, int64_t count, size_t width) {
    if (!*memory) *memory = malloc((size_t)count * width);
    return *memory != NULL;
}

/// Allocates the arrays of a column on its first use, and empties it.
static bool begin_column(firn_sqlite_column *column, int64_t rows) {
    int form = column->form;
    if (!reserve((void **)&column->present, (rows + 63) / 64, 8)) return false;
    memset(column->present, 0, (size_t)((rows + 63) / 64) * 8);
    bool has_words = form == FIRN_SQLITE_INT || form == FIRN_SQLITE_DATE || form == FIRN_SQLITE_ANY;
    bool has_texts = form == FIRN_SQLITE_TEXT || form == FIRN_SQLITE_BLOB || form == FIRN_SQLITE_ANY;
    if (has_words && !reserve((void **)&column->words, rows, 8)) return false;
    if ((form == FIRN_SQLITE_DATE || form == FIRN_SQLITE_ANY) && !reserve((void **)&column->extra, rows, 8)) return false;
    if ((form == FIRN_SQLITE_REAL || form == FIRN_SQLITE_ANY) && !reserve((void **)&column->reals, rows, 8)) return false;
    if (has_texts && !reserve((void **)&column->offsets, rows + 1, 8)) return false;
    if (form == FIRN_SQLITE_ANY && !reserve((void **)&column->tags, rows, 1)) return false;
    if (has_texts) column->offsets[0] = 0;
    column->byte_count = 0;
    column->nulls = 0;
    // One large value should not keep its memory.
    if (column->byte_capacity > 64 << 20) {
        free(column->bytes);
        column->bytes = NULL;
        column->byte_capacity = 0;
    }
    return true;
}

bool firn_sqlite_begin(firn_sqlite_batch *batch) {
    batch->rows = 0;
    for (int i = 0; i < batch->count; i++) {
        if (!begin_column(&batch->columns[i], batch->maximum_rows)) return false;
    }
    return true;
}

int firn_sqlite_fetch(sqlite3_stmt *statement, firn_sqlite_batch *batch) {
    if (!firn_sqlite_begin(batch)) return SQLITE_NOMEM;
    int64_t bytes = 0;
    while (batch->rows < batch->maximum_rows && bytes < batch->maximum_bytes) {
        int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) return code;
        if (batch->first) {
            int64_t row_id = sqlite3_column_int64(statement, 0);
            if (batch->has_row_id && row_id <= batch->last_row_id) return FIRN_SQLITE_DISORDER;
            batch->last_row_id = row_id;
            batch->has_row_id = true;
        }
        for (int i = 0; i < batch->count; i++) {
            firn_sqlite_column *column = &batch->columns[i];
            int64_t before = column->byte_count;
            firn_cell cell;
            if (!read_cell(sqlite3_column_value(statement, i + batch->first), &cell)) return SQLITE_NOMEM;
            code = append_cell(column, batch->rows, &cell, batch->limit_bytes - bytes);
            if (code != SQLITE_OK) {
                batch->fault = i;
                return code;
            }
            bytes += column->byte_count - before;
        }
        batch->rows++;
    }
    return SQLITE_ROW;
}

// MARK: Writing

bool firn_sqlite_reserve(firn_sqlite_batch *batch, int index, int64_t bytes) {
    firn_sqlite_column *column = &batch->columns[index];
    if (!begin_column(column, batch->maximum_rows)) return false;
    if (bytes > column->byte_capacity) {
        uint8_t *more = realloc(column->bytes, (size_t)bytes);
        if (!more) return false;
        column->bytes = more;
        column->byte_capacity = bytes;
    }
    return true;
}

static int bind(sqlite3_stmt *statement, int index, const firn_sqlite_column *column, int64_t row) {
    if (!(column->present[row >> 6] >> (row & 63) & 1)) return sqlite3_bind_null(statement, index);
    int form = column->form;
    if (form == FIRN_SQLITE_ANY) {
        switch (column->tags[row]) {
        case FIRN_SQLITE_TAG_INT: form = FIRN_SQLITE_INT; break;
        case FIRN_SQLITE_TAG_REAL: form = FIRN_SQLITE_REAL; break;
        case FIRN_SQLITE_TAG_TEXT: form = FIRN_SQLITE_TEXT; break;
        case FIRN_SQLITE_TAG_BLOB: form = FIRN_SQLITE_BLOB; break;
        default: return sqlite3_bind_null(statement, index);
        }
    }
    switch (form) {
    case FIRN_SQLITE_INT: return sqlite3_bind_int64(statement, index, column->words[row]);
    case FIRN_SQLITE_REAL: return sqlite3_bind_double(statement, index, column->reals[row]);
    default: break;
    }
    // A null pointer would bind null.
    const char *bytes = column->bytes ? (const char *)column->bytes + column->offsets[row] : "";
    sqlite3_uint64 count = (sqlite3_uint64)(column->offsets[row + 1] - column->offsets[row]);
    return form == FIRN_SQLITE_BLOB ? sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_STATIC)
                                    : sqlite3_bind_text64(statement, index, bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

int firn_sqlite_insert(sqlite3_stmt *statement, firn_sqlite_batch *batch) {
    for (int64_t row = 0; row < batch->rows; row++) {
        int code = SQLITE_OK;
        for (int i = 0; i < batch->count && code == SQLITE_OK; i++) code = bind(statement, i + 1, &batch->columns[i], row);
        if (code == SQLITE_OK) code = sqlite3_step(statement);
        sqlite3_reset(statement);
        if (code != SQLITE_DONE) {
            batch->rows = row;
            return code;
        }
    }
    // The arrays are used again.
    sqlite3_clear_bindings(statement);
    return SQLITE_OK;
}

void firn_sqlite_bind_text(sqlite3_stmt *statement, int index, const uint8_t *bytes, int64_t count) {
    sqlite3_bind_text64(statement, index, count > 0 ? (const char *)bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void firn_sqlite_bind_blob(sqlite3_stmt *statement, int index, const uint8_t *bytes, int64_t count) {
    sqlite3_bind_blob64(statement, index, count > 0 ? (const void *)bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT);
}

void firn_sqlite_bind_int(sqlite3_stmt *statement, int index, int64_t value) { sqlite3_bind_int64(statement, index, value); }
void firn_sqlite_bind_null(sqlite3_stmt *statement, int index) { sqlite3_bind_null(statement, index); }
