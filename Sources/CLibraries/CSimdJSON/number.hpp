// The notation of a number, which a lossless import needs and simdjson does not report.
#ifndef FIRN_JSON_NUMBER_HPP
#define FIRN_JSON_NUMBER_HPP
#include <cstddef>
#include <cstdlib>
#include <string>

namespace {

struct Number {
    bool valid = false, whole = true, exponent = false, negative = false, zero = true, point_zero = false;
    int digits = 0;    // significant digits
    int fraction = 0;  // digits after the point
    size_t length = 0;
};

inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/// Returns the shape of a number according to JSON's grammar. The text must end in a byte that is not part of a number.
Number shape_of(const char *text) {
    Number n;
    const char *p = text;
    if (*p == '-') { n.negative = true; p++; }
    if (!is_digit(*p)) return n;
    int run_of_zeros = 0;
    auto count = [&](char c) {
        if (c != '0') { n.digits += n.zero ? 1 : run_of_zeros + 1; run_of_zeros = 0; n.zero = false; } else run_of_zeros++;
    };
    if (*p == '0') { p++; } else { while (is_digit(*p)) count(*p++); }
    if (*p == '.') {
        n.whole = false;
        p++;
        const char *fraction = p;
        while (is_digit(*p)) count(*p++);
        n.fraction = int(p - fraction);
        if (n.fraction == 0) return n;
        n.point_zero = n.fraction == 1 && *fraction == '0';
    }
    if (*p == 'e' || *p == 'E') {
        n.whole = false;
        n.exponent = true;
        n.point_zero = false;
        p++;
        if (*p == '+' || *p == '-') p++;
        if (!is_digit(*p)) return n;
        while (is_digit(*p)) p++;
    }
    n.length = size_t(p - text);
    n.valid = true;
    return n;
}

/// Returns the significant digits, and the power of ten of the first one.
void normalise(const char *p, const char *end, std::string &digits, long &power) {
    digits.clear();
    long point = 0, exponent = 0, leading = 0;
    bool after = false, started = false;
    if (p < end && *p == '-') p++;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') { after = true; continue; }
        if (*p != '0') started = true;
        if (started) { digits.push_back(*p); if (!after) point++; }
        else if (after) leading++;
    }
    if (p < end) exponent = std::strtol(p + 1, nullptr, 10);
    while (!digits.empty() && digits.back() == '0') digits.pop_back();
    power = exponent + point - leading;
}

}

#endif
