#ifndef FIRN_CDECIMAL_H
#define FIRN_CDECIMAL_H
#include <stdint.h>

/// IEEE 754-2008 decimal128 in the binary-integer (BID) encoding, which Realm also stores.
typedef struct { uint64_t low, high; } firn_decimal;

/// The maximum length of the text that firn_decimal_to_text writes, including its NUL.
enum { FIRN_DECIMAL_TEXT_MAX = 64 };

/// Reads decimal text. *inexact becomes 1 if digits were lost or the text is not a number.
firn_decimal firn_decimal_from_text(const char *text, int *inexact);
/// Writes plain or scientific text with the scale of the value. Returns the length.
int firn_decimal_to_text(firn_decimal value, char *text);
/// Returns -1, 0 or 1; 2 if either is NaN.
int firn_decimal_compare(firn_decimal a, firn_decimal b);
firn_decimal firn_decimal_from_int64(int64_t value);
firn_decimal firn_decimal_from_double(double value);
/// Returns the largest decimal that is not greater than the double. *inexact becomes 1 if it is smaller.
firn_decimal firn_decimal_at_most_double(double value, int *inexact);
double firn_decimal_to_double(firn_decimal value);
firn_decimal firn_decimal_add(firn_decimal a, firn_decimal b);
firn_decimal firn_decimal_subtract(firn_decimal a, firn_decimal b);
firn_decimal firn_decimal_multiply(firn_decimal a, firn_decimal b);
firn_decimal firn_decimal_divide(firn_decimal a, firn_decimal b);
int firn_decimal_is_nan(firn_decimal value);
int firn_decimal_is_infinite(firn_decimal value);
#endif
