#include "CCrypto.h"

#include <dlfcn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The functions of libcrypto that are called, with the types from its headers.
#define FUNCTIONS(take) \
    take(OPENSSL_init_crypto) take(OPENSSL_cleanse) take(EVP_CIPHER_CTX_new) take(EVP_CIPHER_CTX_free) take(EVP_CIPHER_CTX_ctrl) \
    take(EVP_CIPHER_CTX_set_padding) take(EVP_EncryptInit_ex) take(EVP_EncryptUpdate) take(EVP_EncryptFinal_ex) \
    take(EVP_DecryptInit_ex) take(EVP_DecryptUpdate) take(EVP_DecryptFinal_ex) take(EVP_aes_256_gcm) take(EVP_aes_256_ecb) take(EVP_sha256) \
    take(EVP_sha224) take(EVP_aes_256_cbc) take(HMAC)

static struct {
#define field(name) __typeof__(&name) name;
    FUNCTIONS(field)
#undef field
    /// OpenSSL 3 looks up an algorithm by name once, instead of at each use. Older versions do not have this function.
    EVP_CIPHER *(*EVP_CIPHER_fetch)(void *, const char *, const char *);
    const EVP_CIPHER *gcm, *ecb;
    int is_there;
} lib;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
#ifdef __APPLE__
    static const char *names[] = {"/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib", "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib"};
#else
    static const char *names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"};
#endif
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++) handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
#define find(name) if (!(lib.name = (__typeof__(lib.name))dlsym(handle, #name))) return;
    FUNCTIONS(find)
#undef find
    // OpenSSL's configuration file is for programs that let it choose their algorithms.
    if (lib.OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1) return;
    lib.EVP_CIPHER_fetch = (EVP_CIPHER *(*)(void *, const char *, const char *))dlsym(handle, "EVP_CIPHER_fetch");
    if (lib.EVP_CIPHER_fetch) {
        lib.gcm = lib.EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
        lib.ecb = lib.EVP_CIPHER_fetch(NULL, "AES-256-ECB", NULL);
    }
    if (!lib.gcm) lib.gcm = lib.EVP_aes_256_gcm();
    if (!lib.ecb) lib.ecb = lib.EVP_aes_256_ecb();
    lib.is_there = lib.gcm && lib.ecb;
}

int firn_crypto_is_there(void) {
    pthread_once(&once, load);
    return lib.is_there;
}

struct firn_cipher {
    EVP_CIPHER_CTX *gcm, *block;
    /// The CMAC subkey for a complete last block.
    uint8_t subkey[16];
};

static int encrypt_block(firn_cipher *cipher, const uint8_t *in, uint8_t *out) {
    int count = 0;
    return lib.EVP_EncryptUpdate(cipher->block, out, &count, in, 16) == 1 && count == 16;
}

firn_cipher *firn_cipher_new(const uint8_t *key) {
    if (!firn_crypto_is_there()) return NULL;
    firn_cipher *cipher = calloc(1, sizeof *cipher);
    if (!cipher) return NULL;
    cipher->gcm = lib.EVP_CIPHER_CTX_new();
    cipher->block = lib.EVP_CIPHER_CTX_new();
    uint8_t zero[16] = {0};
    if (!cipher->gcm || !cipher->block || lib.EVP_EncryptInit_ex(cipher->block, lib.ecb, NULL, key, NULL) != 1
        || lib.EVP_CIPHER_CTX_set_padding(cipher->block, 0) != 1 || !encrypt_block(cipher, zero, cipher->subkey)) {
        firn_cipher_free(cipher);
        return NULL;
    }
    // Double it in GF(2^128).
    uint8_t carry = cipher->subkey[0] >> 7;
    for (int i = 0; i < 16; i++) cipher->subkey[i] = (uint8_t)(cipher->subkey[i] << 1 | (i < 15 ? cipher->subkey[i + 1] >> 7 : 0));
    cipher->subkey[15] ^= carry * 0x87;
    return cipher;
}

void firn_cipher_free(firn_cipher *cipher) {
    if (!cipher) return;
    lib.EVP_CIPHER_CTX_free(cipher->gcm);
    lib.EVP_CIPHER_CTX_free(cipher->block);
    lib.OPENSSL_cleanse(cipher, sizeof *cipher);
    free(cipher);
}

/// Derives the key for the first half of the nonce.
static int derive(firn_cipher *cipher, const uint8_t *nonce, uint8_t *key) {
    for (int half = 0; half < 2; half++) {
        uint8_t block[16] = {0, (uint8_t)(half + 1), 'X', 0};
        memcpy(block + 4, nonce, 12);
        for (int i = 0; i < 16; i++) block[i] ^= cipher->subkey[i];
        if (!encrypt_block(cipher, block, key + 16 * half)) return 0;
    }
    return 1;
}

// OpenSSL's lengths are int.
static const size_t piece = (size_t)1 << 30, most = ((size_t)1 << 36) - 32;

typedef int (*update_function)(EVP_CIPHER_CTX *, unsigned char *, int *, const unsigned char *, int);

static int update(update_function step, EVP_CIPHER_CTX *context, const uint8_t *bytes, size_t count, uint8_t *out) {
    for (size_t done = 0; done < count;) {
        size_t part = count - done < piece ? count - done : piece;
        int put = 0;
        if (step(context, out ? out + done : NULL, &put, bytes + done, (int)part) != 1 || (size_t)put != part) return 0;
        done += part;
    }
    return 1;
}

int firn_cipher_seal(firn_cipher *cipher, const uint8_t *nonce, const uint8_t *bound, size_t bound_count, const uint8_t *bytes, size_t count, uint8_t *out, uint8_t *tag) {
    uint8_t key[32], rest[16];
    int last = 0;
    int done = count <= most && derive(cipher, nonce, key)
        && lib.EVP_EncryptInit_ex(cipher->gcm, lib.gcm, NULL, key, nonce + 12) == 1
        && update(lib.EVP_EncryptUpdate, cipher->gcm, bound, bound_count, NULL)
        && update(lib.EVP_EncryptUpdate, cipher->gcm, bytes, count, out)
        && lib.EVP_EncryptFinal_ex(cipher->gcm, rest, &last) == 1
        && lib.EVP_CIPHER_CTX_ctrl(cipher->gcm, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
    lib.OPENSSL_cleanse(key, sizeof key);
    return done;
}

int firn_cipher_open(firn_cipher *cipher, const uint8_t *nonce, const uint8_t *bound, size_t bound_count, const uint8_t *bytes, size_t count, uint8_t *out, const uint8_t *tag) {
    uint8_t key[32], rest[16];
    int last = 0;
    if (count > most) return 0;
    int ready = derive(cipher, nonce, key)
        && lib.EVP_DecryptInit_ex(cipher->gcm, lib.gcm, NULL, key, nonce + 12) == 1
        && update(lib.EVP_DecryptUpdate, cipher->gcm, bound, bound_count, NULL)
        && update(lib.EVP_DecryptUpdate, cipher->gcm, bytes, count, out)
        && lib.EVP_CIPHER_CTX_ctrl(cipher->gcm, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag) == 1;
    // The tag is checked only here.
    int done = ready ? lib.EVP_DecryptFinal_ex(cipher->gcm, rest, &last) == 1 : -1;
    lib.OPENSSL_cleanse(key, sizeof key);
    return done;
}

int firn_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *out) {
    if (!firn_crypto_is_there()) return 0;
    unsigned int length = 0;
    return lib.HMAC(lib.EVP_sha256(), key, (int)key_count, bytes, count, out, &length) != NULL && length == 32;
}

int firn_hmac_sha224(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *out) {
    if (!firn_crypto_is_there()) return 0;
    unsigned int length = 0;
    return lib.HMAC(lib.EVP_sha224(), key, (int)key_count, bytes, count, out, &length) != NULL && length == 28;
}

int firn_cbc_open(const uint8_t *key, const uint8_t *nonce, const uint8_t *bytes, size_t count, uint8_t *out) {
    if (!firn_crypto_is_there() || count > piece || count % 16) return 0;
    EVP_CIPHER_CTX *context = lib.EVP_CIPHER_CTX_new();
    if (!context) return 0;
    int put = 0;
    int done = lib.EVP_DecryptInit_ex(context, lib.EVP_aes_256_cbc(), NULL, key, nonce) == 1
        && lib.EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && lib.EVP_DecryptUpdate(context, out, &put, bytes, (int)count) == 1 && (size_t)put == count;
    lib.EVP_CIPHER_CTX_free(context);
    return done;
}
