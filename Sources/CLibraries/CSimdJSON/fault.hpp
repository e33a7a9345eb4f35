// The first fault of a text that is not JSON, with what the grammar expects there. simdjson reports neither for most faults. Used only after it has rejected
// the text, so speed does not matter.
#ifndef FIRN_JSON_FAULT_HPP
#define FIRN_JSON_FAULT_HPP
#include "number.hpp"
#include <cstring>

namespace {

struct SyntaxFault {
    /// False if the structure of the text is valid: then the fault is within a string or a number.
    bool found = false;
    size_t offset = 0;
    std::string words;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
inline bool ends_word(char c) { return is_blank(c) || c == ',' || c == ':' || c == ']' || c == '}' || c == '[' || c == '{' || c == '"'; }

/// Returns what is at an offset, as messages name it.
inline std::string token_at(const char *text, size_t count, size_t at) {
    if (at >= count) return "the end";
    unsigned char first = (unsigned char)text[at];
    if (first == '"') return "a string";
    if (first < 0x20 || first == 0x7F) return "a control character";
    size_t end = at + 1;
    if (!ends_word(text[at])) while (end < count && !ends_word(text[end]) && (unsigned char)text[end] >= 0x20 && text[end] != 0x7F) end++;
    bool is_cut = end - at > 24;
    if (is_cut) for (end = at + 24; end > at + 1 && ((unsigned char)text[end] & 0xC0) == 0x80;) end--;
    return "\"" + std::string(text + at, end - at) + (is_cut ? "…\"" : "\"");
}

/// Finds the first fault in the structure of a text that should be one value. The text must be followed by a byte that is not part of a number.
SyntaxFault fault_in(const char *text, size_t count, size_t deepest) {
    enum { value, first_element, first_key, key, colon, after } state = value;
    std::string open;  // the brackets that close the open arrays and objects
    size_t at = 0, end = 0;
    auto fault = [&](size_t place, const std::string &expected) {
        return SyntaxFault{true, place >= count ? end : place, "expected " + expected + ", found " + token_at(text, count, place)};
    };
    while (true) {
        while (at < count && is_blank(text[at])) at++;
        char c = at < count ? text[at] : 0;
        switch (state) {
        case first_key: case key:
            if (state == first_key && c == '}') break;
            if (c != '"') return fault(at, state == first_key ? "a key or \"}\"" : "a key");
            break;
        case colon:
            if (c != ':') return fault(at, "\":\" after the key");
            break;
        case after:
            if (open.empty()) return at < count ? fault(at, "the end") : SyntaxFault{};
            if (c != ',' && c != open.back()) return fault(at, std::string("\",\" or \"") + open.back() + "\"");
            break;
        case value: case first_element: break;
        }
        bool opens = state == value || state == first_element;
        if (!open.empty() && c == open.back() && state != value && state != key && state != colon) {
            open.pop_back();
            state = after;
            end = ++at;
        } else if (state == colon) {
            state = value;
            end = ++at;
        } else if (state == after) {
            state = open.back() == '}' ? key : value;
            end = ++at;
        } else if (opens && (c == '[' || c == '{') && at < count) {
            if (open.size() >= deepest) return {};
            open.push_back(c == '[' ? ']' : '}');
            state = c == '[' ? first_element : first_key;
            end = ++at;
        } else if (c == '"' && at < count) {
            size_t close = at + 1;
            while (close < count && text[close] != '"') close += text[close] == '\\' ? 2 : 1;
            if (close >= count) return {};
            at = end = close + 1;
            state = opens ? after : colon;
        } else if (opens && at < count && (c == '-' || is_digit(c))) {
            Number n = shape_of(text + at);
            if (!n.valid) return {};
            size_t next = at + n.length;
            if (next < count && !ends_word(text[next])) return {};
            at = end = next;
            state = after;
        } else {
            const char *literals[] = {"true", "false", "null"};
            size_t length = 0;
            for (const char *one : literals) if (at < count && count - at >= std::strlen(one) && !std::memcmp(text + at, one, std::strlen(one))) length = std::strlen(one);
            if (!length || (at + length < count && !ends_word(text[at + length]))) return fault(at, state == first_element ? "a value or \"]\"" : "a value");
            at = end = at + length;
            state = after;
        }
    }
}

}
#endif
