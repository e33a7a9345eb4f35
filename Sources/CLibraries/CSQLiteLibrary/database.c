// Database files as batches of columns (Formats/SQLite): rows are stepped over and their values are collected here, without a call from Swift for each.
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "CSQLiteLibrary.h"

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

// MARK: Texts

/// Returns whether bytes are UTF-8.
static bool is_utf8(const uint8_t *at, int64_t count) {
    const uint8_t *end = at + count;
    while (at < end) {
        while (end - at >= 8) {
            uint64_t word;
            memcpy(&word, at, 8);
            if (word & 0x8080808080808080u) break;
            at += 8;
        }
        if (at >= end) return true;
        uint8_t byte = *at;
        if (byte < 0x80) {
            at++;
        } else if (byte < 0xE0) {
            if (byte < 0xC2 || end - at < 2 || (at[1] & 0xC0) != 0x80) return false;
            at += 2;
        } else if (byte < 0xF0) {
            if (end - at < 3 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80) return false;
            if ((byte == 0xE0 && at[1] < 0xA0) || (byte == 0xED && at[1] > 0x9F)) return false;
            at += 3;
        } else {
            if (byte > 0xF4 || end - at < 4 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80 || (at[3] & 0xC0) != 0x80) return false;
            if ((byte == 0xF0 && at[1] < 0x90) || (byte == 0xF4 && at[1] > 0x8F)) return false;
            at += 4;
        }
    }
    return true;
}

static bool two_digits(const uint8_t *at, int *out) {
    uint8_t a = (uint8_t)(at[0] - '0'), b = (uint8_t)(at[1] - '0');
    *out = a * 10 + b;
    return a < 10 && b < 10;
}

/// The days since 1970 of a date in the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
static int64_t days_of(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

typedef struct {
    int64_t seconds, nanoseconds;
    int form, digits;
    bool ends_in_zero;
} firn_date;

/// Reads `2016-09-29`, then `T` or a space and `10:11:12`, with up to nine digits of a fraction, and after `T` also `Z`. A year has four digits, or more
/// that do not begin with 0, and can have a minus sign. Returns false for any other text.
static bool read_date(const uint8_t *at, int64_t count, firn_date *out) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const uint8_t *end = at + count;
    if (count < 10 || count > 48) return false;
    bool below = *at == '-';
    if (below) at++;
    int64_t year = 0;
    int places = 0;
    const uint8_t *start = at;
    while (at < end && (uint8_t)(*at - '0') < 10 && places < 10) year = year * 10 + (*at++ - '0'), places++;
    if (places < 4 || places > 9 || (places > 4 && *start == '0') || (below && year == 0)) return false;
    if (below) year = -year;
    int month, day, hour, minute, second;
    if (end - at < 6 || at[0] != '-' || at[3] != '-' || !two_digits(at + 1, &month) || !two_digits(at + 4, &day)) return false;
    if (month < 1 || month > 12) return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day < 1 || day > lengths[month - 1] + (month == 2 && leap)) return false;
    at += 6;
    out->seconds = days_of(year, month, day) * 86400;
    out->nanoseconds = 0;
    out->digits = 0;
    out->ends_in_zero = false;
    out->form = FIRN_SQLITE_DATE_DAY;
    if (at == end) return true;
    if (end - at < 9 || (*at != ' ' && *at != 'T') || at[3] != ':' || at[6] != ':') return false;
    if (!two_digits(at + 1, &hour) || !two_digits(at + 4, &minute) || !two_digits(at + 7, &second) || hour > 23 || minute > 59 || second > 59) return false;
    out->form = *at == ' ' ? FIRN_SQLITE_DATE_SPACE : FIRN_SQLITE_DATE_T;
    out->seconds += hour * 3600 + minute * 60 + second;
    at += 9;
    if (at < end && *at == '.') {
        at++;
        int64_t fraction = 0;
        int digits = 0;
        while (at < end && (uint8_t)(*at - '0') < 10 && digits < 9) fraction = fraction * 10 + (*at++ - '0'), digits++;
        if (digits == 0) return false;
        out->digits = digits;
        out->ends_in_zero = fraction % 10 == 0;
        for (; digits < 9; digits++) fraction *= 10;
        out->nanoseconds = fraction;
    }
    if (at < end && *at == 'Z' && out->form == FIRN_SQLITE_DATE_T) {
        at++;
        out->form = FIRN_SQLITE_DATE_Z;
    }
    return at == end;
}

/// Whether a number has at most `precision` digits, `scale` of them after the point.
static bool is_decimal(double value, int precision, int scale) {
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    if (precision > 15 || scale > 15 || scale < 0) return false;
    double scaled = round(value * powers[scale]);
    return fabs(scaled) < powers[precision] && scaled / powers[scale] == value;
}

static bool is_exact(int64_t value) { return value >= -(INT64_C(1) << 53) && value <= INT64_C(1) << 53; }

static void test_number(firn_sqlite_facts *facts, double value) {
    if (facts->test == FIRN_SQLITE_TEST_DECIMAL) {
        if (!is_decimal(value, facts->precision, facts->scale)) facts->misfits++;
    } else if (facts->test == FIRN_SQLITE_TEST_FLOAT) {
        if ((double)(float)value != value) facts->misfits++;
    }
}

// MARK: Survey

/// Returns false if there is no memory.
static bool note_text(firn_sqlite_facts *facts, sqlite3_value *value) {
    // For a database in UTF-8, no call converts the text.
    const uint8_t *bytes = sqlite3_value_text(value);
    if (!bytes) return false;
    int64_t count = sqlite3_value_bytes(value);
    facts->texts++;
    if (!is_utf8(bytes, count)) facts->malformed++;
    if (facts->test != FIRN_SQLITE_TEST_DATE || facts->misfits) return true;
    firn_date date;
    if (!read_date(bytes, count, &date)) {
        facts->misfits++;
        return true;
    }
    facts->forms |= 1u << date.form;
    facts->digits |= 1u << date.digits;
    if (date.ends_in_zero) facts->has_zero_fraction = true;
    return true;
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
            sqlite3_value *value = sqlite3_column_value(statement, i + first);
            firn_sqlite_facts *of = &facts[i];
            switch (sqlite3_value_type(value)) {
            case SQLITE_INTEGER: {
                int64_t number = sqlite3_value_int64(value);
                if (!of->integers || number < of->minimum) of->minimum = number;
                if (!of->integers || number > of->maximum) of->maximum = number;
                of->integers++;
                if (!is_exact(number)) of->inexact++;
                if (of->test) test_number(of, (double)number);
                break;
            }
            case SQLITE_FLOAT:
                of->reals++;
                if (of->test) test_number(of, sqlite3_value_double(value));
                break;
            case SQLITE_TEXT:
                if (!note_text(of, value)) return SQLITE_NOMEM;
                break;
            case SQLITE_BLOB: of->blobs++; break;
            default: of->nulls++;
            }
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

static bool append_bytes(firn_sqlite_column *column, const void *bytes, int64_t count) {
    if (count > column->byte_capacity - column->byte_count) {
        int64_t capacity = column->byte_capacity * 2 > 4096 ? column->byte_capacity * 2 : 4096;
        if (capacity < column->byte_count + count) capacity = column->byte_count + count;
        uint8_t *more = realloc(column->bytes, (size_t)capacity);
        if (!more) return false;
        column->bytes = more;
        column->byte_capacity = capacity;
    }
    if (count > 0) memcpy(column->bytes + column->byte_count, bytes, (size_t)count);
    column->byte_count += count;
    return true;
}

static void append_null(firn_sqlite_column *column, int64_t row) {
    column->nulls++;
    if (column->words) column->words[row] = 0;
    if (column->extra) column->extra[row] = 0;
    if (column->reals) column->reals[row] = 0;
    if (column->tags) column->tags[row] = FIRN_SQLITE_TAG_NULL;
    if (column->offsets) column->offsets[row + 1] = column->byte_count;
}

/// Appends the bytes of a text or blob.
static int append_text(firn_sqlite_column *column, int64_t row, const void *bytes, int64_t count, int64_t room) {
    if (count > room) return FIRN_SQLITE_BEYOND_LIMIT;
    if (!append_bytes(column, bytes, count)) return SQLITE_NOMEM;
    column->offsets[row + 1] = column->byte_count;
    return SQLITE_OK;
}

static int append_blob(firn_sqlite_column *column, int64_t row, sqlite3_value *value, int64_t room) {
    const void *bytes = sqlite3_value_blob(value);
    int64_t count = sqlite3_value_bytes(value);
    return count > 0 && !bytes ? SQLITE_NOMEM : append_text(column, row, bytes, count, room);
}

static int append_any(firn_sqlite_column *column, int64_t row, int type, sqlite3_value *value, int64_t room) {
    column->words[row] = column->extra[row] = 0;
    column->reals[row] = 0;
    column->offsets[row + 1] = column->byte_count;
    switch (type) {
    case SQLITE_INTEGER:
        column->tags[row] = FIRN_SQLITE_TAG_INT;
        column->words[row] = sqlite3_value_int64(value);
        return SQLITE_OK;
    case SQLITE_FLOAT:
        column->tags[row] = FIRN_SQLITE_TAG_REAL;
        column->reals[row] = sqlite3_value_double(value);
        return SQLITE_OK;
    case SQLITE_TEXT: {
        const uint8_t *bytes = sqlite3_value_text(value);
        if (!bytes) return SQLITE_NOMEM;
        int64_t count = sqlite3_value_bytes(value);
        column->tags[row] = is_utf8(bytes, count) ? FIRN_SQLITE_TAG_TEXT : FIRN_SQLITE_TAG_BLOB;
        return append_text(column, row, bytes, count, room);
    }
    default: column->tags[row] = FIRN_SQLITE_TAG_BLOB; return append_blob(column, row, value, room);
    }
}

/// `room`: how many bytes of text the batch may still get.
static int append(firn_sqlite_column *column, int64_t row, sqlite3_value *value, int64_t room) {
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) {
        append_null(column, row);
        return SQLITE_OK;
    }
    column->present[row >> 6] |= UINT64_C(1) << (row & 63);
    switch (column->form) {
    case FIRN_SQLITE_INT:
        if (type != SQLITE_INTEGER) return FIRN_SQLITE_MISFIT;
        column->words[row] = sqlite3_value_int64(value);
        return SQLITE_OK;
    case FIRN_SQLITE_REAL:
        if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return FIRN_SQLITE_MISFIT;
        column->reals[row] = sqlite3_value_double(value);
        return SQLITE_OK;
    case FIRN_SQLITE_TEXT: {
        if (type != SQLITE_TEXT) return FIRN_SQLITE_MISFIT;
        const uint8_t *bytes = sqlite3_value_text(value);
        if (!bytes) return SQLITE_NOMEM;
        int64_t count = sqlite3_value_bytes(value);
        return is_utf8(bytes, count) ? append_text(column, row, bytes, count, room) : FIRN_SQLITE_MISFIT;
    }
    case FIRN_SQLITE_BLOB: return type == SQLITE_BLOB ? append_blob(column, row, value, room) : FIRN_SQLITE_MISFIT;
    case FIRN_SQLITE_DATE: {
        firn_date date;
        if (type != SQLITE_TEXT) return FIRN_SQLITE_MISFIT;
        const uint8_t *bytes = sqlite3_value_text(value);
        if (!bytes) return SQLITE_NOMEM;
        if (!read_date(bytes, sqlite3_value_bytes(value), &date)) return FIRN_SQLITE_MISFIT;
        column->words[row] = date.seconds;
        column->extra[row] = date.nanoseconds;
        return SQLITE_OK;
    }
    default: return append_any(column, row, type, value, room);
    }
}

int firn_sqlite_fetch(sqlite3_stmt *statement, firn_sqlite_batch *batch) {
    batch->rows = 0;
    for (int i = 0; i < batch->count; i++) {
        if (!begin_column(&batch->columns[i], batch->maximum_rows)) return SQLITE_NOMEM;
    }
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
            code = append(column, batch->rows, sqlite3_column_value(statement, i + batch->first), batch->limit_bytes - bytes);
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
