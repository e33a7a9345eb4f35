/*
** firn.h: the C interface of Firn. Reads and writes .firn files; rows are Arrow C streams in both directions.
**
** Link with libfirn (-lfirn). The library needs no other one at run time than the system's and, for encrypted files,
** OpenSSL's libcrypto, which it loads when it meets one.
**
** OWNERSHIP. A function whose name ends in _free or _close releases what another function returned. NULL is allowed.
** Every object may be released in any order: a table keeps its snapshot, a snapshot its database, and an Arrow stream
** or array everything that it needs. Text that a function returns as const char * belongs to the object that was
** passed, and is valid until that object is released; text that it stores through a char ** belongs to the caller, who
** releases it with firn_free. All text is UTF-8 and ends with a zero byte.
**
** ERRORS. A function that can fail returns FIRN_OK (0) or another code of enum firn_code. If its last argument is not
** NULL, it stores an error object there, which the caller releases with firn_error_free; after FIRN_OK it stores NULL.
** After an error, the other results are unchanged. No content of a file ends the process: damaged files, wrong types
** and wrong names are errors. Pointers that were released, or that never came from this library, are not detected.
**
** THREADS. All functions can be called on any thread. Databases, snapshots and tables can be used by several threads
** at the same time. A cursor, a transaction or an Arrow stream can be used by one thread at a time. An object must not be released
** while another thread uses it.
**
** FORK. In a child process that was forked after an object was made, functions that read return FIRN_USAGE, and
** functions that release an object release nothing. Open the file again in the child.
**
** VERSIONS. Functions and values of this header never change; later versions add to them. A program that needs
** version n of the interface checks that firn_abi_version() returns at least n.
*/
/* // Long because it describes each function of the library. */
#ifndef FIRN_H
#define FIRN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the interface that this header describes. */
#define FIRN_ABI_VERSION 2

/* ---- Arrow -------------------------------------------------------------------------------------------------------
** The structures of the Arrow C data interface and of the Arrow C stream interface, as Arrow's documentation defines
** them: https://arrow.apache.org/docs/format/CDataInterface.html
*/
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* ---- Versions and memory ----------------------------------------------------------------------------------------- */

/* Returns the version of the library, such as "0.1.0". Never fails. The text is valid for ever. */
const char *firn_version(void);

/* Returns the version of the interface that the library has: FIRN_ABI_VERSION of its header. Never fails. */
int32_t firn_abi_version(void);

/* Releases text that a function stored through a char **. */
void firn_free(void *text);

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

enum firn_code {
    FIRN_OK = 0,
    FIRN_USAGE = 1,            /* the call is wrong: an argument, a name, a predicate */
    FIRN_REJECTED = 2,         /* a value does not fit */
    FIRN_DAMAGED = 3,          /* the file is damaged */
    FIRN_NOT_THIS_FORMAT = 4,  /* the file is not a .firn file */
    FIRN_UNSUPPORTED = 5,      /* the file or the request needs a feature that this version does not have */
    FIRN_INPUT_OUTPUT = 6,     /* a call of the operating system failed: see firn_error_system_code */
    FIRN_EXISTS = 7,           /* the target exists already */
    FIRN_NOT_FOUND = 8,        /* a file, type, row, version or tag does not exist */
    FIRN_NO_SPACE = 9,         /* the disk is full */
    FIRN_LOCKED = 10,          /* another writer uses the file */
    FIRN_INTERRUPTED = 11,     /* the operation was cancelled */
    FIRN_DUPLICATE_KEY = 12,   /* a value of a primary key occurs twice */
    FIRN_SCHEMA = 13,          /* types or columns do not match */
    FIRN_ENCRYPTED = 14,       /* the file is encrypted, and no key was given */
    FIRN_WRONG_KEY = 15,       /* the key is not that of the file */
    FIRN_NOT_ENCRYPTED = 16,   /* a key was given for a file without encryption */
    FIRN_OUT_OF_MEMORY = 17    /* the memory limit, or the machine, does not allow the operation */
};

typedef struct firn_error firn_error;

/* Returns the code of an error; FIRN_OK for NULL. */
int32_t firn_error_code(const firn_error *error);

/* Returns the name of the code, such as "damaged". */
const char *firn_error_name(const firn_error *error);

/* Returns what failed and why, without the location. */
const char *firn_error_message(const firn_error *error);

/* Returns the file that the error concerns; NULL if there is none. */
const char *firn_error_file(const firn_error *error);

/* Return the line and column from 1, and the offset of the byte from 0; -1 if not known. */
int64_t firn_error_line(const firn_error *error);
int64_t firn_error_column(const firn_error *error);
int64_t firn_error_byte(const firn_error *error);

/* Returns what the user can do, in one line; NULL if there is no advice. */
const char *firn_error_advice(const firn_error *error);

/* Returns the errno of the system call that failed; 0 if none did. */
int32_t firn_error_system_code(const firn_error *error);

/* Releases an error. */
void firn_error_free(firn_error *error);

/* ---- Progress and cancellation ------------------------------------------------------------------------------------ */

/*
** Functions that can take long call such a function first and then about 20 times a second, on the thread that called them. done and
** total are bytes of the input if their number is known, else rows; total is -1 if it is not known. context is the pointer
** that was passed with the function. If it returns non-zero, the operation ends with FIRN_INTERRUPTED as soon as it can,
** and files are as before.
*/
typedef int32_t (*firn_progress)(void *context, int64_t done, int64_t total);

/*
** Sets a function that is called from time to time while this thread waits for the library, also in get_next of a stream;
** NULL: none. If it returns non-zero, the call ends with FIRN_INTERRUPTED, or the stream with an error. There is one such
** function. Other threads do not call it. For languages in which signals are handled by one thread.
*/
void firn_set_interrupt(int32_t (*check)(void));

/* ---- Databases --------------------------------------------------------------------------------------------------- */

typedef struct firn_database firn_database;

/*
** Opens a .firn file for reading, in constant time. Other processes can write to it at the same time.
**
** key: the key of an encrypted file, as 64 bytes or as 128 hexadecimal digits; NULL if there is none. Without one, the
**   environment variable FIRN_KEY is used for files that are encrypted.
** Errors: FIRN_NOT_FOUND, FIRN_INPUT_OUTPUT, FIRN_NOT_THIS_FORMAT, FIRN_DAMAGED, FIRN_UNSUPPORTED, FIRN_ENCRYPTED,
**   FIRN_WRONG_KEY, FIRN_NOT_ENCRYPTED.
*/
int32_t firn_open(
    const char *path, const void *key, size_t key_bytes, firn_database **database, firn_error **error);

/* Returns the path that the database was opened with. */
const char *firn_database_path(const firn_database *database);

/*
** Returns a notice for the user, or NULL: one of the two roots of the file is damaged, by an interrupted commit or by
** the disk, so the version that is read might not be the newest one.
*/
const char *firn_database_notice(const firn_database *database);

/*
** Checks that the path of the database leads to the file that is open. Compaction and conversions replace files; a
** database reads the file that it opened, also then.
**
** Errors: FIRN_INPUT_OUTPUT if the file was replaced or removed.
*/
int32_t firn_database_check(const firn_database *database, firn_error **error);

/* Releases the database. Snapshots of it stay valid. */
void firn_database_close(firn_database *database);

/* ---- Snapshots --------------------------------------------------------------------------------------------------- */

typedef struct firn_snapshot firn_snapshot;

/*
** Pins a version of the file: by its number ("5"), by a tag ("release"), as the newest that was committed by a time
** ("2026-11-29T12:00", in UTC unless it has a zone; a day means its end), or the newest if version is NULL. A snapshot
** never changes. The file keeps the space of its version until the snapshot is released.
**
** Errors: FIRN_NOT_FOUND if the version is not kept, or if there is no such tag.
*/
int32_t firn_snapshot_open(
    const firn_database *database, const char *version, firn_snapshot **snapshot, firn_error **error);

/* Returns the number of the version. */
uint64_t firn_snapshot_version(const firn_snapshot *snapshot);

/* Returns the time of the version's commit, in nanoseconds since 1970-01-01 UTC. */
int64_t firn_snapshot_time(const firn_snapshot *snapshot);

/* Returns the number of types whose rows are listed separately: all but those of embedded objects. */
size_t firn_snapshot_type_count(const firn_snapshot *snapshot);

/* Returns the name of a type; NULL if index is not below firn_snapshot_type_count. */
const char *firn_snapshot_type_name(const firn_snapshot *snapshot, size_t index);

/*
** Stores the metadata of the file, of a type or of a column (see firn_set_metadata) as a JSON array of pairs, in the order
** in which they were added: [["unit","cm"]]. Values that are not UTF-8 are {"$binary":base64}. The caller releases the
** text with firn_free.
**
** Errors: FIRN_USAGE if there is no such type or column.
*/
int32_t firn_metadata_text(
    const firn_snapshot *snapshot, const char *owner, char **text, size_t *length, firn_error **error);

/*
** Stores the content hash of all types of the version: 32 hexadecimal digits and a zero byte. It equals that which
** 'firn hash' prints, and is the same for files with the same rows, however they are stored. It is not collision-resistant.
*/
int32_t firn_snapshot_hash(
    const firn_snapshot *snapshot, firn_progress progress, void *context, char hash[33], firn_error **error);

/* Releases the snapshot. Tables of it stay valid. */
void firn_snapshot_free(firn_snapshot *snapshot);

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

typedef struct firn_table firn_table;

/*
** Returns the rows of a type at the version of the snapshot.
**
** Errors: FIRN_NOT_FOUND if there is no such type.
*/
int32_t firn_table_open(const firn_snapshot *snapshot, const char *type, firn_table **table, firn_error **error);

/* Returns the name of the type. */
const char *firn_table_name(const firn_table *table);

/* Returns the number of rows. */
int64_t firn_table_row_count(const firn_table *table);

/* Returns the number of segments: the parts of up to 65,536 rows that a scan can be restricted to. */
int64_t firn_table_segment_count(const firn_table *table);

/*
** Returns the schema as JSON: {"v":1,"rows":NAME,"types":[{"name":…,"key":[…],"columns":[{"name":…,"kind":…,
** "optional":true,"collection":…,"target":…}]}]}. The first type is that of the table; the others are those of the
** embedded objects in it. Members that are false or empty are left out.
*/
const char *firn_table_schema_text(const firn_table *table);

/*
** Writes the schema that a scan of these columns has. columns == NULL: all columns. The caller releases it with
** schema->release(schema).
**
** Errors: FIRN_USAGE if there is no such column; FIRN_DAMAGED.
*/
int32_t firn_table_schema(
    const firn_table *table, const char *const *columns, size_t column_count, struct ArrowSchema *schema,
    firn_error **error);

/*
** Stores the content hash of the rows, as firn_snapshot_hash. key: the columns that identify a row; NULL: the primary key.
** The order of rows matters only without a key.
**
** Errors: FIRN_USAGE if there is no such column; FIRN_DAMAGED.
*/
int32_t firn_table_hash(
    const firn_table *table, const char *const *key, size_t key_count, firn_progress progress, void *context,
    char hash[33], firn_error **error);

/* Releases the table. Streams and cursors of it stay valid. */
void firn_table_free(firn_table *table);

/* ---- Scans ------------------------------------------------------------------------------------------------------- */

enum firn_scan_flag {
    /*
    ** Columns of texts that repeat are Arrow dictionaries with indexes of 32 bits, which engines group and compare
    ** faster. The first segment of the table decides which columns these are. firn_cursor_open ignores this flag.
    */
    FIRN_SCAN_DICTIONARIES = 1,
    /*
    ** Columns of texts are Arrow string views, which Polars reads without copying them. Together with
    ** FIRN_SCAN_DICTIONARIES, those that are not dictionaries. firn_cursor_open ignores this flag.
    */
    FIRN_SCAN_VIEWS = 2
};

/* What a scan reads. Set everything to zero, then size, then what differs from the default. */
struct firn_scan_options {
    size_t size;                 /* sizeof(struct firn_scan_options) */
    const char *const *columns;  /* the names of the columns, in the order of the result; NULL: all */
    size_t column_count;
    const char *where;           /* a predicate in Firn's query language, without SORT, DISTINCT and LIMIT; NULL: none */
    int64_t limit;               /* the maximum number of rows; 0 or less: no limit */
    int64_t first_segment;       /* the first segment that is read */
    int64_t segment_count;       /* the number of segments that are read; 0 or less: all from the first on */
    int32_t threads;             /* the number of threads; 0 or less: as many as the machine has processors */
    int64_t flags;               /* enum firn_scan_flag, combined by | */
};

/*
** Writes an Arrow stream of rows in the order of the table. options == NULL: all rows and columns. The caller releases
** it with stream->release(stream), also after an error of get_next.
**
** A batch has at most 65,536 rows. The memory of a scan is that of a few batches. Integers of 64 bits and doubles are
** handed over in the memory into which they were decoded; a batch stays valid until it is released, whatever happens
** to the stream, the table and the database.
**
** Names and the predicate are checked before this function returns. Damage and input errors are reported by get_next,
** with the text that get_last_error returns.
**
** A column of links has row ids. Values that an Arrow type cannot express end the stream with an error.
**
** Errors: FIRN_USAGE, FIRN_DAMAGED.
*/
int32_t firn_scan(
    const firn_table *table, const struct firn_scan_options *options, struct ArrowArrayStream *stream,
    firn_error **error);

/* ---- Single rows ------------------------------------------------------------------------------------------------- */

enum firn_kind {
    FIRN_NULL = 0,
    FIRN_BOOL = 1,   /* integer: 0 or 1 */
    FIRN_INT = 2,    /* integer */
    FIRN_DOUBLE = 3, /* real */
    FIRN_TEXT = 4,   /* bytes and length, in UTF-8; also dates, decimals, UUIDs and object ids in their usual notation */
    FIRN_BINARY = 5  /* bytes and length */
};

/* A value of a key. */
struct firn_value {
    int32_t kind; /* enum firn_kind */
    int64_t integer;
    double real;
    const void *bytes;
    size_t length;
};

/*
** Finds the row with a primary key: a value for each column of the key, in the order of the schema. The first look-ups
** search; when they have cost as much as an index in memory, it is built, and further ones take constant time.
**
** Errors: FIRN_NOT_FOUND if there is no such row; FIRN_USAGE if the type has no key, or another number of columns in it,
**   or if a value cannot be of the type of its column; FIRN_DAMAGED.
*/
int32_t firn_find(
    const firn_table *table, const struct firn_value *key, size_t count, int64_t *row_id, firn_error **error);

/* What a slot of a row of firn_get holds. */
enum firn_slot {
    FIRN_SLOT_NULL = 0,  /* no value; the slot is 0 */
    FIRN_SLOT_VALUE = 1, /* int64 of a bool, int or link (row id); double of a float or double; int64 of a date of the
                            years 1 to 9999: microseconds since 1970 in UTC, without further digits */
    FIRN_SLOT_BYTES = 2, /* a text in UTF-8, or binary: uint32 offset in the row, then uint32 length */
    FIRN_SLOT_JSON = 3   /* any other value as in firn_row_text: uint32 offset in the row, then uint32 length */
};

/*
** Stores the row with a primary key in memory of the caller: for each column a slot of 8 bytes, then for each column a
** byte of enum firn_slot, then the bytes that slots refer to. Numbers have the byte order of the machine. Stores the
** length of the row in *length; if it is greater than the room, the row is not stored, and the caller gives more.
**
** Errors: as firn_find; FIRN_USAGE for a row of more than 2 GiB.
*/
int32_t firn_get(
    const firn_table *table, const struct firn_value *key, size_t count, void *row, size_t room, size_t *length,
    firn_error **error);

/*
** Stores one row as a JSON array of the values of the columns. columns == NULL: all columns. Values that JSON does not
** have are objects with one member: {"$date":…}, {"$numberDecimal":…}, {"$uuid":…}, {"$oid":…}, {"$binary":base64},
** {"$float":…}, {"$double":bits}, {"$row":row id}, {"$set":[…]}, {"$map":{…}}. The caller releases the text with
** firn_free.
**
** Errors: FIRN_NOT_FOUND if there is no row with this id; FIRN_USAGE, FIRN_DAMAGED.
*/
int32_t firn_row_text(
    const firn_table *table, int64_t row_id, const char *const *columns, size_t column_count, char **text,
    size_t *length, firn_error **error);

typedef struct firn_cursor firn_cursor;

/* Begins to read rows as JSON: the rows that firn_scan would return for the same options. Errors: as firn_scan. */
int32_t firn_cursor_open(
    const firn_table *table, const struct firn_scan_options *options, firn_cursor **cursor, firn_error **error);

/*
** Stores the next rows as a JSON array of arrays as of firn_row_text, or NULL at the end. The caller releases the text
** with firn_free.
*/
int32_t firn_cursor_next(firn_cursor *cursor, char **text, size_t *length, firn_error **error);

/* Releases the cursor. */
void firn_cursor_free(firn_cursor *cursor);

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

/* What a query returns. Set everything to zero, then size, then what differs from the default. */
struct firn_query_options {
    size_t size;                   /* sizeof(struct firn_query_options) */
    const char *query;             /* Firn's query language, with SORT, DISTINCT and LIMIT; NULL: all rows */
    const char *const *select;     /* columns or paths such as "birth.place"; NULL: all columns */
    size_t select_count;
    const char *const *group_by;   /* columns or paths; NULL: no groups */
    size_t group_by_count;
    const char *aggregates;        /* such as "count, sum(price) as total"; NULL: none */
    int64_t limit;                 /* the maximum number of rows; 0 or less: no limit */
    int64_t offset;                /* the number of rows to skip */
    int32_t threads;               /* as in firn_scan_options */
};

/*
** Writes an Arrow stream of the result of a query. It runs on a thread of its own from the first call of get_next on,
** a few batches ahead of the consumer; releasing the stream ends it. Ownership and errors: as firn_scan.
*/
int32_t firn_query(
    const firn_table *table, const struct firn_query_options *options, struct ArrowArrayStream *stream,
    firn_error **error);

/* ---- Differences --------------------------------------------------------------------------------------------------- */

/* How two tables are compared. Set everything to zero, then size, then what differs from the default. */
struct firn_diff_options {
    size_t size;                /* sizeof(struct firn_diff_options) */
    const char *const *key;     /* the columns that identify a row; NULL: the primary key */
    size_t key_count;
    const char *const *ignore;  /* columns that are not compared; NULL: none */
    size_t ignore_count;
    double tolerance;           /* numbers that differ by at most this much are equal */
    int32_t threads;            /* as in firn_scan_options */
    firn_progress progress;     /* from version 2 of the interface on; may be NULL */
    void *context;
};

struct firn_diff_counts {
    int64_t added, removed, changed, unchanged; /* rows */
};

/*
** Compares two tables, of one file or of two, row by row by key. Stores the counts (counts may be NULL), and a cursor for
** firn_cursor_next, whose texts are JSON arrays of the rows that differ: removed ones, then added and changed ones.
**
**   {"kind":"added","key":[…],"new":{column:value}}
**   {"kind":"removed","key":[…],"old":{column:value}}
**   {"kind":"changed","key":[…],"old":{column:value},"new":{column:value}}   the columns that differ
**
** Values are those of firn_row_text. The cursor keeps both tables.
**
** Errors: FIRN_USAGE if there is no key, or no such column; FIRN_DUPLICATE_KEY if rows of a table have the same key.
*/
int32_t firn_diff(
    const firn_table *old_table, const firn_table *new_table, const struct firn_diff_options *options,
    struct firn_diff_counts *counts, firn_cursor **cursor, firn_error **error);

/* ---- SQL ----------------------------------------------------------------------------------------------------------- */

struct firn_run_options;

/* What SQL reads. Set everything to zero, then size, then what is needed. */
struct firn_sql_options {
    size_t size;                             /* sizeof(struct firn_sql_options) */
    const struct firn_run_options *run;      /* options of 'firn sql' about the files, progress; NULL: none */
    const firn_snapshot *const *snapshots;   /* versions whose types are tables; NULL: none */
    size_t snapshot_count;
    const char *const *files;                /* files of any format that are tables; NULL: none */
    size_t file_count;
    const char *const *parameter_names;      /* such as "age" for :age; NULL: none */
    const struct firn_value *parameters;     /* their values */
    size_t parameter_count;
    int64_t flags;                           /* of enum firn_sql_flag; 0: none */
};

enum firn_sql_flag {
    FIRN_SQL_GIVEN_ONLY = 1 /* a table name that is the path of a file is not that file */
};

/*
** Runs SQL statements in SQLite's dialect, as 'firn sql' does (docs/guide/sql.md), and writes an Arrow stream of the
** result of the one statement that returns rows. Each type is a table of its name, or FILE_Type if several inputs have a
** type of that name. A CSV or JSON file is a table named after the file. A table name that is the path of a file is that
** file: SELECT * FROM 'data/people.csv'. With the flag FIRN_SQL_GIVEN_ONLY it is not: then statements read the given
** versions and files alone. Statements can create temporary tables, and change no file.
**
** Returns when the columns of the result are known. In SQL each value has a type: a column has the type that fits all of
** its values; integers and doubles together are doubles, other mixtures text. A result of more than 64 MiB is computed
** twice, first for the types. The statements run on a thread of their own; releasing the stream interrupts them.
**
** Errors: FIRN_USAGE for a wrong statement, with line and column; FIRN_NOT_FOUND, and the errors of reading.
*/
int32_t firn_sql(
    const char *statements, const struct firn_sql_options *options, struct ArrowArrayStream *stream,
    firn_error **error);

/* ---- Files --------------------------------------------------------------------------------------------------------- */

/* How the functions below run. Set everything to zero, then size, then what differs from the default. */
struct firn_run_options {
    size_t size;                /* sizeof(struct firn_run_options) */
    const char *const *options; /* "NAME=VALUE", or "NAME" for a switch; NULL: none */
    size_t option_count;
    const void *key;            /* the key of encrypted inputs, as for firn_open; NULL: none */
    size_t key_bytes;
    const void *new_key;        /* the key of the file that is written; NULL: that of the input */
    size_t new_key_bytes;
    firn_progress progress;     /* may be NULL */
    void *context;
};

/*
** The functions below do what the command of the same name does. The options are the flags of that command without dashes
** ("key=id", "null=NA", "force"), as docs/cli.md describes them; those about the process and the output are not available:
** color, progress, quiet, memory, no-mmap, strict, json, output. A failed or cancelled function leaves the target unchanged.
**
** report receives a JSON text, which the caller releases with firn_free; it may be NULL:
**   {"code":0,"result":{…},"remarks":["…"]}
** code is the exit code of the command, 0 or 1, or 3 if rows were rejected; result is what it prints with --json; remarks
** are the texts that it prints to standard error.
**
** Errors: FIRN_USAGE for wrong options, FIRN_EXISTS if the target exists and "force" is not given, FIRN_REJECTED for rows
** that do not fit, FIRN_INTERRUPTED, and the errors of reading and writing.
*/

/*
** Converts files, folders or patterns of any format that Firn reads to a file: .firn, CSV, TSV, JSON, NDJSON, Parquet,
** Arrow or SQLite. The formats are detected; "from=" and "to=" name them. A failed conversion leaves the target unchanged.
*/
int32_t firn_convert(
    const char *const *sources, size_t source_count, const char *target, const struct firn_run_options *options,
    char **report, size_t *length, firn_error **error);

/*
** Writes the file again without dead space and old versions, to target, or in its place if target is NULL. "profile="
** chooses fast, default or small; "in-place" shortens the file while others use it.
*/
int32_t firn_compact(
    const char *path, const char *target, const struct firn_run_options *options, char **report, size_t *length,
    firn_error **error);

/* Checks a file. In the report, code is 1 and "intact" false if there are defects. "full" decodes every value. */
int32_t firn_verify(
    const char *path, const struct firn_run_options *options, char **report, size_t *length, firn_error **error);

/* Computes the content hash of a file of any format, and of its types: see firn_snapshot_hash. */
int32_t firn_hash(
    const char *path, const struct firn_run_options *options, char **report, size_t *length, firn_error **error);

/* Writes the differences between two files or versions (FILE@5) to a changes file, for firn_patch. */
int32_t firn_write_changes(
    const char *old_path, const char *new_path, const char *target, const struct firn_run_options *options,
    char **report, size_t *length, firn_error **error);

/*
** Applies a changes file to a .firn file in one commit, or nothing of it: then code is 1, and the report has the conflicts.
** "reverse" applies it in reverse, "check" changes nothing.
*/
int32_t firn_patch(
    const char *path, const char *changes, const struct firn_run_options *options, char **report, size_t *length,
    firn_error **error);

/* ---- Writing ------------------------------------------------------------------------------------------------------- */

/*
** Opens a .firn file for reading and writing. creates != 0: if the file does not exist, it is made by the first commit,
** encrypted if there is a key. Files next to it that killed processes left are removed.
**
** Errors: as firn_open; FIRN_INPUT_OUTPUT if the file must not be written, FIRN_UNSUPPORTED if it needs a newer writer.
*/
int32_t firn_open_writable(
    const char *path, const void *key, size_t key_bytes, int32_t creates, firn_database **database, firn_error **error);

typedef struct firn_transaction firn_transaction;

/*
** Begins the one transaction of the file, across threads and processes. While another one is under way, waits for so
** many seconds (less than 0: as long as it takes), then returns FIRN_LOCKED. A thread that waits for its own transaction
** waits for ever. Readers are not disturbed, and see nothing of the transaction before its commit.
**
** A transaction can be used by one thread at a time. After an error of one of the functions below, it can only be
** released: the others return FIRN_USAGE.
*/
int32_t firn_begin(
    const firn_database *database, double patience, firn_transaction **transaction, firn_error **error);

/*
** Appends the rows of an Arrow stream to a type. The function takes the stream over and releases it, also if it fails.
**
** A type that does not exist is made: with the columns of the stream, and with the primary key that key names, or
** without a key if it is NULL. If the type exists, columns are matched by name. The stream must have every column that
** cannot be null, and no others. Values are converted if nothing is lost, such as integers to doubles. Rows that would
** lose something, such as map entries with equal keys or the time of a date, are FIRN_REJECTED.
**
** rows: receives the number of rows; may be NULL.
** Errors: FIRN_SCHEMA if columns do not match, with the name of the column; FIRN_REJECTED for a null or a value that
**   does not fit, with the row; FIRN_DUPLICATE_KEY (of many rows, firn_commit returns it).
*/
int32_t firn_append(
    firn_transaction *transaction, const char *type, struct ArrowArrayStream *stream, const char *const *key,
    size_t key_count, int64_t *rows, firn_error **error);

/*
** Inserts the rows of a stream whose keys do not exist, and changes the others: in each, the columns that the stream
** has. Takes the stream over. rows: the number of rows of the stream. Errors: as firn_append; FIRN_NOT_FOUND if there is
** no such type, FIRN_USAGE if it has no key.
*/
int32_t firn_upsert(
    firn_transaction *transaction, const char *type, struct ArrowArrayStream *stream, int64_t *rows, firn_error **error);

/*
** Deletes all rows of a type, then appends the rows of a stream: the arguments and errors are those of firn_append. Links
** to the deleted rows are removed.
*/
int32_t firn_replace(
    firn_transaction *transaction, const char *type, struct ArrowArrayStream *stream, const char *const *key,
    size_t key_count, int64_t *rows, firn_error **error);

/*
** Deletes the rows with the keys that a stream has: it has the columns of the key, and may have others of the type.
** Keys without a row are no error. Links to deleted rows are removed. Takes the stream over. rows: the number of rows
** that were deleted.
*/
int32_t firn_delete_keys(
    firn_transaction *transaction, const char *type, struct ArrowArrayStream *stream, int64_t *rows, firn_error **error);

/* Deletes the rows that match a predicate, in Firn's query language. rows: the number of rows that were deleted. */
int32_t firn_delete_where(
    firn_transaction *transaction, const char *type, const char *predicate, int64_t *rows, firn_error **error);

/*
** Calls a function with the number of rows that a function above has written so far, after each batch; NULL: no more.
** If it returns non-zero, the function that writes returns FIRN_INTERRUPTED.
*/
void firn_transaction_watch(firn_transaction *transaction, firn_progress progress, void *context);

/*
** Sets metadata of the file (owner == NULL), of a type ("Person") or of a column ("Person.height"): a named value of any
** bytes, which Firn keeps and does not interpret. value == NULL removes it.
**
** Errors: FIRN_USAGE if there is no such type or column.
*/
int32_t firn_set_metadata(
    firn_transaction *transaction, const char *owner, const char *key, const void *value, size_t length,
    firn_error **error);

/*
** Makes the changes the newest version of the file, atomically and durably, and stores its number (version may be
** NULL). Without changes, it makes no version, and stores the number of the newest one. After an error, the file is
** unchanged.
*/
int32_t firn_commit(firn_transaction *transaction, uint64_t *version, firn_error **error);

/* Releases a transaction. If it was not committed, the file is unchanged. */
void firn_transaction_free(firn_transaction *transaction);

/*
** Names a version, durably; NULL: the newest. The version is kept until the tag is deleted. If another version has the
** tag, the tag moves. The database must be writable, as for firn_untag.
*/
int32_t firn_tag(const firn_database *database, const char *tag, const char *version, firn_error **error);

/* Deletes a tag. Errors: FIRN_NOT_FOUND if there is no such tag. */
int32_t firn_untag(const firn_database *database, const char *tag, firn_error **error);

/*
** Stores the versions that are kept as a JSON array, the newest first: [{"version":5,"time":nanoseconds since
** 1970-01-01 UTC,"tags":["release"]}]. The caller releases the text with firn_free.
*/
int32_t firn_log_text(const firn_database *database, char **text, size_t *length, firn_error **error);

/* ---- Streams for other languages --------------------------------------------------------------------------------- */

/*
** Return memory for a stream or a schema, set to zero; release it with the functions after them, which also release
** the contents if they were not taken over. For languages in which such a structure must not move or be collected.
*/
struct ArrowArrayStream *firn_stream_new(void);
struct ArrowSchema *firn_schema_new(void);
void firn_stream_free(struct ArrowArrayStream *stream);
void firn_schema_free(struct ArrowSchema *schema);

/*
** The destructors of Python capsules with the names "arrow_array_stream" and "arrow_schema", whose pointers came from
** firn_stream_new and firn_schema_new. get_pointer is the address of PyCapsule_GetPointer, which firn_python_begin must
** receive before a capsule is made.
*/
void firn_python_begin(void *(*get_pointer)(void *capsule, const char *name));
void firn_stream_capsule_free(void *capsule);

/*
** Lets Python handle signals while this thread waits for the library, as firn_set_interrupt: the addresses of
** PyGILState_Ensure, PyGILState_Release, PyErr_CheckSignals, PyErr_Fetch, PyErr_Restore and PyErr_SetInterrupt, and the
** object KeyboardInterrupt. firn_python_raise, called with the interpreter's lock, sets the exception that a handler raised
** meanwhile, and returns 1; it returns 0 if there is none. After KeyboardInterrupt in get_next of a stream, SIGINT is
** simulated, so that the interpreter raises it when the library that reads the stream returns.
*/
void firn_python_signals(
    int32_t (*ensure)(void), void (*release)(int32_t state), int32_t (*check)(void),
    void (*fetch)(void **type, void **value, void **trace), void (*restore)(void *type, void *value, void *trace),
    void (*set_interrupt)(void), void *keyboard_interrupt);
int32_t firn_python_raise(void);
void firn_schema_capsule_free(void *capsule);

#ifdef __cplusplus
}
#endif

#endif
