// What Firn needs of OpenSSL's libcrypto: AES-256-GCM with nonces of 192 bits, and HMAC-SHA-256. The library is loaded when the first of these is
// called: linked, it would cost every start of every program a millisecond, whether or not it ever meets an encrypted file.
#ifndef FIRN_CCRYPTO_H
#define FIRN_CCRYPTO_H

#include <stddef.h>
#include <stdint.h>

typedef struct firn_cipher firn_cipher;

/// 1 if the library is there and has what is needed. Everything below fails if it is not.
int firn_crypto_is_there(void);

/// XAES-256-GCM (C2SP) under one key of 32 bytes; NULL if there is no memory or no library. Used by one thread at a time.
firn_cipher *firn_cipher_new(const uint8_t *key);
void firn_cipher_free(firn_cipher *cipher);

/// 1 if done. `out` has `count` bytes, `tag` 16, `nonce` 24. At most 2^36 - 32 bytes.
int firn_cipher_seal(firn_cipher *cipher, const uint8_t *nonce, const uint8_t *bound, size_t bound_count, const uint8_t *bytes, size_t count, uint8_t *out, uint8_t *tag);

/// 1 if the tag is right, 0 if it is not, -1 if OpenSSL failed before; what stands in `out` unless it is 1 means nothing.
int firn_cipher_open(firn_cipher *cipher, const uint8_t *nonce, const uint8_t *bound, size_t bound_count, const uint8_t *bytes, size_t count, uint8_t *out, const uint8_t *tag);

/// 1 if done: 32 bytes.
int firn_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *out);

#endif
