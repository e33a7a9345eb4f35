// The part of OpenSSL's libcrypto that Firn uses: AES-256-GCM with nonces of 192 bits, and HMAC-SHA-256. The library is loaded by the first call: linking
// it would cost every start of every program a millisecond, even without any encrypted file.
#ifndef FIRN_CCRYPTO_H
#define FIRN_CCRYPTO_H

#include <stddef.h>
#include <stdint.h>

typedef struct firn_cipher firn_cipher;

/// Returns 1 if the library is installed and has what is needed. Otherwise all functions below fail.
int firn_crypto_is_there(void);

/// Creates a state of XAES-256-GCM (C2SP) under one key of 32 bytes; NULL without memory or without the library. Used by one thread at a time.
firn_cipher *firn_cipher_new(const uint8_t *key);
void firn_cipher_free(firn_cipher *cipher);

/// Returns 1 on success. `out` has `count` bytes (at most 2^36 - 32), `tag` 16, `nonce` 24.
int firn_cipher_seal(firn_cipher *cipher, const uint8_t *nonce, const uint8_t *bound, size_t bound_count, const uint8_t *bytes, size_t count, uint8_t *out, uint8_t *tag);

/// Returns 1 if the tag is correct, 0 if it is not, -1 if OpenSSL failed before checking it. Unless it is 1, the contents of `out` are meaningless.
int firn_cipher_open(firn_cipher *cipher, const uint8_t *nonce, const uint8_t *bound, size_t bound_count, const uint8_t *bytes, size_t count, uint8_t *out, const uint8_t *tag);

/// Writes 32 bytes. Returns 1 on success.
int firn_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *out);

/// For pages that another program encrypted. Writes 28 bytes. Returns 1 on success.
int firn_hmac_sha224(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *out);

/// Decrypts `count` bytes, a multiple of 16, with AES-256-CBC without padding. `key` has 32 bytes, `nonce` 16. Returns 1 on success.
int firn_cbc_open(const uint8_t *key, const uint8_t *nonce, const uint8_t *bytes, size_t count, uint8_t *out);

#endif
