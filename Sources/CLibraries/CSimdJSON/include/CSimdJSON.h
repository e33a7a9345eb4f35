#ifndef FIRN_CSIMDJSON_H
#define FIRN_CSIMDJSON_H
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/// Returns the version of the compiled simdjson library as text.
const char *firn_simdjson_version(void);

/// The tags of items.
enum {
    FIRN_JSON_NULL = 0,
    FIRN_JSON_FALSE = 1,
    FIRN_JSON_TRUE = 2,
    /// word = the integer.
    FIRN_JSON_INT = 3,
    /// word = bits of the double, which has exactly the value of the text (its shortest text is the same number);
    /// size = digits after the point | FIRN_JSON_EXPONENT | FIRN_JSON_POINT_ZERO | FIRN_JSON_UNUSUAL.
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
    /// The text may differ from the shortest text of the double, apart from ".0" at its end: see firn_json_spelling_of.
    FIRN_JSON_UNUSUAL = 0x400,
};

/// One value. A document is a flat sequence of items in the order of its text.
typedef struct {
    /// Low 28 bits: the key of a member of an object (see firn_json_key), otherwise FIRN_JSON_NO_KEY. High 4 bits: the tag.
    uint32_t head;
    uint32_t size;
    uint64_t word;
} firn_json_item;
#define FIRN_JSON_NO_KEY 0x0FFFFFFFu

/// The text of a number with FIRN_JSON_UNUSUAL.
typedef struct {
    uint64_t address;
    uint32_t item, length;
} firn_json_spelling;

/// Why a text was rejected; 0 if it was not.
enum {
    FIRN_JSON_OK = 0,
    /// The text is not JSON; `message` explains it.
    FIRN_JSON_BAD = 1,
    /// There is not enough memory, or the text is larger than 4 GB.
    FIRN_JSON_TOO_LARGE = 2,
    /// The values need more items than the limit (see firn_json_limit_items), or there is not enough memory.
    FIRN_JSON_NO_MEMORY = 3,
};
/// The maximum nesting depth of arrays and objects. Deeper texts are rejected.
#define FIRN_JSON_MAX_DEPTH 512

typedef struct {
    const firn_json_item *items;
    size_t item_count;
    /// The number of top-level values (1 for a document).
    size_t row_count;
    /// The number of newlines in the text.
    size_t line_count;
    int error;
    /// The byte offset of the fault in the text.
    size_t error_offset;
    /// A text that is never freed.
    const char *message;
    /// The byte offset of the first array or object at level 128 (SIZE_MAX if there is none).
    size_t deep_offset;
} firn_json_result;

typedef struct firn_json_parser firn_json_parser;

firn_json_parser *firn_json_create(void);
void firn_json_destroy(firn_json_parser *parser);

/// Frees the text and the result of the last parse. Keys stay valid.
void firn_json_release(firn_json_parser *parser);

/// Returns a buffer for at least `capacity` bytes of text, owned by the parser; its first `keep` bytes are kept. Returns NULL without memory.
/// Addresses in earlier results are invalid afterwards.
uint8_t *firn_json_buffer(firn_json_parser *parser, size_t capacity, size_t keep);

/// Parses `count` bytes at the start of the buffer as lines, each with one value or none. The text is changed (line ends become commas). Everything that the
/// result refers to lasts until the next call on this parser. With `sets_aside`, rejected lines are replaced by blanks and listed (see firn_json_refused)
/// instead of causing an error.
void firn_json_parse_lines(firn_json_parser *parser, size_t count, int sets_aside, firn_json_result *result);

/// Sets the maximum number of items of a text. A text with more is an error before memory is allocated for them.
void firn_json_limit_items(firn_json_parser *parser, size_t limit);

/// The nesting state of a text that arrives in pieces. Initialized with zeros.
typedef struct {
    size_t depth;
    int in_string;
    int escaped;
} firn_json_nesting;
/// Scans the next piece. Returns the byte offset in it of the first bracket that nests deeper than FIRN_JSON_MAX_DEPTH, or SIZE_MAX. Other errors in the JSON
/// are ignored.
size_t firn_json_find_depth(firn_json_nesting *nesting, const uint8_t *text, size_t count);

/// Returns the number of lines that the last parse rejected.
size_t firn_json_refused_count(const firn_json_parser *parser);
/// Returns the text of a rejected line without its newline, its line number (from 0), the byte offset of the fault in it, and a message that is never freed.
const uint8_t *firn_json_refused(const firn_json_parser *parser, size_t index, size_t *length, size_t *line, size_t *offset, const char **message);

/// Returns the line that contains a row of the lines parsed last, without its newline, or NULL if there is no such row.
const uint8_t *firn_json_row_text(const firn_json_parser *parser, size_t row, size_t *length);

/// Returns the text of a number of the last result that has FIRN_JSON_UNUSUAL, by the position of its item; NULL for other items.
const uint8_t *firn_json_spelling_of(const firn_json_parser *parser, size_t item, size_t *length);
/// Returns the number of these numbers.
size_t firn_json_spelling_count(const firn_json_parser *parser);

/// Parses the text as one document.
void firn_json_parse_document(firn_json_parser *parser, size_t count, firn_json_result *result);

/// Returns the key with the given number. Numbers are valid until firn_json_forget_keys.
const uint8_t *firn_json_key(const firn_json_parser *parser, uint32_t key, size_t *length);
size_t firn_json_key_count(const firn_json_parser *parser);
void firn_json_forget_keys(firn_json_parser *parser);

/// Returns the line number (from 0, in the lines parsed last) of a row.
size_t firn_json_row_line(const firn_json_parser *parser, size_t row);
/// Returns the byte offset in the text of an address in the parser's buffer.
size_t firn_json_offset(const firn_json_parser *parser, uint64_t address);
/// Returns line and column, from 0, of a byte of the text parsed last.
void firn_json_location(const firn_json_parser *parser, size_t offset, size_t *line, size_t *column);

#ifdef __cplusplus
}
#endif
#endif
