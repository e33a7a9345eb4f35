import FirnBytes
import Testing
@testable import FirnCrypto

@Suite struct CipherTests {
    private func sealed(_ cipher: Cipher, _ bytes: [UInt8], bound: [UInt8] = [], nonce: [UInt8]? = nil) -> (bytes: [UInt8], tag: Hash128) {
        var out = [UInt8](repeating: 0, count: bytes.count + Cipher.nonceCount)
        let tag = bytes.withUnsafeBytes { bytes in
            out.withUnsafeMutableBytes { out in
                nonce.map { cipher.seal(bytes, bound: bound, nonce: $0, into: out) } ?? cipher.seal(bytes, bound: bound, into: out)
            }
        }!
        return (out, tag)
    }

    private func opened(_ cipher: Cipher, _ sealed: [UInt8], bound: [UInt8] = [], tag: Hash128) -> [UInt8]? {
        var out = [UInt8](repeating: 0, count: max(0, sealed.count - Cipher.nonceCount))
        return sealed.withUnsafeBytes { sealed in out.withUnsafeMutableBytes { cipher.open(sealed, bound: bound, tag: tag, into: $0) } }
            == .opened ? out : nil
    }

    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private func bytes(_ tag: Hash128) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(tag)
        return writer.bytes
    }

    @Test func `sealing gives the test vectors of the specification of XAES-256-GCM`() throws {
        let nonce = Array("ABCDEFGHIJKLMNOPQRSTUVWX".utf8), text = Array("XAES-256-GCM".utf8)
        let one = try Cipher(key: [UInt8](repeating: 1, count: 32)), three = try Cipher(key: [UInt8](repeating: 3, count: 32))
        let first = sealed(one, text, nonce: nonce)
        #expect(hex(first.bytes.dropFirst(24) + bytes(first.tag)) == "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271")
        let second = sealed(three, text, bound: Array("c2sp.org/XAES-256-GCM".utf8), nonce: nonce)
        #expect(hex(second.bytes.dropFirst(24) + bytes(second.tag)) == "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d")
    }

    @Test func `only sealed bytes that are unchanged, with the same tag and bound data, can be opened`() throws {
        let cipher = try Cipher(EncryptionKey([UInt8](0..<64))!, salt: Cipher.random(32), purpose: "test")
        for count in [0, 1, 15, 16, 17, 63, 64, 1000, 70_000] {
            let text = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }, bound: [UInt8] = [1, 2, 3]
            let (bytes, tag) = sealed(cipher, text, bound: bound)
            #expect(opened(cipher, bytes, bound: bound, tag: tag) == text)
            #expect(opened(cipher, bytes, bound: [1, 2, 4], tag: tag) == nil)
            #expect(opened(cipher, bytes, bound: bound, tag: Hash128(low: tag.low ^ 1, high: tag.high)) == nil)
            for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 97)) {
                var other = bytes
                other[place] ^= 0x10
                #expect(
                    opened(cipher, other, bound: bound, tag: tag) == nil,
                    "byte \(place) of \(bytes.count) was changed, and the rest was opened")
            }
            #expect(opened(cipher, bytes.dropLast(), bound: bound, tag: tag) == nil)
        }
        #expect(opened(cipher, [1, 2, 3], tag: Hash128(low: 0, high: 0)) == nil)
    }

    @Test func `sealed bytes can be opened only with the same secret, salt and purpose`() throws {
        let secret = EncryptionKey([UInt8](0..<64))!, other = EncryptionKey([UInt8](1..<65))!, salt = [UInt8](repeating: 5, count: 32)
        let cipher = try Cipher(secret, salt: salt, purpose: "a")
        let (bytes, tag) = sealed(cipher, [1, 2, 3])
        #expect(try opened(Cipher(secret, salt: salt, purpose: "a"), bytes, tag: tag) == [1, 2, 3])
        #expect(try opened(Cipher(other, salt: salt, purpose: "a"), bytes, tag: tag) == nil)
        #expect(try opened(Cipher(secret, salt: [UInt8](repeating: 6, count: 32), purpose: "a"), bytes, tag: tag) == nil)
        #expect(try opened(Cipher(secret, salt: salt, purpose: "b"), bytes, tag: tag) == nil)
    }

    @Test func `the key of a file is derived by HKDF-SHA-256`() throws {
        // The expected value is from Python's cryptography: HKDF(SHA256, 32, salt, b"firn 1").derive(bytes(range(64))), and AESGCM with the
        // key that XAES derives from it.
        let cipher = try Cipher(EncryptionKey([UInt8](0..<64))!, salt: [UInt8](repeating: 9, count: 32), purpose: "firn 1")
        let (bytes, tag) = sealed(cipher, Array("snow".utf8), bound: Array("ice".utf8), nonce: [UInt8](0..<24))
        #expect(hex(bytes.dropFirst(24) + self.bytes(tag)) == "5569858c543945b43e21a06920236f238c20ba02")
    }

    @Test func `several threads can use one cipher`() async throws {
        let cipher = try Cipher(key: [UInt8](repeating: 7, count: 32))
        await withTaskGroup(of: Bool.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    (0..<200).allSatisfy { round in
                        let text = [UInt8](repeating: UInt8(thread), count: round * 11)
                        let (bytes, tag) = sealed(cipher, text)
                        return opened(cipher, bytes, tag: tag) == text
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
