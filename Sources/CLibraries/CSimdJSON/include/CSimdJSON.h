#ifndef FIRN_CSIMDJSON_H
#define FIRN_CSIMDJSON_H
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/// Version of the simdjson library that was compiled in, as text.
const char *firn_simdjson_version(void);

/// What one item of a tape is.
enum {
    FIRN_JSON_NULL = 0,
    FIRN_JSON_FALSE = 1,
    FIRN_JSON_TRUE = 2,
    /// word = the number.
    FIRN_JSON_INT = 3,
    /// word = bits of the double, which has exactly the value of the text (its shortest text is the same number);
    /// size = digits after the point | FIRN_JSON_EXPONENT | FIRN_JSON_POINT_ZERO.
    FIRN_JSON_DOUBLE = 4,
    /// A number that neither int64 nor double holds exactly: word = address of its text, size = its length.
    FIRN_JSON_NUMBER_TEXT = 5,
    /// word = address of the unescaped bytes, size = their number.
    FIRN_JSON_STRING = 6,
    /// size = number of elements or members, word = number of items inside at all depths, which follow.
    FIRN_JSON_ARRAY = 7,
    FIRN_JSON_OBJECT = 8,
};
enum {
    /// The number was written with an exponent.
    FIRN_JSON_EXPONENT = 0x100,
    /// The number ended in exactly ".0".
    FIRN_JSON_POINT_ZERO = 0x200,
};

/// One value. A document is a flat run of items in the order of its text.
typedef struct {
    /// Low 28 bits: the key of a member of an object (see firn_json_key), FIRN_JSON_NO_KEY elsewhere. High 4 bits: the tag.
    uint32_t head;
    uint32_t size;
    uint64_t word;
} firn_json_item;
#define FIRN_JSON_NO_KEY 0x0FFFFFFFu

/// Why a text was refused; 0 is none.
enum {
    FIRN_JSON_OK = 0,
    /// Not JSON: `message` says how.
    FIRN_JSON_BAD = 1,
    /// No memory, or larger than 4 GB.
    FIRN_JSON_TOO_LARGE = 2,
    /// The values need more items than were allowed (see firn_json_limit_items), or there is no memory.
    FIRN_JSON_NO_MEMORY = 3,
};
/// Arrays and objects inside each other: deeper ones are refused.
#define FIRN_JSON_MAX_DEPTH 512

typedef struct {
    const firn_json_item *items;
    size_t item_count;
    /// Top-level values (1 for a document).
    size_t row_count;
    /// Newlines in the text.
    size_t line_count;
    int error;
    /// Byte of the fault in the text.
    size_t error_offset;
    /// Lasting text.
    const char *message;
    /// Byte of the first array or object at level 128 (SIZE_MAX: none).
    size_t deep_offset;
} firn_json_result;

typedef struct firn_json_parser firn_json_parser;

firn_json_parser *firn_json_create(void);
void firn_json_destroy(firn_json_parser *parser);

/// A buffer for at least `capacity` bytes of text, owned by the parser; what it held is kept up to `keep` bytes. NULL without memory.
/// Addresses in earlier results are invalid afterwards.
uint8_t *firn_json_buffer(firn_json_parser *parser, size_t capacity, size_t keep);

/// Parses `count` bytes at the start of the buffer as lines, each holding one value or nothing. The text is changed (line ends become commas).
/// Everything the result points to lasts until the next call on this parser. With `sets_aside`, lines that are refused become blank and are
/// listed (see firn_json_refused) instead of being an error.
void firn_json_parse_lines(firn_json_parser *parser, size_t count, int sets_aside, firn_json_result *result);

/// Items that a text may have; more are an error before there is memory for them.
void firn_json_limit_items(firn_json_parser *parser, size_t limit);

/// How deep a text nests that arrives in pieces. Begins with zeros.
typedef struct {
    size_t depth;
    int in_string;
    int escaped;
} firn_json_nesting;
/// Looks at the next piece: the byte in it of the first bracket that nests deeper than FIRN_JSON_MAX_DEPTH, SIZE_MAX if there is none. What is no
/// JSON in other ways is passed over.
size_t firn_json_find_depth(firn_json_nesting *nesting, const uint8_t *text, size_t count);

/// The lines set aside last, in order.
size_t firn_json_refused_count(const firn_json_parser *parser);
/// The text of one, without its newline; its line (from 0), the byte of the fault in it, and what is wrong (lasting text).
const uint8_t *firn_json_refused(const firn_json_parser *parser, size_t index, size_t *length, size_t *line, size_t *offset, const char **message);

/// The line that holds a row of the text parsed last as lines, without its newline; NULL if there is no such row.
const uint8_t *firn_json_row_text(const firn_json_parser *parser, size_t row, size_t *length);

/// The same for one document that fills the text.
void firn_json_parse_document(firn_json_parser *parser, size_t count, firn_json_result *result);

/// The key with the given number. Numbers last until firn_json_forget_keys.
const uint8_t *firn_json_key(const firn_json_parser *parser, uint32_t key, size_t *length);
size_t firn_json_key_count(const firn_json_parser *parser);
void firn_json_forget_keys(firn_json_parser *parser);

/// The line (from 0, in the text parsed last as lines) that holds the given row.
size_t firn_json_row_line(const firn_json_parser *parser, size_t row);
/// Byte in the text of an address inside the parser's buffer.
size_t firn_json_offset(const firn_json_parser *parser, uint64_t address);
/// Line and column, from 0, of a byte of the text parsed last.
void firn_json_place(const firn_json_parser *parser, size_t offset, size_t *line, size_t *column);

#ifdef __cplusplus
}
#endif
#endif
