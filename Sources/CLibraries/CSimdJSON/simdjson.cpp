// Long because all of it works on one tape: splitting the file would make the tape's layout public.
// Without NDEBUG, simdjson checks its own invariants at every step, which costs a fifth.
#ifndef NDEBUG
#define NDEBUG
#endif
#include "CSimdJSON.h"
#include "fault.hpp"
#include "number.hpp"
#include <simdjson.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// How it works: the text of a block is in the parser's buffer after one spare byte. A `[` is written before it, a `]` after it, and the newline before each
// line with a value becomes a comma. So a block is one array, which simdjson's on-demand parser visits once. The positions of the elements show whether each
// line has exactly one value: element i must be in line i, and there must be as many elements as lines.
// Only if a block is rejected are its lines parsed one by one, to determine the line and the byte; or, if rejected lines are set aside, to copy them and
// replace them by blanks, so that the rest can be parsed.

#define TEXT_OF(x) #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)
#define SIMDJSON_VERSION_TEXT TEXT_OF_VALUE(SIMDJSON_VERSION)

extern "C" const char *firn_simdjson_version(void) { return SIMDJSON_VERSION_TEXT; }

using namespace simdjson;

namespace {

constexpr int deepest = FIRN_JSON_MAX_DEPTH;
const char *const too_deep = "values nest deeper than 512 levels";

struct Line { size_t start, number; };

/// A line that was set aside: its text without the newline, and the fault with its byte offset.
struct Refused { size_t number, offset; std::string message, text; };

const char *words_of(error_code error) {
    switch (error) {
    case UTF8_ERROR: return "not valid UTF-8";
    case UNCLOSED_STRING: return "a string is not closed, or holds a control character";
    case UNESCAPED_CHARS: return "a control character inside a string must be escaped";
    case STRING_ERROR: return "a string contains an invalid escape";
    case NUMBER_ERROR: return "not a valid JSON number";
    case INCOMPLETE_ARRAY_OR_OBJECT: return "an array or object is not closed, or closed by the wrong bracket";
    case DEPTH_ERROR: return too_deep;
    case EMPTY: return "no value here";
    case T_ATOM_ERROR: case F_ATOM_ERROR: case N_ATOM_ERROR: case INCORRECT_TYPE: return "expected a value";
    default: return "not valid JSON here";
    }
}

/// Returns the byte offset of the first malformed UTF-8 sequence.
size_t utf8_fault(const char *text, size_t count) {
    size_t low = 0, step = 4096;
    while (low < count) {
        size_t end = std::min(count, low + step);
        while (end < count && (text[end] & 0xC0) == 0x80 && end - low < step + 4) end++;
        if (!simdjson::validate_utf8(text + low, end - low)) break;
        low = end;
    }
    size_t i = low;
    while (i < count) {
        unsigned char c = (unsigned char)text[i];
        size_t length = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
        if (i + length > count || !simdjson::validate_utf8(text + i, length)) return i;
        i += length;
    }
    return low;
}

/// Returns the byte offset of the first control character in a string, or of a quote that is not closed; `otherwise` if there is neither.
size_t string_fault(const char *text, size_t count, size_t otherwise) {
    size_t open = count;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        if (open == count) {
            if (c == '"') open = i;
        } else if (c == '\\') {
            i++;
        } else if (c == '"') {
            open = count;
        } else if (c < 0x20) {
            return i;
        }
    }
    return open == count ? otherwise : open;
}

/// Returns whether an error concerns the structure of a text, so that `fault_in` finds what was expected.
bool is_structural(error_code error) {
    switch (error) {
    case UTF8_ERROR: case UNCLOSED_STRING: case UNESCAPED_CHARS: case STRING_ERROR: case NUMBER_ERROR: case DEPTH_ERROR: case MEMALLOC: case CAPACITY: return false;
    default: return true;
    }
}

/// Returns the byte offset of an error. The first stage of the parser reports no position, so it is determined here.
size_t place_of(error_code error, size_t known, const char *text, size_t count) {
    switch (error) {
    case UTF8_ERROR: return utf8_fault(text, count);
    case UNCLOSED_STRING: case UNESCAPED_CHARS: return string_fault(text, count, known);
    default: return known;
    }
}

}

/// Items in memory that grows. Unlike a vector, an append is one comparison and one store.
class Items {
    firn_json_item *first = nullptr, *next = nullptr, *end = nullptr;

    void grow() {
        size_t count = size(), capacity = std::max<size_t>(1024, 2 * count);
        auto larger = static_cast<firn_json_item *>(std::realloc(first, capacity * sizeof(firn_json_item)));
        if (!larger) throw std::bad_alloc();
        first = larger;
        next = larger + count;
        end = larger + capacity;
    }

public:
    Items() = default;
    Items(const Items &) = delete;
    Items &operator=(const Items &) = delete;
    ~Items() { std::free(first); }

    size_t size() const { return size_t(next - first); }
    const firn_json_item *data() const { return first; }
    firn_json_item &operator[](size_t index) { return first[index]; }
    void clear() { next = first; }
    void release() {
        std::free(first);
        first = next = end = nullptr;
    }

    void push(uint32_t head, uint32_t size, uint64_t word) {
        if (next == end) grow();
        *next++ = {head, size, word};
    }
};

struct firn_json_parser {
    ondemand::parser parser;
    char *buffer = nullptr;  // one spare byte, text, padding
    size_t capacity = 0;
    Items items;
    std::vector<firn_json_spelling> spellings;
    std::vector<Line> lines;
    std::vector<Refused> refused;
    size_t text_count = 0;
    size_t item_limit = SIZE_MAX;
    const char *text_end = nullptr;  // the end of the text that is being parsed
    std::deque<std::string> keys;
    std::vector<uint8_t> plain;      // for each key: whether equal raw text means an equal key
    std::vector<uint32_t> following;  // for each key: the key that followed it last
    std::unordered_map<std::string_view, uint32_t> numbers;
    uint32_t previous = 0;
    const char *last = nullptr;
    const char *message = nullptr;
    const char *deep = nullptr;
    std::string digits, shortest;

    firn_json_parser() { forget(); }
    ~firn_json_parser() { std::free(buffer); }

    void forget() {
        numbers.clear();
        keys.clear();
        plain.clear();
        following.clear();
        previous = 0;
        number_of("");  // so that `previous` is always the number of a key
    }

    uint32_t number_of(std::string_view key) {
        auto found = numbers.find(key);
        if (found != numbers.end()) return found->second;
        uint32_t number = uint32_t(keys.size());
        keys.emplace_back(key);
        plain.push_back(key.find('\\') == std::string_view::npos && key.find('"') == std::string_view::npos);
        following.push_back(0);
        numbers.emplace(std::string_view(keys.back()), number);
        return number;
    }

    error_code key_of(ondemand::field &field, uint32_t &number) {
        const char *raw = reinterpret_cast<const char *>(field.key().raw());
        uint32_t guess = following[previous];
        const std::string &expected = keys[guess];
        if (plain[guess] && expected.size() < size_t(text_end - raw) && std::memcmp(raw, expected.data(), expected.size()) == 0 &&
            raw[expected.size()] == '"') {
            previous = guess;
            number = guess;
            return SUCCESS;
        }
        std::string_view text;
        if (auto error = field.unescaped_key().get(text)) return error;
        number = number_of(text);
        if (number >= FIRN_JSON_NO_KEY) { message = "more than 268 million different keys"; return CAPACITY; }
        following[previous] = number;
        previous = number;
        return SUCCESS;
    }

    static uint32_t head(uint32_t tag, uint32_t key) { return tag << 28 | key; }

    error_code number(ondemand::value &value, uint32_t key) {
        const char *text = value.raw_json_token().data();
        Number n = shape_of(text);
        if (!n.valid) { last = text; return NUMBER_ERROR; }
        if (n.whole) {
            int64_t integer;
            if (n.negative && n.zero) {
                double zero;
                if (auto error = value.get_double().get(zero)) return error;
                spellings.push_back({uint64_t(uintptr_t(text)), uint32_t(items.size()), uint32_t(n.length)});
                push_double(key, -0.0, FIRN_JSON_UNUSUAL);
                return SUCCESS;
            }
            auto error = value.get_int64().get(integer);
            if (!error) {
                items.push(head(FIRN_JSON_INT, key), 0, uint64_t(integer));
                return SUCCESS;
            }
            if (n.length < 19) return error;
        } else {
            double real;
            auto error = value.get_double().get(real);
            if (!error && is_exact(real, text, n)) {
                uint32_t size = uint32_t(std::min(n.fraction, 255)) | (n.exponent ? FIRN_JSON_EXPONENT : 0) | (n.point_zero ? FIRN_JSON_POINT_ZERO : 0);
                if (is_unusual(real, text, n)) {
                    size |= FIRN_JSON_UNUSUAL;
                    spellings.push_back({uint64_t(uintptr_t(text)), uint32_t(items.size()), uint32_t(n.length)});
                }
                push_double(key, real, size);
                return SUCCESS;
            }
        }
        // The next byte must end the number. simdjson has not checked this if it could not store the value.
        char next = text[n.length];
        if (!(next == ',' || next == ']' || next == '}' || next == ' ' || next == '\t' || next == '\r' || next == '\n')) return NUMBER_ERROR;
        items.push(head(FIRN_JSON_NUMBER_TEXT, key), uint32_t(n.length), uint64_t(uintptr_t(text)));
        return SUCCESS;
    }

    void push_double(uint32_t key, double real, uint32_t size) {
        uint64_t bits;
        std::memcpy(&bits, &real, 8);
        items.push(head(FIRN_JSON_DOUBLE, key), size, bits);
    }

    /// Returns whether the text may differ from the shortest text of `real`, or notations differ in the texts of such numbers. A text that ends
    /// in ".0" and otherwise does not is usual.
    static bool is_unusual(double real, const char *text, const Number &n) {
        double size = real < 0 ? -real : real;
        if (n.exponent || size >= 9007199254740992.0 || (size < 1e-4 && !n.zero)) return true;
        return !n.point_zero && text[n.length - 1] == '0';
    }

    /// Returns whether the shortest text of `real` is the same number as `text`.
    bool is_exact(double real, const char *text, const Number &n) {
        double size = real < 0 ? -real : real;
        if (n.digits <= 15 && size >= 1e-290 && size <= 1e300) return true;
        if (n.zero) return true;
        if (size == 0 || !(size <= 1.7976931348623157e308)) return false;
        char short_text[64];
        auto end = std::to_chars(short_text, short_text + sizeof short_text, real, std::chars_format::scientific).ptr;
        *end = 0;
        long power, short_power;
        normalise(text, text + n.length, digits, power);
        normalise(short_text, end, shortest, short_power);
        return power == short_power && digits == shortest;
    }

    /// Appends a value. Strings and numbers, which most values are, need no call.
    inline error_code walk(ondemand::value &value, uint32_t key, int depth) {
        if (items.size() >= item_limit) { last = value.raw_json_token().data(); return MEMALLOC; }
        last = value.raw_json_token().data();
        if (*last == '"') {
            std::string_view text;
            if (auto error = value.get_string().get(text)) return error;
            items.push(head(FIRN_JSON_STRING, key), uint32_t(text.size()), uint64_t(uintptr_t(text.data())));
            return SUCCESS;
        }
        if (*last == '-' || is_digit(*last)) return number(value, key);
        return walk_other(value, key, depth);
    }

    error_code walk_other(ondemand::value &value, uint32_t key, int depth) {
        ondemand::json_type type;
        if (auto error = value.type().get(type)) return error;
        switch (type) {
        case ondemand::json_type::object: {
            if (depth > deepest) { last = value.raw_json_token().data(); message = too_deep; return DEPTH_ERROR; }
            if (depth == 128 && !deep) deep = value.raw_json_token().data();
            size_t place = items.size();
            items.push(head(FIRN_JSON_OBJECT, key), 0, 0);
            ondemand::object object;
            if (auto error = value.get_object().get(object)) return error;
            uint32_t members = 0;
            for (auto result : object) {
                ondemand::field field;
                if (auto error = std::move(result).get(field)) return error;
                uint32_t number;
                last = reinterpret_cast<const char *>(field.key().raw()) - 1;
                if (auto error = key_of(field, number)) return error;
                ondemand::value member = field.value();
                if (auto error = walk(member, number, depth + 1)) return error;
                members++;
            }
            items[place].size = members;
            items[place].word = items.size() - place - 1;
            return SUCCESS;
        }
        case ondemand::json_type::array: {
            if (depth > deepest) { last = value.raw_json_token().data(); message = too_deep; return DEPTH_ERROR; }
            if (depth == 128 && !deep) deep = value.raw_json_token().data();
            size_t place = items.size();
            items.push(head(FIRN_JSON_ARRAY, key), 0, 0);
            ondemand::array array;
            if (auto error = value.get_array().get(array)) return error;
            uint32_t elements = 0;
            for (auto result : array) {
                ondemand::value element;
                if (auto error = std::move(result).get(element)) return error;
                if (auto error = walk(element, FIRN_JSON_NO_KEY, depth + 1)) return error;
                elements++;
            }
            items[place].size = elements;
            items[place].word = items.size() - place - 1;
            return SUCCESS;
        }
        case ondemand::json_type::boolean: {
            bool truth;
            last = value.raw_json_token().data();
            if (auto error = value.get_bool().get(truth)) return error;
            items.push(head(truth ? FIRN_JSON_TRUE : FIRN_JSON_FALSE, key), 0, 0);
            return SUCCESS;
        }
        case ondemand::json_type::null: {
            last = value.raw_json_token().data();
            bool null;
            if (auto error = value.is_null().get(null)) return error;
            if (!null) return N_ATOM_ERROR;
            items.push(head(FIRN_JSON_NULL, key), 0, 0);
            return SUCCESS;
        }
        default:
            last = value.raw_json_token().data();
            return TAPE_ERROR;
        }
    }

    /// Parses `[` text `]` at `start`, `count` bytes including the brackets. With `by_line`, element i must begin in line i.
    error_code walk_array(char *start, size_t count, size_t &rows, bool by_line) {
        items.clear();
        spellings.clear();
        last = start + 1;
        text_end = start + count;
        message = nullptr;
        deep = nullptr;
        rows = 0;
        previous = 0;
        ondemand::document document;
        if (auto error = parser.iterate(start, count, count + SIMDJSON_PADDING).get(document)) return error;
        ondemand::array array;
        error_code error = document.get_array().get(array);
        if (!error) {
            for (auto result : array) {
                ondemand::value value;
                if ((error = std::move(result).get(value))) break;
                const char *place = value.raw_json_token().data();
                size_t offset = size_t(place - start) - 1;
                if (by_line && (rows >= lines.size() || offset < lines[rows].start || (rows + 1 < lines.size() && offset >= lines[rows + 1].start))) {
                    last = place;
                    return TAPE_ERROR;
                }
                if ((error = walk(value, FIRN_JSON_NO_KEY, 1))) break;
                rows++;
            }
        }
        if (error) {
            const char *place = nullptr;
            if (!document.current_location().get(place) && place > last && place < start + count) last = place;
            return error;
        }
        const char *place = nullptr;
        if (document.current_location().get(place) != OUT_OF_BOUNDS) {
            if (place > start && place < start + count) last = place;
            message = "something follows the end of the value";
            return TRAILING_CONTENT;
        }
        return SUCCESS;
    }

    std::string explained;

    /// Returns the explanation of an error in a text, and moves `offset` to its place. The result is valid until the next call.
    const char *explain(error_code error, size_t &offset, const char *text, size_t count) {
        // In the buffer of several lines, newlines were replaced.
        if (!message && is_structural(error) && (lines.empty() || text != buffer + 1)) {
            SyntaxFault fault = fault_in(text, count, deepest);
            if (fault.found) {
                offset = fault.offset;
                explained = std::move(fault.words);
                return explained.c_str();
            }
        }
        offset = place_of(error, offset, text, count);
        return message ? message : words_of(error);
    }

    void fail(firn_json_result *result, error_code error, size_t offset, char *start, size_t count) {
        result->error = error == MEMALLOC ? FIRN_JSON_NO_MEMORY : error == CAPACITY ? FIRN_JSON_TOO_LARGE : FIRN_JSON_BAD;
        result->message = explain(error, offset, start, count);
        result->error_offset = offset;
        result->items = nullptr;
        result->item_count = 0;
        result->row_count = 0;
    }

    void find_lines(size_t count) {
        lines.clear();
        char *text = buffer + 1;
        size_t number = 0, start = 0;
        while (start < count) {
            const char *end = static_cast<const char *>(std::memchr(text + start, '\n', count - start));
            size_t stop = end ? size_t(end - text) : count;
            size_t i = start;
            while (i < stop && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r')) i++;
            if (i < stop) lines.push_back({start, number});
            number++;
            start = stop + 1;
        }
        line_count = number;
        if (count > 0 && text[count - 1] != '\n') line_count = number - 1;
    }
    size_t line_count = 0;

    /// Returns the end of the line of a row: the position of its newline, or of the comma that replaced it.
    size_t line_end(size_t row) const {
        const char *text = buffer + 1;
        size_t start = lines[row].start, stop = row + 1 < lines.size() ? lines[row + 1].start - 1 : text_count;
        const void *end = std::memchr(text + start, '\n', stop - start);
        return end ? size_t(static_cast<const char *>(end) - text) : stop;
    }

    /// Parses a copy of one line separately. `offset` is the offset of the fault in the line.
    error_code check_line(size_t row, std::string &copy, size_t &offset) {
        size_t start = lines[row].start, length = line_end(row) - start;
        copy.assign(length + 2 + SIMDJSON_PADDING, ' ');
        copy[0] = '[';
        std::memcpy(copy.data() + 1, buffer + 1 + start, length);
        copy[length + 1] = ']';
        size_t values = 0;
        error_code error = walk_array(copy.data(), length + 2, values, false);
        offset = std::min(size_t(last - copy.data() - 1), length);
        if (!error && values != 1) {
            error = TAPE_ERROR;
            message = values == 0 ? "no value here" : "something follows the end of the value: each line must hold one value";
        }
        return error;
    }

    /// Copies the rejected lines and replaces them by blanks.
    error_code set_aside(size_t count) {
        char *text = buffer + 1;
        std::string copy;
        for (size_t i = 0; i < lines.size(); i++) {
            size_t offset = 0;
            error_code error = check_line(i, copy, offset);
            if (error == MEMALLOC) return error;
            if (!error) continue;
            size_t start = lines[i].start, length = line_end(i) - start;
            // The byte after the copied line is a bracket, which is not part of a number.
            const char *words = explain(error, offset, copy.data() + 1, length);
            refused.push_back({lines[i].number, offset, words, std::string(text + start, length)});
            std::memset(text + start, ' ', length);
        }
        for (size_t i = 1; i < lines.size(); i++) text[lines[i].start - 1] = '\n';
        find_lines(count);
        return SUCCESS;
    }
};

extern "C" {

firn_json_parser *firn_json_create(void) { return new (std::nothrow) firn_json_parser(); }
void firn_json_destroy(firn_json_parser *parser) { delete parser; }

uint8_t *firn_json_buffer(firn_json_parser *p, size_t capacity, size_t keep) {
    if (capacity > p->capacity || !p->buffer) {
        char *fresh = static_cast<char *>(std::malloc(capacity + 2 + SIMDJSON_PADDING));
        if (!fresh) return nullptr;
        if (p->buffer && keep) std::memcpy(fresh + 1, p->buffer + 1, keep);
        std::free(p->buffer);
        p->buffer = fresh;
        p->capacity = capacity;
    }
    return reinterpret_cast<uint8_t *>(p->buffer + 1);
}

void firn_json_release(firn_json_parser *p) {
    std::free(p->buffer);
    p->buffer = nullptr;
    p->capacity = 0;
    p->text_count = 0;
    p->parser = ondemand::parser();
    p->items.release();
    std::vector<firn_json_spelling>().swap(p->spellings);
    std::vector<Line>().swap(p->lines);
    p->last = nullptr;
    p->deep = nullptr;
    p->text_end = nullptr;
}

static void close_text(firn_json_parser *p, size_t count) {
    p->buffer[0] = '[';
    p->buffer[count + 1] = ']';
    std::memset(p->buffer + count + 2, ' ', SIMDJSON_PADDING);
}

void firn_json_parse_document(firn_json_parser *p, size_t count, firn_json_result *result) {
    *result = firn_json_result{};
    p->lines.clear();
    if (count + 2 > 0xFFFFFFFFull) { p->message = "documents larger than 4 GB are not read"; return p->fail(result, CAPACITY, 0, p->buffer + 1, count); }
    close_text(p, count);
    size_t rows = 0;
    error_code error;
    try { error = p->walk_array(p->buffer, count + 2, rows, false); } catch (std::bad_alloc &) { error = MEMALLOC; }
    size_t offset = p->last ? std::min(size_t(p->last - p->buffer - 1), count) : 0;
    if (error) return p->fail(result, error, offset, p->buffer + 1, count);
    if (rows != 1) {
        p->message = rows == 0 ? "no value here" : "something follows the end of the value";
        return p->fail(result, TAPE_ERROR, rows == 0 ? 0 : offset, p->buffer + 1, count);
    }
    result->items = p->items.data();
    result->item_count = p->items.size();
    result->row_count = 1;
    result->deep_offset = p->deep ? size_t(p->deep - p->buffer - 1) : SIZE_MAX;
}

void firn_json_parse_lines(firn_json_parser *p, size_t count, int sets_aside, firn_json_result *result) {
    *result = firn_json_result{};
    p->refused.clear();
    p->message = nullptr;
    if (count + 2 > 0xFFFFFFFFull) { p->message = "lines larger than 4 GB are not read"; return p->fail(result, CAPACITY, 0, p->buffer + 1, count); }
    char *text = p->buffer + 1;
    p->text_count = count;
    error_code error;
    size_t rows = 0;
    try {
        p->find_lines(count);
        result->line_count = p->line_count;
        for (bool again = sets_aside != 0;; again = false) {
            for (size_t i = 1; i < p->lines.size(); i++) text[p->lines[i].start - 1] = ',';
            close_text(p, count);
            error = p->walk_array(p->buffer, count + 2, rows, true);
            if (!error && rows != p->lines.size()) error = TAPE_ERROR;
            if (!error) {
                result->items = p->items.data();
                result->item_count = p->items.size();
                result->row_count = rows;
                result->deep_offset = p->deep ? size_t(p->deep - text) : SIZE_MAX;
                return;
            }
            if (!again) break;
            if ((error = p->set_aside(count))) return p->fail(result, error, 0, text, count);
        }
        // The block is rejected: parse line by line to find the line, in copies, because newlines were replaced by commas in the text.
        std::string copy;
        for (size_t i = 0; i < p->lines.size(); i++) {
            size_t offset = 0;
            if (error_code line_error = p->check_line(i, copy, offset)) {
                size_t start = p->lines[i].start;
                p->fail(result, line_error, offset, copy.data() + 1, p->line_end(i) - start);
                result->error_offset += start;
                return;
            }
        }
    } catch (std::bad_alloc &) { error = MEMALLOC; }
    p->fail(result, error, 0, text, count);
}

const uint8_t *firn_json_spelling_of(const firn_json_parser *p, size_t item, size_t *length) {
    auto found = std::lower_bound(p->spellings.begin(), p->spellings.end(), item, [](const firn_json_spelling &a, size_t b) { return a.item < b; });
    if (found == p->spellings.end() || found->item != item) { *length = 0; return nullptr; }
    *length = found->length;
    return reinterpret_cast<const uint8_t *>(uintptr_t(found->address));
}
size_t firn_json_spelling_count(const firn_json_parser *p) { return p->spellings.size(); }

void firn_json_limit_items(firn_json_parser *p, size_t limit) { p->item_limit = limit; }

size_t firn_json_find_depth(firn_json_nesting *nesting, const uint8_t *text, size_t count) {
    size_t i = 0;
    while (i < count) {
        if (nesting->in_string) {
            if (nesting->escaped) { nesting->escaped = 0; i++; continue; }
            while (i < count && text[i] != '"' && text[i] != '\\') i++;
            if (i == count) break;
            if (text[i] == '"') nesting->in_string = 0; else nesting->escaped = 1;
            i++;
            continue;
        }
        uint8_t byte = text[i];
        if (byte == '"') nesting->in_string = 1;
        else if ((byte | 0x20) == '{') { if (++nesting->depth > deepest) return i; }
        else if ((byte | 0x20) == '}') { if (nesting->depth) nesting->depth--; }
        i++;
    }
    return SIZE_MAX;
}

size_t firn_json_refused_count(const firn_json_parser *p) { return p->refused.size(); }

const uint8_t *firn_json_refused(const firn_json_parser *p, size_t index, size_t *length, size_t *line, size_t *offset, const char **message) {
    const Refused &refused = p->refused[index];
    *length = refused.text.size();
    *line = refused.number;
    *offset = refused.offset;
    *message = refused.message.c_str();
    return reinterpret_cast<const uint8_t *>(refused.text.data());
}

const uint8_t *firn_json_row_text(const firn_json_parser *p, size_t row, size_t *length) {
    if (row >= p->lines.size()) { *length = 0; return nullptr; }
    *length = p->line_end(row) - p->lines[row].start;
    return reinterpret_cast<const uint8_t *>(p->buffer + 1 + p->lines[row].start);
}

const uint8_t *firn_json_key(const firn_json_parser *p, uint32_t key, size_t *length) {
    if (key >= p->keys.size()) { *length = 0; return nullptr; }
    *length = p->keys[key].size();
    return reinterpret_cast<const uint8_t *>(p->keys[key].data());
}
size_t firn_json_key_count(const firn_json_parser *p) { return p->keys.size(); }
void firn_json_forget_keys(firn_json_parser *p) { p->forget(); }

size_t firn_json_row_line(const firn_json_parser *p, size_t row) { return row < p->lines.size() ? p->lines[row].number : 0; }
size_t firn_json_offset(const firn_json_parser *p, uint64_t address) { return size_t(address - uint64_t(uintptr_t(p->buffer + 1))); }

void firn_json_location(const firn_json_parser *p, size_t offset, size_t *line, size_t *column) {
    const char *text = p->buffer + 1;
    if (!p->lines.empty()) {  // the newlines were replaced in the text, so the table of lines is used
        size_t low = 0, high = p->lines.size();
        while (high - low > 1) { size_t middle = (low + high) / 2; if (p->lines[middle].start <= offset) low = middle; else high = middle; }
        *line = p->lines[low].number;
        *column = offset - p->lines[low].start;
        return;
    }
    size_t l = 0, start = 0;
    for (size_t i = 0; i < offset; i++) if (text[i] == '\n') { l++; start = i + 1; }
    *line = l;
    *column = offset - start;
}

}
