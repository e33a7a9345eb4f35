// Values of rows, and how they are counted and collected: for rows that SQLite steps over (database.c), and for those of pages (tree.c).
#ifndef FIRN_SQLITE_CELLS_H
#define FIRN_SQLITE_CELLS_H
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include "CSQLiteLibrary.h"

/// A value. `type` is SQLITE_INTEGER …; `bytes` are those of a text or blob.
typedef struct {
    int type;
    int64_t integer;
    double real;
    const uint8_t *bytes;
    int64_t count;
} firn_cell;

// MARK: Texts

/// Returns whether all bytes are ASCII. Words that overlap spare a loop over the last bytes: most texts are short.
static inline bool is_ascii(const uint8_t *at, int64_t count) {
    uint64_t all = 0, word = 0;
    if (count >= 8) {
        for (int64_t i = 0; i + 8 < count; i += 8) {
            memcpy(&word, at + i, 8);
            all |= word;
        }
        memcpy(&word, at + count - 8, 8);
        all |= word;
    } else if (count >= 4) {
        uint32_t first, last;
        memcpy(&first, at, 4);
        memcpy(&last, at + count - 4, 4);
        all = first | last;
    } else if (count > 0) {
        all = at[0] | at[count / 2] | at[count - 1];
    }
    return (all & 0x8080808080808080u) == 0;
}

/// Returns whether bytes are UTF-8.
static inline bool is_utf8(const uint8_t *at, int64_t count) {
    if (is_ascii(at, count)) return true;
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

static inline bool two_digits(const uint8_t *at, int *out) {
    uint8_t a = (uint8_t)(at[0] - '0'), b = (uint8_t)(at[1] - '0');
    *out = a * 10 + b;
    return a < 10 && b < 10;
}

/// The days since 1970 of a date in the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
static inline int64_t days_of(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

typedef struct {
    int64_t seconds, nanoseconds;
    int form, digits;
    bool ends_in_zero;
    /// For FIRN_SQLITE_DATE_ZONED.
    firn_zone zone;
} firn_date;

/// Reads the zone at the end of a date: `Z`, ` UTC`, or an offset of whole quarters of an hour: `+02`, `+0200`, `+02:00`, the last two also after a
/// space. Returns false for any other text, and for `-00:00`, whose meaning is that the zone is not known.
static inline bool read_zone(const uint8_t *at, const uint8_t *end, firn_zone *out) {
    out->quarters = 0;
    if (end - at == 1 && *at == 'Z') {
        out->kind = FIRN_SQLITE_ZONE_ZULU;
        return true;
    }
    if (end - at == 4 && at[0] == ' ' && at[1] == 'U' && at[2] == 'T' && at[3] == 'C') {
        out->kind = FIRN_SQLITE_ZONE_UTC;
        return true;
    }
    bool spaced = at < end && *at == ' ';
    if (spaced) at++;
    if (end - at < 3 || (*at != '+' && *at != '-')) return false;
    bool below = *at++ == '-', colon = false;
    int hours, minutes = 0;
    if (!two_digits(at, &hours)) return false;
    at += 2;
    out->kind = FIRN_SQLITE_ZONE_HOURS;
    if (at < end) {
        colon = *at == ':';
        if (colon) at++;
        if (end - at != 2 || !two_digits(at, &minutes)) return false;
        out->kind = colon ? spaced ? FIRN_SQLITE_ZONE_SPACED_COLON : FIRN_SQLITE_ZONE_COLON : spaced ? FIRN_SQLITE_ZONE_SPACED_DIGITS : FIRN_SQLITE_ZONE_DIGITS;
    } else if (spaced) {
        return false;
    }
    if (hours > 15 || minutes > 59 || minutes % 15 || (below && hours + minutes == 0)) return false;
    out->quarters = (hours * 4 + minutes / 15) * (below ? -1 : 1);
    return true;
}

/// Reads `2016-09-29`, then `T` or a space and `10:11:12`, with up to nine digits of a fraction, and a zone if there is one. A year has four digits, or
/// more that do not begin with 0, and can have a minus sign. Returns false for any other text.
static inline bool read_date(const uint8_t *at, int64_t count, firn_date *out) {
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
    if (at == end) return true;
    if (!read_zone(at, end, &out->zone)) return false;
    out->zone.follows_t = out->form == FIRN_SQLITE_DATE_T;
    out->form = FIRN_SQLITE_DATE_ZONED;
    out->seconds -= out->zone.quarters * 900;
    return true;
}

/// Whether a number has at most `precision` digits, `scale` of them after the point.
static inline bool is_decimal(double value, int precision, int scale) {
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    if (precision > 15 || scale > 15 || scale < 0) return false;
    double scaled = round(value * powers[scale]);
    return fabs(scaled) < powers[precision] && scaled / powers[scale] == value;
}

static inline bool is_exact(int64_t value) { return value >= -(INT64_C(1) << 53) && value <= INT64_C(1) << 53; }

static inline void test_number(firn_sqlite_facts *facts, double value) {
    if (facts->test == FIRN_SQLITE_TEST_DECIMAL) {
        if (!is_decimal(value, facts->precision, facts->scale)) facts->misfits++;
    } else if (facts->test == FIRN_SQLITE_TEST_FLOAT) {
        if ((double)(float)value != value) facts->misfits++;
    }
}

// MARK: Survey

static inline bool is_same_zone(const firn_zone *a, const firn_zone *b) {
    return a->kind == b->kind && a->quarters == b->quarters && a->follows_t == b->follows_t;
}

static inline void note_text(firn_sqlite_facts *facts, const firn_cell *cell) {
    facts->texts++;
    if (!is_utf8(cell->bytes, cell->count)) facts->malformed++;
    if (facts->test != FIRN_SQLITE_TEST_DATE || facts->misfits) return;
    firn_date date;
    if (!read_date(cell->bytes, cell->count, &date)) {
        facts->misfits++;
        return;
    }
    if (date.form == FIRN_SQLITE_DATE_ZONED) {
        if (facts->forms & 1u << FIRN_SQLITE_DATE_ZONED && !is_same_zone(&facts->zone, &date.zone)) {
            facts->misfits++;
            return;
        }
        facts->zone = date.zone;
    }
    facts->forms |= 1u << date.form;
    facts->digits |= 1u << date.digits;
    if (date.ends_in_zero) facts->has_zero_fraction = true;
}

static inline void note_cell(firn_sqlite_facts *facts, const firn_cell *cell) {
    switch (cell->type) {
    case SQLITE_INTEGER:
        if (!facts->integers || cell->integer < facts->minimum) facts->minimum = cell->integer;
        if (!facts->integers || cell->integer > facts->maximum) facts->maximum = cell->integer;
        facts->integers++;
        if (!is_exact(cell->integer)) facts->inexact++;
        if (facts->test) test_number(facts, (double)cell->integer);
        break;
    case SQLITE_FLOAT:
        facts->reals++;
        if (facts->test) test_number(facts, cell->real);
        break;
    case SQLITE_TEXT: note_text(facts, cell); break;
    case SQLITE_BLOB: facts->blobs++; break;
    default: facts->nulls++;
    }
}

// MARK: Rows

/// Empties the columns of a batch, and allocates their arrays on the first use. Returns false if there is no memory.
bool firn_sqlite_begin(firn_sqlite_batch *batch);

static inline bool append_bytes(firn_sqlite_column *column, const void *bytes, int64_t count) {
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

static inline void append_null(firn_sqlite_column *column, int64_t row) {
    column->nulls++;
    if (column->words) column->words[row] = 0;
    if (column->extra) column->extra[row] = 0;
    if (column->reals) column->reals[row] = 0;
    if (column->tags) column->tags[row] = FIRN_SQLITE_TAG_NULL;
    if (column->offsets) column->offsets[row + 1] = column->byte_count;
}

/// Appends the bytes of a text or blob.
static inline int append_text(firn_sqlite_column *column, int64_t row, const firn_cell *cell, int64_t room) {
    if (cell->count > room) return FIRN_SQLITE_BEYOND_LIMIT;
    if (!append_bytes(column, cell->bytes, cell->count)) return SQLITE_NOMEM;
    column->offsets[row + 1] = column->byte_count;
    return SQLITE_OK;
}

static inline int append_any(firn_sqlite_column *column, int64_t row, const firn_cell *cell, int64_t room) {
    column->words[row] = column->extra[row] = 0;
    column->reals[row] = 0;
    column->offsets[row + 1] = column->byte_count;
    switch (cell->type) {
    case SQLITE_INTEGER:
        column->tags[row] = FIRN_SQLITE_TAG_INT;
        column->words[row] = cell->integer;
        return SQLITE_OK;
    case SQLITE_FLOAT:
        column->tags[row] = FIRN_SQLITE_TAG_REAL;
        column->reals[row] = cell->real;
        return SQLITE_OK;
    case SQLITE_TEXT:
        column->tags[row] = is_utf8(cell->bytes, cell->count) ? FIRN_SQLITE_TAG_TEXT : FIRN_SQLITE_TAG_BLOB;
        return append_text(column, row, cell, room);
    default: column->tags[row] = FIRN_SQLITE_TAG_BLOB; return append_text(column, row, cell, room);
    }
}

/// `room`: how many bytes of text the batch may still get.
static inline int append_cell(firn_sqlite_column *column, int64_t row, const firn_cell *cell, int64_t room) {
    if (cell->type == SQLITE_NULL) {
        append_null(column, row);
        return SQLITE_OK;
    }
    column->present[row >> 6] |= UINT64_C(1) << (row & 63);
    switch (column->form) {
    case FIRN_SQLITE_INT:
        if (cell->type != SQLITE_INTEGER) return FIRN_SQLITE_MISFIT;
        column->words[row] = cell->integer;
        return SQLITE_OK;
    case FIRN_SQLITE_REAL:
        if (cell->type != SQLITE_FLOAT && cell->type != SQLITE_INTEGER) return FIRN_SQLITE_MISFIT;
        column->reals[row] = cell->type == SQLITE_FLOAT ? cell->real : (double)cell->integer;
        return SQLITE_OK;
    case FIRN_SQLITE_TEXT:
        if (cell->type != SQLITE_TEXT || !is_utf8(cell->bytes, cell->count)) return FIRN_SQLITE_MISFIT;
        return append_text(column, row, cell, room);
    case FIRN_SQLITE_BLOB: return cell->type == SQLITE_BLOB ? append_text(column, row, cell, room) : FIRN_SQLITE_MISFIT;
    case FIRN_SQLITE_DATE: {
        firn_date date;
        if (cell->type != SQLITE_TEXT || !read_date(cell->bytes, cell->count, &date)) return FIRN_SQLITE_MISFIT;
        column->words[row] = date.seconds;
        column->extra[row] = date.nanoseconds;
        return SQLITE_OK;
    }
    default: return append_any(column, row, cell, room);
    }
}
#endif
