/* Calls each function of firn.h. Usage: program SAMPLE NEW: the file that CInterfaceTests.swift makes,
   and one that does not exist. */
// Long because it calls every function of the header once.
#include "firn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            printf("program.c:%d: %s\n", __LINE__, #condition);                      \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)
#define DEFAULT(options) (memset(&options, 0, sizeof options), options.size = sizeof options)

static firn_error *error;

/* Checks that a call failed with a code, and releases its error. */
static void fails(int32_t code, int32_t expected, const char *words) {
    if (code != expected || error == NULL || firn_error_code(error) != expected || strstr(firn_error_message(error), words) == NULL) {
        printf("code %d instead of %d, message: %s\n", code, expected, error == NULL ? "none" : firn_error_message(error));
        exit(1);
    }
    firn_error_free(error);
    error = NULL;
}

/* Reads a stream to its end. Returns the number of rows and adds the integers of the first column. */
static int64_t drain(struct ArrowArrayStream *stream, int64_t *sum) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    int64_t rows = 0;
    CHECK(stream->get_schema(stream, &schema) == 0);
    CHECK(strcmp(schema.format, "+s") == 0 && schema.release != NULL);
    schema.release(&schema);
    CHECK(schema.release == NULL);
    for (;;) {
        CHECK(stream->get_next(stream, &array) == 0);
        if (array.release == NULL) break;
        rows += array.length;
        if (array.n_children > 0 && sum != NULL) {
            const int64_t *values = array.children[0]->buffers[1];
            for (int64_t i = 0; i < array.length; i++) *sum += values[i];
        }
        array.release(&array);
        CHECK(array.release == NULL);
    }
    stream->release(stream);
    CHECK(stream->release == NULL);
    return rows;
}

static void databases(const char *path) {
    firn_database *database = NULL;
    CHECK(strcmp(firn_version(), "0.1.0") == 0 && firn_abi_version() == FIRN_ABI_VERSION);
    fails(firn_open("/no/such/file.firn", NULL, 0, &database, &error), FIRN_NOT_FOUND, "No such file");
    CHECK(firn_open("/no/such/file.firn", NULL, 0, &database, NULL) == FIRN_NOT_FOUND && database == NULL);
    CHECK(firn_open("/no/such/file.firn", NULL, 0, &database, &error) == FIRN_NOT_FOUND);
    CHECK(firn_error_system_code(error) == 2 && strcmp(firn_error_name(error), "notFound") == 0);
    CHECK(strcmp(firn_error_file(error), "/no/such/file.firn") == 0);
    CHECK(firn_error_line(error) == -1 && firn_error_column(error) == -1 && firn_error_byte(error) == -1);
    CHECK(firn_error_advice(error) == NULL || strlen(firn_error_advice(error)) > 0);
    firn_error_free(error);
    firn_error_free(NULL);
    CHECK(firn_error_code(NULL) == FIRN_OK && firn_error_message(NULL) == NULL);
    fails(firn_open(NULL, NULL, 0, &database, &error), FIRN_USAGE, "NULL");
    fails(firn_open(path, "short", 5, &database, &error), FIRN_USAGE, "key");
    CHECK(firn_open(path, NULL, 0, &database, &error) == FIRN_OK && database != NULL && error == NULL);
    CHECK(strcmp(firn_database_path(database), path) == 0 && firn_database_notice(database) == NULL);
    CHECK(firn_database_check(database, &error) == FIRN_OK && firn_database_check(NULL, NULL) == FIRN_USAGE);
    firn_database_close(database);
    firn_database_close(NULL);
}

static firn_table *table(const char *path, const char *type) {
    firn_database *database = NULL;
    firn_snapshot *snapshot = NULL;
    firn_table *table = NULL;
    CHECK(firn_open(path, NULL, 0, &database, &error) == FIRN_OK);
    fails(firn_snapshot_open(database, "no such tag", &snapshot, &error), FIRN_NOT_FOUND, "no tag");
    fails(firn_snapshot_open(NULL, NULL, &snapshot, &error), FIRN_USAGE, "NULL");
    CHECK(firn_snapshot_open(database, "first", &snapshot, &error) == FIRN_OK);
    CHECK(firn_snapshot_version(snapshot) == 1 && firn_snapshot_time(snapshot) > 0);
    firn_snapshot_free(snapshot);
    CHECK(firn_snapshot_open(database, NULL, &snapshot, &error) == FIRN_OK);
    firn_database_close(database);
    CHECK(firn_snapshot_type_count(snapshot) == 2);
    CHECK(strcmp(firn_snapshot_type_name(snapshot, 0), "Person") == 0 && firn_snapshot_type_name(snapshot, 2) == NULL);
    fails(firn_table_open(snapshot, "Persona", &table, &error), FIRN_NOT_FOUND, "Persona");
    CHECK(firn_table_open(snapshot, type, &table, &error) == FIRN_OK);
    firn_snapshot_free(snapshot);
    firn_snapshot_free(NULL);
    CHECK(strcmp(firn_table_name(table), type) == 0);
    CHECK(strstr(firn_table_schema_text(table), "\"rows\":") != NULL);
    return table;
}

/* Reads texts as dictionaries: the columns are "n" and "name", which has ten texts. */
static void dictionaries(const firn_table *numbers, struct firn_scan_options *options) {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    CHECK(firn_scan(numbers, options, &stream, &error) == FIRN_OK && stream.get_schema(&stream, &schema) == 0);
    CHECK(strcmp(schema.children[1]->format, "i") == 0 && strcmp(schema.children[1]->dictionary->format, "u") == 0);
    schema.release(&schema);
    CHECK(drain(&stream, NULL) == 1000);
    options->size = offsetof(struct firn_scan_options, flags); /* as in the first header */
    CHECK(firn_scan(numbers, options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 1000);
    options->size = sizeof *options, options->flags = 4;
    fails(firn_scan(numbers, options, &stream, &error), FIRN_USAGE, "flags");
    options->flags = FIRN_SCAN_VIEWS;
    CHECK(firn_scan(numbers, options, &stream, &error) == FIRN_OK && stream.get_schema(&stream, &schema) == 0);
    CHECK(strcmp(schema.children[1]->format, "vu") == 0);
    schema.release(&schema);
    CHECK(drain(&stream, NULL) == 1000);
    options->flags = 0;
}

static void scans(const char *path) {
    firn_table *numbers = table(path, "Number");
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct firn_scan_options options = {0};
    const char *names[] = {"n", "name"}, *wrong[] = {"m"};
    int64_t sum = 0, count = firn_table_row_count(numbers);
    CHECK(count == 70000 && firn_table_segment_count(numbers) == 2);

    CHECK(firn_table_schema(numbers, NULL, 0, &schema, &error) == FIRN_OK && schema.n_children == 3);
    CHECK(strcmp(schema.children[0]->name, "n") == 0 && strcmp(schema.children[0]->format, "l") == 0);
    schema.release(&schema);
    fails(firn_table_schema(numbers, wrong, 1, &schema, &error), FIRN_USAGE, "no column \"m\"");

    CHECK(firn_scan(numbers, NULL, &stream, &error) == FIRN_OK);
    CHECK(drain(&stream, &sum) == count && sum == count * (count - 1) / 2);

    fails(firn_scan(numbers, &options, &stream, &error), FIRN_USAGE, "size");
    options.size = sizeof options;
    options.columns = names;
    options.column_count = 2;
    options.where = "n < 66000 AND n >= 65000";
    CHECK(firn_scan(numbers, &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 1000);
    options.flags = FIRN_SCAN_DICTIONARIES, dictionaries(numbers, &options);
    options.limit = 7;
    options.threads = 1;
    CHECK(firn_scan(numbers, &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 7);
    options.where = NULL;
    options.limit = 0;
    options.first_segment = 1;
    options.segment_count = 1;
    CHECK(firn_scan(numbers, &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == count - 65536);
    options.where = "n = ";
    fails(firn_scan(numbers, &options, &stream, &error), FIRN_USAGE, "");
    options.where = NULL;
    options.columns = wrong;
    options.column_count = 1;
    fails(firn_scan(numbers, &options, &stream, &error), FIRN_USAGE, "no column \"m\"");

    /* A batch outlives its stream and its table; a child outlives its parent. */
    struct ArrowArray array, child;
    CHECK(firn_scan(numbers, NULL, &stream, &error) == FIRN_OK);
    firn_table_free(numbers);
    firn_table_free(NULL);
    CHECK(stream.get_next(&stream, &array) == 0);
    stream.release(&stream);
    child = *array.children[0];
    array.children[0]->release = NULL;
    array.release(&array);
    CHECK(((const int64_t *)child.buffers[1])[100] == 100);
    child.release(&child);

    /* A stream can be released before it is read. */
    numbers = table(path, "Number");
    CHECK(firn_scan(numbers, NULL, &stream, &error) == FIRN_OK);
    stream.release(&stream);
    firn_table_free(numbers);
}

static void rows(const char *path) {
    firn_table *people = table(path, "Person");
    struct firn_value key = {0};
    const char *names[] = {"name"};
    int64_t row = -1;
    char *text = NULL, packed[64] = {0};
    int64_t slots[4];
    size_t length = 0;
    key.kind = FIRN_INT;
    key.integer = 2;
    CHECK(firn_find(people, &key, 1, &row, &error) == FIRN_OK && row >= 0);
    CHECK(firn_row_text(people, row, NULL, 0, &text, &length, &error) == FIRN_OK);
    CHECK(strcmp(text, "[2,\"Bo\",null,[\"a\",\"b\"]]") == 0 && length == strlen(text));
    firn_free(text);
    CHECK(firn_row_text(people, row, names, 1, &text, &length, &error) == FIRN_OK && strcmp(text, "[\"Bo\"]") == 0);
    firn_free(text);
    firn_free(NULL);
    CHECK(firn_get(people, &key, 1, packed, sizeof packed, &length, &error) == FIRN_OK);
    memcpy(slots, packed, sizeof slots);
    CHECK(slots[0] == 2 && slots[2] == 0 && memcmp(packed + 32, "\1\2\0\3", 4) == 0);
    CHECK(slots[1] == (36 | (int64_t)2 << 32) && slots[3] == (38 | (int64_t)9 << 32) && length == 47);
    CHECK(memcmp(packed + 36, "Bo[\"a\",\"b\"]", 11) == 0);
    CHECK(firn_get(people, &key, 1, NULL, 0, &length, &error) == FIRN_OK && length == 47);
    CHECK(firn_get(people, &key, 1, packed + 60, 4, &length, &error) == FIRN_OK && length == 47 && packed[60] == 0);
    fails(firn_get(people, &key, 1, NULL, 47, &length, &error), FIRN_USAGE, "NULL");
    fails(firn_row_text(people, 999, NULL, 0, &text, &length, &error), FIRN_NOT_FOUND, "no row 999");
    key.integer = 7;
    fails(firn_find(people, &key, 1, &row, &error), FIRN_NOT_FOUND, "no row");
    fails(firn_get(people, &key, 1, packed, sizeof packed, &length, &error), FIRN_NOT_FOUND, "no row");
    fails(firn_find(people, &key, 2, &row, &error), FIRN_USAGE, "\"id\"");
    key.kind = FIRN_TEXT;
    key.bytes = "x";
    key.length = 1;
    fails(firn_find(people, &key, 1, &row, &error), FIRN_USAGE, "not int");
    key.kind = 77;
    fails(firn_find(people, &key, 1, &row, &error), FIRN_USAGE, "kind 77");

    firn_cursor *cursor = NULL;
    CHECK(firn_cursor_open(people, NULL, &cursor, &error) == FIRN_OK);
    CHECK(firn_cursor_next(cursor, &text, &length, &error) == FIRN_OK && text != NULL);
    CHECK(strncmp(text, "[[1,\"Ada\",1.5,[]],", 18) == 0);
    firn_free(text);
    CHECK(firn_cursor_next(cursor, &text, &length, &error) == FIRN_OK && text == NULL && length == 0);
    firn_cursor_free(cursor);
    firn_cursor_free(NULL);
    firn_table_free(people);
}

static void queries(const char *path) {
    firn_table *numbers = table(path, "Number");
    struct firn_query_options options;
    struct ArrowArrayStream stream;
    const char *group[] = {"name"};
    int64_t sum = 0;
    DEFAULT(options);
    options.query = "n < 10 SORT(n DESC)";
    options.limit = 3;
    options.offset = 1;
    CHECK(firn_query(numbers, &options, &stream, &error) == FIRN_OK && drain(&stream, &sum) == 3 && sum == 8 + 7 + 6);
    options.query = NULL;
    options.limit = options.offset = 0;
    options.group_by = group;
    options.group_by_count = 1;
    options.aggregates = "count";
    CHECK(firn_query(numbers, &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 10);
    /* The structure of an older header may end sooner. */
    options.size = offsetof(struct firn_query_options, threads);
    CHECK(firn_query(numbers, &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 10);
    options.size = sizeof options.size;
    fails(firn_query(numbers, &options, &stream, &error), FIRN_USAGE, "the size of the options is 8");
    options.size = sizeof options;
    options.aggregates = "total";
    fails(firn_query(numbers, &options, &stream, &error), FIRN_USAGE, "total");
    /* Released while it runs. */
    DEFAULT(options);
    CHECK(firn_query(numbers, &options, &stream, &error) == FIRN_OK);
    struct ArrowArray array;
    CHECK(stream.get_next(&stream, &array) == 0);
    array.release(&array);
    stream.release(&stream);
    firn_table_free(numbers);
}

static void differences(const char *path) {
    firn_table *people = table(path, "Person"), *numbers = table(path, "Number"), *before = NULL;
    firn_database *database = NULL;
    firn_snapshot *first = NULL;
    firn_cursor *cursor = NULL;
    struct firn_diff_counts counts;
    struct firn_diff_options options = {0};
    char *text = NULL;
    size_t length = 0;
    CHECK(firn_open(path, NULL, 0, &database, &error) == FIRN_OK);
    CHECK(firn_snapshot_open(database, "first", &first, &error) == FIRN_OK);
    CHECK(firn_table_open(first, "Person", &before, &error) == FIRN_OK);
    firn_snapshot_free(first);
    firn_database_close(database);
    CHECK(firn_diff(before, people, NULL, &counts, &cursor, &error) == FIRN_OK);
    CHECK(counts.added == 1 && counts.removed == 0 && counts.changed == 0 && counts.unchanged == 1);
    firn_table_free(before);
    CHECK(firn_cursor_next(cursor, &text, &length, &error) == FIRN_OK);
    CHECK(strcmp(text, "[{\"kind\":\"added\",\"key\":[2],\"new\":{\"id\":2,\"name\":\"Bo\",\"height\":null,\"tags\":[\"a\",\"b\"]}}]") == 0);
    firn_free(text);
    CHECK(firn_cursor_next(cursor, &text, &length, &error) == FIRN_OK && text == NULL);
    firn_cursor_free(cursor);
    fails(firn_diff(people, people, &options, NULL, &cursor, &error), FIRN_USAGE, "size");
    fails(firn_diff(numbers, numbers, NULL, NULL, &cursor, &error), FIRN_USAGE, "key");
    firn_table_free(people);
    firn_table_free(numbers);
}

static void *capsule_pointer(void *capsule, const char *name) { return name[0] == 'a' ? capsule : NULL; }

static void owned(const char *path) {
    firn_table *numbers = table(path, "Number");
    struct ArrowArrayStream *stream = firn_stream_new();
    struct ArrowSchema *schema = firn_schema_new();
    CHECK(stream->release == NULL && schema->release == NULL);
    CHECK(firn_scan(numbers, NULL, stream, &error) == FIRN_OK);
    CHECK(firn_table_schema(numbers, NULL, 0, schema, &error) == FIRN_OK);
    firn_stream_free(stream);
    firn_schema_free(schema);
    firn_stream_free(NULL);
    firn_schema_free(NULL);
    firn_python_begin(capsule_pointer);
    stream = firn_stream_new();
    CHECK(firn_scan(numbers, NULL, stream, &error) == FIRN_OK);
    firn_stream_capsule_free(stream);
    firn_schema_capsule_free(firn_schema_new());
    firn_table_free(numbers);
}

static struct ArrowArrayStream stream_of(firn_table *table, const char *where) {
    struct ArrowArrayStream stream;
    struct firn_scan_options options;
    DEFAULT(options);
    options.where = where;
    CHECK(firn_scan(table, &options, &stream, &error) == FIRN_OK);
    return stream;
}

/* Writes a new file from the tables of another one. */
static void writing(const char *path, const char *target) {
    firn_table *people = table(path, "Person"), *numbers = table(path, "Number");
    firn_database *database = NULL, *reader = NULL;
    firn_transaction *transaction = NULL, *second = NULL;
    struct ArrowArrayStream stream;
    const char *key[] = {"id"}, *wrong[] = {"none"};
    uint64_t version = 0;
    int64_t rows = -1;
    char *text = NULL;
    size_t length = 0;
    fails(firn_open_writable(target, NULL, 0, 0, &database, &error), FIRN_NOT_FOUND, "No such file");
    CHECK(firn_open_writable(target, NULL, 0, 1, &database, &error) == FIRN_OK);
    CHECK(firn_begin(database, -1, &transaction, &error) == FIRN_OK);
    fails(firn_begin(database, 0, &second, &error), FIRN_LOCKED, "");

    stream = stream_of(people, NULL);
    CHECK(firn_append(transaction, "People", &stream, key, 1, &rows, &error) == FIRN_OK && rows == 2 && stream.release == NULL);
    fails(firn_append(transaction, "People", &stream, key, 1, &rows, &error), FIRN_USAGE, "released before");
    stream = stream_of(numbers, NULL);
    CHECK(firn_append(transaction, "Number", &stream, NULL, 0, &rows, &error) == FIRN_OK && rows == 70000);
    CHECK(firn_commit(transaction, &version, &error) == FIRN_OK && version == 1);
    fails(firn_commit(transaction, &version, &error), FIRN_USAGE, "ended");
    firn_transaction_free(transaction);
    firn_transaction_free(NULL);

    CHECK(firn_begin(database, 1, &transaction, &error) == FIRN_OK);
    stream = stream_of(people, "id = 2");
    CHECK(firn_delete_keys(transaction, "People", &stream, &rows, &error) == FIRN_OK && rows == 1);
    stream = stream_of(people, NULL);
    CHECK(firn_upsert(transaction, "People", &stream, &rows, &error) == FIRN_OK && rows == 2);
    CHECK(firn_delete_where(transaction, "Number", "n >= 10", &rows, &error) == FIRN_OK && rows == 69990);
    CHECK(firn_commit(transaction, NULL, &error) == FIRN_OK);
    firn_transaction_free(transaction);

    /* A failed transaction cannot be committed, and changes nothing. */
    CHECK(firn_begin(database, 1, &transaction, &error) == FIRN_OK);
    stream = stream_of(people, NULL);
    fails(firn_append(transaction, "People", &stream, NULL, 0, NULL, &error), FIRN_DUPLICATE_KEY, "key");
    CHECK(stream.release == NULL);
    fails(firn_commit(transaction, NULL, &error), FIRN_USAGE, "failed before");
    firn_transaction_free(transaction);
    CHECK(firn_begin(database, 1, &transaction, &error) == FIRN_OK);
    stream = stream_of(numbers, NULL);
    fails(firn_append(transaction, "New", &stream, wrong, 1, NULL, &error), FIRN_USAGE, "\"none\"");
    firn_transaction_free(transaction);
    CHECK(firn_begin(database, 1, &transaction, &error) == FIRN_OK);
    stream = stream_of(numbers, NULL);
    fails(firn_append(transaction, "People", &stream, NULL, 0, NULL, &error), FIRN_SCHEMA, "\"n\"");
    firn_transaction_free(transaction);

    fails(firn_open(target, "0", 1, &reader, &error), FIRN_USAGE, "key");
    CHECK(firn_tag(database, "a", NULL, &error) == FIRN_OK && firn_tag(database, "b", "1", &error) == FIRN_OK);
    CHECK(firn_untag(database, "a", &error) == FIRN_OK);
    fails(firn_untag(database, "a", &error), FIRN_NOT_FOUND, "no tag");
    CHECK(firn_log_text(database, &text, &length, &error) == FIRN_OK && strlen(text) == length);
    CHECK(strstr(text, "\"tags\":[\"b\"]") != NULL);
    firn_free(text);
    firn_database_close(database);
    firn_table_free(people);
    firn_table_free(numbers);

    firn_snapshot *snapshot = NULL;
    firn_table *result = NULL;
    CHECK(firn_open(target, NULL, 0, &reader, &error) == FIRN_OK);
    CHECK(firn_snapshot_open(reader, NULL, &snapshot, &error) == FIRN_OK);
    CHECK(firn_table_open(snapshot, "People", &result, &error) == FIRN_OK && firn_table_row_count(result) == 2);
    firn_table_free(result);
    CHECK(firn_table_open(snapshot, "Number", &result, &error) == FIRN_OK && firn_table_row_count(result) == 10);
    firn_table_free(result);
    firn_snapshot_free(snapshot);
    firn_database_close(reader);
}

/* Cancels, and counts the calls. */
static int32_t stop(void *context, int64_t done, int64_t total) {
    CHECK(done >= 0 && total >= -1);
    return ++*(int *)context > 0;
}

static int32_t go_on(void) { return 0; }
static int32_t ensure(void) { return 0; }
static void release(int32_t state) { CHECK(state == 0); }
static void fetch(void **type, void **value, void **trace) { *type = *value = *trace = NULL; }
static void restore(void *type, void *value, void *trace) { CHECK(type == NULL && value == NULL && trace == NULL); }

static void again(void) {}
static char an_object[1];

static void sql(const char *path) {
    firn_database *database = NULL;
    firn_snapshot *snapshot = NULL;
    struct ArrowArrayStream stream;
    struct firn_sql_options options = {0};
    struct firn_value value = {0};
    const char *names[] = {"least"}, *files[] = {path};
    const firn_snapshot *snapshots[1];
    CHECK(firn_open(path, NULL, 0, &database, &error) == FIRN_OK);
    CHECK(firn_snapshot_open(database, NULL, &snapshot, &error) == FIRN_OK);
    snapshots[0] = snapshot;
    fails(firn_sql("SELECT 1", &options, &stream, &error), FIRN_USAGE, "size");
    options.size = sizeof options;
    options.snapshots = snapshots;
    options.snapshot_count = 1;
    CHECK(firn_sql("SELECT n FROM Number WHERE n < 10", &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 10);
    fails(firn_sql("SELECT m FROM Number", &options, &stream, &error), FIRN_USAGE, "no such column");
    CHECK(firn_sql("SELECT 1", NULL, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 1);
    fails(firn_sql("CREATE TEMP TABLE t AS SELECT 1", NULL, &stream, &error), FIRN_USAGE, "no statement returns rows");
    value.kind = FIRN_INT;
    value.integer = 69990;
    options.parameter_names = names, options.parameters = &value, options.parameter_count = 1;
    options.snapshots = NULL, options.files = files;
    options.file_count = 1, options.flags = 2;
    fails(firn_sql("SELECT 1", &options, &stream, &error), FIRN_USAGE, "flags");
    options.flags = FIRN_SQL_GIVEN_ONLY;
    CHECK(firn_sql("SELECT n FROM Number WHERE n >= :least", &options, &stream, &error) == FIRN_OK);
    firn_snapshot_free(snapshot);
    firn_database_close(database);
    CHECK(drain(&stream, NULL) == 10);
    firn_set_interrupt(go_on);
    CHECK(firn_sql("SELECT n FROM Number WHERE n >= :least", &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 10);
    firn_python_signals(ensure, release, go_on, fetch, restore, again, an_object);
    CHECK(firn_sql("SELECT n FROM Number WHERE n >= :least", &options, &stream, &error) == FIRN_OK && drain(&stream, NULL) == 10);
    CHECK(firn_python_raise() == 0);
    firn_set_interrupt(NULL);
}

/* The path of a file next to another one. */
static const char *beside(char *room, const char *path, const char *ending) {
    snprintf(room, 4096, "%s%s", path, ending);
    return room;
}

static void files(const char *path, const char *target) {
    char csv[4096], back[4096], small[4096], changes[4096], hash[33], *report = NULL;
    const char *sources[1], *type[] = {"type=Person", "columns=id,name"}, *again[] = {"key=id", "type=Person"}, *bad[] = {"colour=red"};
    struct firn_run_options options = {0};
    firn_database *database = NULL;
    firn_snapshot *snapshot = NULL;
    firn_transaction *transaction = NULL;
    firn_table *people = NULL;
    struct ArrowArrayStream stream;
    size_t length = 0;
    int64_t rows = 0;
    int calls = 0;
    sources[0] = path;
    fails(firn_convert(sources, 1, beside(csv, target, ".csv"), &options, NULL, NULL, &error), FIRN_USAGE, "size");
    options.size = sizeof options;
    options.options = type;
    options.option_count = 2;
    CHECK(firn_convert(sources, 1, csv, &options, &report, &length, &error) == FIRN_OK && strlen(report) == length);
    CHECK(strstr(report, "\"rows\":2") != NULL && strstr(report, "{\"code\":0") == report);
    firn_free(report);
    fails(firn_convert(sources, 1, csv, &options, NULL, NULL, &error), FIRN_EXISTS, "exists");
    fails(firn_convert(sources, 0, csv, NULL, NULL, NULL, &error), FIRN_USAGE, "no source");
    options.options = bad;
    options.option_count = 1;
    fails(firn_convert(sources, 1, csv, &options, NULL, NULL, &error), FIRN_USAGE, "no option \"colour\"");
    options.options = again;
    options.option_count = 2;
    sources[0] = csv;
    CHECK(firn_convert(sources, 1, beside(back, target, ".back.firn"), &options, NULL, NULL, &error) == FIRN_OK);

    /* Changes and metadata of the new file. */
    CHECK(firn_open_writable(back, NULL, 0, 0, &database, &error) == FIRN_OK);
    CHECK(firn_begin(database, 1, &transaction, &error) == FIRN_OK);
    people = table(path, "Person");
    calls = 0;
    CHECK(firn_delete_where(transaction, "Person", "id = 2", &rows, &error) == FIRN_OK && rows == 1);
    CHECK(firn_set_metadata(transaction, "Person.id", "unit", "none", 4, &error) == FIRN_OK);
    fails(firn_set_metadata(transaction, NULL, "", "x", 1, &error), FIRN_USAGE, "empty");
    CHECK(firn_commit(transaction, NULL, &error) == FIRN_OK);
    firn_transaction_free(transaction);
    CHECK(firn_snapshot_open(database, NULL, &snapshot, &error) == FIRN_OK);
    CHECK(firn_metadata_text(snapshot, "Person.id", &report, &length, &error) == FIRN_OK);
    CHECK(strcmp(report, "[[\"unit\",\"none\"]]") == 0);
    firn_free(report);
    fails(firn_metadata_text(snapshot, "Persons", &report, &length, &error), FIRN_USAGE, "Persons");
    CHECK(firn_snapshot_hash(snapshot, NULL, NULL, hash, &error) == FIRN_OK && strlen(hash) == 32);
    CHECK(firn_hash(back, NULL, &report, &length, &error) == FIRN_OK && strstr(report, hash) != NULL);
    firn_free(report);
    firn_snapshot_free(snapshot);
    CHECK(firn_table_hash(people, NULL, 0, NULL, NULL, hash, &error) == FIRN_OK && strlen(hash) == 32);

    options.options = NULL;
    options.option_count = 0;
    beside(changes, target, ".changes.firn");
    options.options = again;
    options.option_count = 1;
    CHECK(firn_write_changes(csv, back, changes, &options, NULL, NULL, &error) == FIRN_OK);
    options.options = NULL;
    options.option_count = 0;
    CHECK(firn_patch(back, changes, &options, &report, &length, &error) == FIRN_OK && strstr(report, "{\"code\":1") == report);
    firn_free(report);
    CHECK(firn_verify(back, NULL, &report, &length, &error) == FIRN_OK && strstr(report, "\"intact\":true") != NULL);
    firn_free(report);
    CHECK(firn_compact(back, beside(small, target, ".small.firn"), NULL, NULL, NULL, &error) == FIRN_OK);
    firn_database_close(database);
    CHECK(firn_compact(back, NULL, NULL, NULL, NULL, &error) == FIRN_OK);
    CHECK(firn_open_writable(back, NULL, 0, 0, &database, &error) == FIRN_OK);

    /* A watched transaction is cancelled. */
    CHECK(firn_begin(database, 1, &transaction, &error) == FIRN_OK);
    firn_transaction_watch(transaction, stop, &calls);
    stream = stream_of(people, NULL);
    fails(firn_append(transaction, "Other", &stream, NULL, 0, NULL, &error), FIRN_INTERRUPTED, "cancelled");
    CHECK(calls == 1);
    firn_transaction_free(transaction);
    CHECK(firn_begin(database, 1, &transaction, &error) == FIRN_OK);
    stream = stream_of(people, "id = 2");
    CHECK(firn_append(transaction, "Other", &stream, NULL, 0, NULL, &error) == FIRN_OK);
    stream = stream_of(people, NULL);
    CHECK(firn_replace(transaction, "Other", &stream, NULL, 0, &rows, &error) == FIRN_OK && rows == 2);
    CHECK(firn_commit(transaction, NULL, &error) == FIRN_OK);
    firn_transaction_free(transaction);
    firn_database_close(database);
    firn_table_free(people);
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    databases(arguments[1]);
    scans(arguments[1]);
    rows(arguments[1]);
    queries(arguments[1]);
    differences(arguments[1]);
    owned(arguments[1]);
    writing(arguments[1], arguments[2]);
    sql(arguments[1]);
    files(arguments[1], arguments[2]);
    puts("done");
    return 0;
}
