#include "CDecimal.h"
#include <string.h>
#include <stdio.h>

/* The Intel library's entry points that are used here, declared by hand: its own header needs
   configuration macros that must match how the archive was built (values by value, flags and
   rounding mode as arguments: the "000" archive). */
typedef struct __attribute__((aligned(16))) { unsigned long long w[2]; } BID_UINT128;
extern BID_UINT128 __bid128_from_string(char *, unsigned int, unsigned int *);
extern void __bid128_to_string(char *, BID_UINT128, unsigned int *);
extern int __bid128_quiet_less(BID_UINT128, BID_UINT128, unsigned int *);
extern int __bid128_quiet_equal(BID_UINT128, BID_UINT128, unsigned int *);
extern int __bid128_quiet_greater(BID_UINT128, BID_UINT128, unsigned int *);
extern BID_UINT128 __bid128_from_int64(long long);
extern BID_UINT128 __binary64_to_bid128(double, unsigned int, unsigned int *);
extern double __bid128_to_binary64(BID_UINT128, unsigned int, unsigned int *);
extern BID_UINT128 __bid128_add(BID_UINT128, BID_UINT128, unsigned int, unsigned int *);
extern BID_UINT128 __bid128_sub(BID_UINT128, BID_UINT128, unsigned int, unsigned int *);
extern BID_UINT128 __bid128_mul(BID_UINT128, BID_UINT128, unsigned int, unsigned int *);
extern BID_UINT128 __bid128_div(BID_UINT128, BID_UINT128, unsigned int, unsigned int *);
extern int __bid128_isNaN(BID_UINT128);
extern int __bid128_isInf(BID_UINT128);

static BID_UINT128 in(firn_decimal v) { BID_UINT128 r = {{v.low, v.high}}; return r; }
static firn_decimal out(BID_UINT128 v) { firn_decimal r = {v.w[0], v.w[1]}; return r; }

firn_decimal firn_decimal_from_text(const char *text, int *inexact) {
    unsigned int flags = 0;
    BID_UINT128 v = __bid128_from_string((char *)text, 0, &flags);
    *inexact = flags != 0;
    return out(v);
}

int firn_decimal_to_text(firn_decimal value, char *text) {
    /* The library always writes the form +123E-2: a plus sign is removed and the decimal point is inserted. */
    char raw[FIRN_DECIMAL_TEXT_MAX];
    unsigned int flags = 0;
    __bid128_to_string(raw, in(value), &flags);
    char *p = raw, *o = text;
    if (*p == '+') p++; else if (*p == '-') *o++ = *p++;
    char *e = strchr(p, 'E');
    if (!e) { strcpy(o, p); return (int)strlen(text); }
    int digits = (int)(e - p), exponent = 0;
    sscanf(e + 1, "%d", &exponent);
    int adjusted = exponent + digits - 1;
    if (exponent <= 0 && adjusted >= -6) {
        if (exponent == 0) { memcpy(o, p, digits); o += digits; }
        else if (digits + exponent > 0) {
            int whole = digits + exponent;
            memcpy(o, p, whole); o += whole; *o++ = '.';
            memcpy(o, p + whole, digits - whole); o += digits - whole;
        } else {
            *o++ = '0'; *o++ = '.';
            for (int i = digits + exponent; i < 0; i++) *o++ = '0';
            memcpy(o, p, digits); o += digits;
        }
        *o = 0;
    } else {
        *o++ = p[0];
        if (digits > 1) { *o++ = '.'; memcpy(o, p + 1, digits - 1); o += digits - 1; }
        o += sprintf(o, "E%+d", adjusted);
    }
    return (int)(o - text);
}

int firn_decimal_compare(firn_decimal a, firn_decimal b) {
    unsigned int flags = 0;
    if (__bid128_quiet_less(in(a), in(b), &flags)) return -1;
    if (__bid128_quiet_equal(in(a), in(b), &flags)) return 0;
    if (__bid128_quiet_greater(in(a), in(b), &flags)) return 1;
    return 2;
}

firn_decimal firn_decimal_from_int64(int64_t value) { return out(__bid128_from_int64(value)); }
firn_decimal firn_decimal_from_double(double value) { unsigned int f = 0; return out(__binary64_to_bid128(value, 0, &f)); }
firn_decimal firn_decimal_at_most_double(double value, int *inexact) {
    unsigned int f = 0;
    BID_UINT128 v = __binary64_to_bid128(value, 1, &f);   // towards -infinity
    *inexact = (f & 0x20) != 0;
    return out(v);
}
double firn_decimal_to_double(firn_decimal value) { unsigned int f = 0; return __bid128_to_binary64(in(value), 0, &f); }
firn_decimal firn_decimal_add(firn_decimal a, firn_decimal b) { unsigned int f = 0; return out(__bid128_add(in(a), in(b), 0, &f)); }
firn_decimal firn_decimal_subtract(firn_decimal a, firn_decimal b) { unsigned int f = 0; return out(__bid128_sub(in(a), in(b), 0, &f)); }
firn_decimal firn_decimal_multiply(firn_decimal a, firn_decimal b) { unsigned int f = 0; return out(__bid128_mul(in(a), in(b), 0, &f)); }
firn_decimal firn_decimal_divide(firn_decimal a, firn_decimal b) { unsigned int f = 0; return out(__bid128_div(in(a), in(b), 0, &f)); }
int firn_decimal_is_nan(firn_decimal value) { return __bid128_isNaN(in(value)); }
int firn_decimal_is_infinite(firn_decimal value) { return __bid128_isInf(in(value)); }
