import FirnBytes
import Testing

@testable import FirnCrypto

@Suite struct PageCipherTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)! }
    }

    @Test func `pages are decrypted as NIST SP 800-38A specifies (CBC-AES256)`() throws {
        let key = bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
        let cipher = try PageCipher(try #require(EncryptionKey(key + [UInt8](repeating: 0x0B, count: 32))))
        let sealed = bytes("f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d")
        var out = [UInt8](repeating: 0, count: sealed.count)
        let done = sealed.withUnsafeBytes { sealed in
            out.withUnsafeMutableBytes { cipher.open(sealed, nonce: bytes("000102030405060708090a0b0c0d0e0f"), into: $0) }
        }
        #expect(done && out == bytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"))
    }

    @Test func `codes are those of HMAC-SHA-224 under the second half of the key`() throws {
        let second = bytes("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b") + [UInt8](repeating: 0, count: 12)
        let cipher = try PageCipher(try #require(EncryptionKey([UInt8](repeating: 1, count: 32) + second)))
        // RFC 4231, test case 1: HMAC pads the key of 20 bytes with zeros, as this one is.
        let tag = Array("Hi There".utf8).withUnsafeBytes { cipher.tag(of: $0) }
        #expect(tag == bytes("896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22"))
    }
}
