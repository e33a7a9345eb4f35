// The functions that `firn sql` adds to SQLite. Each call is passed to Swift with the number of the function (Tools/SQL/SQLFunctions.swift).
#include <sqlite3ext.h>
#include <stddef.h>
#include "CSQLite.h"

static const sqlite3_api_routines *sqlite3_api;

/// One function of a connection.
typedef struct {
    void *context;
    int number;
} firn_function;

/// The arguments of one call.
struct firn_sql_arguments {
    sqlite3_context *call;
    int count;
    sqlite3_value **values;
};

void firn_sql_use_in_functions(const void *api) { sqlite3_api = api; }

int firn_sql_argument_count(const firn_sql_arguments *arguments) { return arguments->count; }
sqlite3_value *firn_sql_argument(const firn_sql_arguments *arguments, int index) { return arguments->values[index]; }

static void call_row(sqlite3_context *call, int count, sqlite3_value **values) {
    const firn_function *function = sqlite3_user_data(call);
    const firn_sql_arguments arguments = {call, count, values};
    firn_sql_call(function->context, function->number, &arguments);
}

/// Returns the state of an aggregate, which is made by the first row; null if there is no memory.
static void **state_of(sqlite3_context *call) {
    void **state = sqlite3_aggregate_context(call, sizeof *state);
    if (!state) {
        sqlite3_result_error_nomem(call);
        return NULL;
    }
    const firn_function *function = sqlite3_user_data(call);
    if (!*state) *state = firn_sql_aggregate_new(function->context, function->number);
    return state;
}

static void step(sqlite3_context *call, int count, sqlite3_value **values) {
    void **state = state_of(call);
    const firn_sql_arguments arguments = {call, count, values};
    if (state) firn_sql_aggregate_step(*state, &arguments, false);
}

static void inverse(sqlite3_context *call, int count, sqlite3_value **values) {
    void **state = state_of(call);
    const firn_sql_arguments arguments = {call, count, values};
    if (state) firn_sql_aggregate_step(*state, &arguments, true);
}

static void current(sqlite3_context *call) {
    void **state = state_of(call);
    const firn_sql_arguments arguments = {call, 0, NULL};
    if (state) firn_sql_aggregate_value(*state, &arguments);
}

/// SQLite calls this once for each state, also after an error.
static void final(sqlite3_context *call) {
    void **state = state_of(call);
    if (!state) return;
    const firn_sql_arguments arguments = {call, 0, NULL};
    firn_sql_aggregate_value(*state, &arguments);
    firn_sql_aggregate_release(*state);
    *state = NULL;
}

static void free_function(void *pointer) {
    firn_function *function = pointer;
    firn_sql_context_release(function->context);
    sqlite3_free(function);
}

int firn_sql_add(sqlite3 *db, const char *name, int arguments, int number, bool is_aggregate, void *context) {
    firn_function *function = sqlite3_malloc(sizeof *function);
    if (!function) {
        firn_sql_context_release(context);
        return SQLITE_NOMEM;
    }
    function->context = context;
    function->number = number;
    // Functions of one row depend on nothing but their arguments. SQLite calls `free_function` after an error too.
    if (!is_aggregate) {
        const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
        return sqlite3_create_function_v2(db, name, arguments, flags, function, call_row, NULL, NULL, free_function);
    }
    return sqlite3_create_window_function(db, name, arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS, function, step, final, current, inverse, free_function);
}

// MARK: Results

void firn_sql_answer_null(const firn_sql_arguments *arguments) { sqlite3_result_null(arguments->call); }
void firn_sql_answer_int(const firn_sql_arguments *arguments, int64_t value) { sqlite3_result_int64(arguments->call, value); }
void firn_sql_answer_real(const firn_sql_arguments *arguments, double value) { sqlite3_result_double(arguments->call, value); }
void firn_sql_answer_error(const firn_sql_arguments *arguments, const char *message) { sqlite3_result_error(arguments->call, message, -1); }

void firn_sql_answer_text(const firn_sql_arguments *arguments, const uint8_t *bytes, int64_t count) {
    sqlite3_result_text64(arguments->call, count > 0 ? (const char *)bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void firn_sql_answer_blob(const firn_sql_arguments *arguments, const uint8_t *bytes, int64_t count) {
    sqlite3_result_blob64(arguments->call, count > 0 ? (const void *)bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT);
}

int64_t firn_sql_maximum_length(const firn_sql_arguments *arguments) {
    return sqlite3_limit(sqlite3_context_db_handle(arguments->call), SQLITE_LIMIT_LENGTH, -1);
}
