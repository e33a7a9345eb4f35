// Rows of a table from the pages of its file (https://www.sqlite.org/fileformat2.html): the values of records without a step of SQLite's virtual machine
// for each row. Anything unusual ends the reading with FIRN_SQLITE_UNUSUAL, and SQLite reads the table instead.
#include "cells.h"

enum { maximum_depth = 20, maximum_payload = 16 << 20 };

/// A page on the way from the root to the current leaf.
typedef struct {
    uint8_t *bytes;
    /// The header is after that of the file in page 1.
    int header, cells, next;
    bool is_leaf;
} firn_page;

struct firn_sqlite_tree {
    sqlite3_file *file;
    int64_t page_size, usable, page_count;
    uint32_t root;
    int count, row_id_column;
    bool *reals;
    /// Whether a record can have fewer values than the table has columns: the others are null.
    bool pads;
    firn_page pages[maximum_depth];
    int depth;
    int64_t visited, low, high, row_id;
    bool has_rows;
    /// The record of the current row: in its page, or in `scratch` if it continues on other pages.
    const uint8_t *record;
    int64_t record_size;
    uint8_t *scratch;
    int64_t scratch_size;
};

static uint32_t two(const uint8_t *at) { return (uint32_t)at[0] << 8 | at[1]; }
static uint32_t four(const uint8_t *at) { return two(at) << 16 | two(at + 2); }

/// Reads a number of two bytes or more.
static const uint8_t *long_varint(const uint8_t *at, const uint8_t *end, uint64_t *out) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        if (at >= end) return NULL;
        uint8_t byte = *at++;
        value = value << 7 | (byte & 0x7F);
        if (byte < 0x80) {
            *out = value;
            return at;
        }
    }
    if (at >= end) return NULL;
    *out = value << 8 | *at;
    return at + 1;
}

/// Reads a number of one to nine bytes. Returns the position after it; null if it would end after `end`.
__attribute__((always_inline)) static inline const uint8_t *varint(const uint8_t *at, const uint8_t *end, uint64_t *out) {
    if (at < end && *at < 0x80) {
        *out = *at;
        return at + 1;
    }
    return long_varint(at, end, out);
}

firn_sqlite_tree *firn_sqlite_tree_open(sqlite3 *db, int64_t root, int count, int row_id_column, const bool *reals, bool pads) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file || !file->pMethods) return NULL;
    uint8_t header[100];
    sqlite3_int64 size = 0;
    if (file->pMethods->xRead(file, header, sizeof header, 0) != SQLITE_OK || file->pMethods->xFileSize(file, &size) != SQLITE_OK) return NULL;
    int64_t page_size = two(header + 16) == 1 ? 65536 : two(header + 16), usable = page_size - header[20];
    bool has_utf8 = four(header + 56) == 1;
    if (page_size < 512 || (page_size & (page_size - 1)) || usable < 480 || !has_utf8 || root < 1 || root > size / page_size || count < 1) return NULL;
    firn_sqlite_tree *tree = calloc(1, sizeof *tree);
    if (!tree) return NULL;
    tree->reals = malloc((size_t)count * sizeof *reals);
    if (!tree->reals) {
        free(tree);
        return NULL;
    }
    memcpy(tree->reals, reals, (size_t)count * sizeof *reals);
    tree->file = file;
    tree->page_size = page_size;
    tree->usable = usable;
    tree->page_count = size / page_size;
    tree->root = (uint32_t)root;
    tree->count = count;
    tree->row_id_column = row_id_column;
    tree->pads = pads;
    tree->low = INT64_MIN;
    tree->high = INT64_MAX;
    tree->depth = -1;
    return tree;
}

void firn_sqlite_tree_free(firn_sqlite_tree *tree) {
    for (int i = 0; i < maximum_depth; i++) free(tree->pages[i].bytes);
    free(tree->scratch);
    free(tree->reals);
    free(tree);
}

void firn_sqlite_tree_limit(firn_sqlite_tree *tree, int64_t low, int64_t high) {
    tree->low = low;
    tree->high = high;
}

/// Reads some bytes of a page.
static int read_page(firn_sqlite_tree *tree, uint32_t number, uint8_t *into, int64_t count) {
    if (number < 1 || number > tree->page_count) return FIRN_SQLITE_UNUSUAL;
    return tree->file->pMethods->xRead(tree->file, into, (int)count, (sqlite3_int64)(number - 1) * tree->page_size);
}

/// Begins to read a page one level below the current one.
static int push(firn_sqlite_tree *tree, uint32_t number) {
    if (tree->depth == maximum_depth || tree->visited++ > tree->page_count) return FIRN_SQLITE_UNUSUAL;
    firn_page *page = &tree->pages[tree->depth];
    if (!page->bytes && !(page->bytes = malloc((size_t)tree->page_size))) return SQLITE_NOMEM;
    int code = read_page(tree, number, page->bytes, tree->page_size);
    if (code != SQLITE_OK) return code;
    page->header = number == 1 ? 100 : 0;
    const uint8_t *header = page->bytes + page->header;
    if (header[0] != 0x0D && header[0] != 0x05) return FIRN_SQLITE_UNUSUAL;
    page->is_leaf = header[0] == 0x0D;
    page->cells = (int)two(header + 3);
    page->next = 0;
    if (page->header + (page->is_leaf ? 8 : 12) + 2 * (int64_t)page->cells > tree->usable) return FIRN_SQLITE_UNUSUAL;
    tree->depth++;
    return SQLITE_OK;
}

/// Returns the cell of a page; null if it is outside.
static const uint8_t *cell_at(const firn_sqlite_tree *tree, const firn_page *page, int index) {
    int start = page->header + (page->is_leaf ? 8 : 12) + 2 * index;
    uint32_t offset = two(page->bytes + start);
    return (int64_t)offset < start + 2 || (int64_t)offset + 4 > tree->usable ? NULL : page->bytes + offset;
}

/// Collects a record that continues on other pages.
static int read_overflow(firn_sqlite_tree *tree, const uint8_t *at, int64_t local, int64_t size) {
    if (size > maximum_payload) return FIRN_SQLITE_UNUSUAL;
    if (size > tree->scratch_size) {
        int64_t wanted = size * 2 > maximum_payload ? maximum_payload : size * 2;
        uint8_t *more = malloc((size_t)wanted);
        if (!more) return SQLITE_NOMEM;
        free(tree->scratch);
        tree->scratch = more;
        tree->scratch_size = wanted;
    }
    memcpy(tree->scratch, at, (size_t)local);
    uint32_t number = four(at + local);
    for (int64_t filled = local; filled < size;) {
        uint8_t next[4];
        if (number < 1 || number > tree->page_count) return FIRN_SQLITE_UNUSUAL;
        sqlite3_int64 offset = (sqlite3_int64)(number - 1) * tree->page_size;
        int64_t part = size - filled < tree->usable - 4 ? size - filled : tree->usable - 4;
        int code = tree->file->pMethods->xRead(tree->file, next, 4, offset);
        if (code == SQLITE_OK) code = tree->file->pMethods->xRead(tree->file, tree->scratch + filled, (int)part, offset + 4);
        if (code != SQLITE_OK) return code;
        number = four(next);
        filled += part;
    }
    tree->record = tree->scratch;
    return SQLITE_OK;
}

/// Reads the cell of a leaf. Returns FIRN_SQLITE_ROW, FIRN_SQLITE_OK if the row is not wanted, or FIRN_SQLITE_DONE.
static int read_row(firn_sqlite_tree *tree, const firn_page *page, int index) {
    const uint8_t *at = cell_at(tree, page, index), *end = page->bytes + tree->usable;
    uint64_t size, row_id;
    if (!at || !(at = varint(at, end, &size)) || !(at = varint(at, end, &row_id)) || size > INT32_MAX) return FIRN_SQLITE_UNUSUAL;
    int64_t row = (int64_t)row_id;
    if (tree->has_rows && row <= tree->row_id) return FIRN_SQLITE_UNUSUAL;
    if (row < tree->low) return SQLITE_OK;
    if (row >= tree->high && tree->high != INT64_MAX) return SQLITE_DONE;
    tree->has_rows = true;
    tree->row_id = row;
    tree->record_size = (int64_t)size;
    int64_t most = tree->usable - 35, local = (int64_t)size;
    if (local > most) {
        int64_t least = (tree->usable - 12) * 32 / 255 - 23, part = least + (local - least) % (tree->usable - 4);
        local = part <= most ? part : least;
        if (end - at < local + 4) return FIRN_SQLITE_UNUSUAL;
        int code = read_overflow(tree, at, local, (int64_t)size);
        return code == SQLITE_OK ? SQLITE_ROW : code;
    }
    if (end - at < local) return FIRN_SQLITE_UNUSUAL;
    tree->record = at;
    return SQLITE_ROW;
}

/// Returns FIRN_SQLITE_ROW and sets the next record, FIRN_SQLITE_DONE, or an error.
static int next_row(firn_sqlite_tree *tree) {
    int code;
    if (tree->depth < 0) {
        tree->depth = 0;
        if ((code = push(tree, tree->root)) != SQLITE_OK) return code;
    }
    while (tree->depth > 0) {
        firn_page *page = &tree->pages[tree->depth - 1];
        if (page->is_leaf) {
            while (page->next < page->cells) {
                code = read_row(tree, page, page->next++);
                if (code != SQLITE_OK) return code;
            }
        } else if (page->next < page->cells) {
            uint64_t key;
            const uint8_t *at = cell_at(tree, page, page->next++);
            if (!at || !varint(at + 4, page->bytes + tree->usable, &key)) return FIRN_SQLITE_UNUSUAL;
            // The rows of the child have at most this row id.
            if ((int64_t)key < tree->low) continue;
            if ((code = push(tree, four(at))) != SQLITE_OK) return code;
            continue;
        } else if (page->next++ == page->cells) {
            if ((code = push(tree, four(page->bytes + page->header + 8))) != SQLITE_OK) return code;
            continue;
        }
        tree->depth--;
    }
    return SQLITE_DONE;
}

/// The position in a record.
typedef struct {
    const uint8_t *type, *types_end, *value, *end;
} firn_record;

static bool begin_record(const firn_sqlite_tree *tree, firn_record *record) {
    uint64_t header;
    const uint8_t *start = tree->record;
    record->end = start + tree->record_size;
    record->type = varint(start, record->end, &header);
    if (!record->type || header > (uint64_t)tree->record_size || header < (uint64_t)(record->type - start)) return false;
    record->types_end = record->value = start + header;
    return true;
}

static inline int64_t integer_of(const uint8_t *at, int width) {
    if (width == 8) return (int64_t)((uint64_t)four(at) << 32 | four(at + 4));
    uint64_t value = (uint64_t)(int64_t)(int8_t)at[0];
    for (int i = 1; i < width; i++) value = value << 8 | at[i];
    return (int64_t)value;
}

/// Reads the next value of a record. Returns false if it is unusual.
__attribute__((always_inline)) static inline bool read_value(const firn_sqlite_tree *tree, firn_record *record, int column, firn_cell *cell) {
    static const uint8_t widths[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    uint64_t type;
    if (record->type == record->types_end) {
        cell->type = SQLITE_NULL;
        return tree->pads && column != tree->row_id_column;
    }
    if (!(record->type = varint(record->type, record->types_end, &type))) return false;
    if (type >= 12) {
        uint64_t count = (type - 12) / 2;
        if (count > (uint64_t)(record->end - record->value)) return false;
        cell->type = type & 1 ? SQLITE_TEXT : SQLITE_BLOB;
        cell->bytes = record->value;
        cell->count = (int64_t)count;
        record->value += count;
    } else {
        if (type > 9 || record->end - record->value < widths[type]) return false;
        const uint8_t *at = record->value;
        record->value += widths[type];
        if (type == 0) {
            cell->type = SQLITE_NULL;
        } else if (type == 7) {
            uint64_t bits = (uint64_t)integer_of(at, 8);
            memcpy(&cell->real, &bits, 8);
            cell->type = isnan(cell->real) ? SQLITE_NULL : SQLITE_FLOAT;
        } else {
            cell->type = SQLITE_INTEGER;
            cell->integer = type >= 8 ? (int64_t)type - 8 : integer_of(at, widths[type]);
        }
    }
    if (column == tree->row_id_column) {
        cell->type = SQLITE_INTEGER;
        cell->integer = tree->row_id;
    } else if (cell->type == SQLITE_INTEGER && tree->reals[column]) {
        // Whole numbers of columns with the affinity REAL are stored as integers.
        cell->type = SQLITE_FLOAT;
        cell->real = (double)cell->integer;
    }
    return true;
}

int firn_sqlite_tree_survey(firn_sqlite_tree *tree, firn_sqlite_facts *facts, int64_t *rows) {
    int code;
    *rows = 0;
    while ((code = next_row(tree)) == SQLITE_ROW) {
        firn_record record;
        if (!begin_record(tree, &record)) return FIRN_SQLITE_UNUSUAL;
        for (int i = 0; i < tree->count; i++) {
            firn_cell cell;
            if (!read_value(tree, &record, i, &cell)) return FIRN_SQLITE_UNUSUAL;
            note_cell(&facts[i], &cell);
        }
        // Bytes after the last value: the lengths of values before it are wrong.
        if (record.type != record.types_end || record.value != record.end) return FIRN_SQLITE_UNUSUAL;
        ++*rows;
    }
    return code;
}

int firn_sqlite_tree_fetch(firn_sqlite_tree *tree, firn_sqlite_batch *batch) {
    if (!firn_sqlite_begin(batch)) return SQLITE_NOMEM;
    int64_t bytes = 0;
    while (batch->rows < batch->maximum_rows && bytes < batch->maximum_bytes) {
        int code = next_row(tree);
        if (code != SQLITE_ROW) return code;
        batch->last_row_id = tree->row_id;
        batch->has_row_id = true;
        firn_record record;
        if (!begin_record(tree, &record)) return FIRN_SQLITE_UNUSUAL;
        for (int i = 0; i < batch->count; i++) {
            firn_sqlite_column *column = &batch->columns[i];
            firn_cell cell;
            if (!read_value(tree, &record, i, &cell)) return FIRN_SQLITE_UNUSUAL;
            int64_t before = column->byte_count;
            if ((code = append_cell(column, batch->rows, &cell, batch->limit_bytes - bytes)) != SQLITE_OK) {
                batch->fault = i;
                return code;
            }
            bytes += column->byte_count - before;
        }
        batch->rows++;
    }
    return SQLITE_ROW;
}
