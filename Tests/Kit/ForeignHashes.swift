import FirnBytes
import Foundation

/// Makes a file as another writer may write it, with different logical hashes. Everything else is unchanged, and every extent has the hash
/// that its reference contains.
public enum ForeignHashes {
    /// Replaces the logical hash of every column of every segment in the newest version and its previous versions. Returns the number of
    /// hashes.
    @discardableResult
    public static func write(_ hash: [UInt8], in path: String) throws -> Int {
        precondition(hash.count == 16, "a logical hash has 16 bytes")
        let url = URL(fileURLWithPath: path)
        var file = ForeignFile(bytes: [UInt8](try Data(contentsOf: url)), hash: hash)
        file.rewrite()
        try Data(file.bytes).write(to: url)
        return file.count
    }
}

private struct ForeignFile {
    var bytes: [UInt8]
    let hash: [UInt8]
    var count = 0
    /// The old and the new hash of each rewritten extent, by offset.
    private var done: [Int: (was: [UInt8], became: [UInt8])] = [:]

    init(bytes: [UInt8], hash: [UInt8]) {
        self.bytes = bytes
        self.hash = hash
    }

    private func number(_ at: Int, _ size: Int) -> Int { (0..<size).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) } }
    private func reference(_ at: Int) -> (offset: Int, length: Int) { (number(at, 6) * 64, number(at + 6, 2) | number(at + 8, 3) << 16) }

    mutating func rewrite() {
        for slot in [0, 4096] where slot + 512 <= bytes.count {
            let length = number(slot + 12, 4)
            guard length == 176, number(slot + 24 + 8, 8) > 0 else { continue }
            follow(at: slot + 88) { file, offset, length in file.record(offset, length) }
            replaceKnown(in: slot..<slot + length - 16)
            bytes.replaceSubrange(slot + length - 16..<slot + length, with: hash(of: slot..<slot + length - 16))
        }
    }

    private func hash(of range: Range<Int>) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(bytes[range].withUnsafeBytes { Hash128(of: $0) })
        return writer.bytes
    }

    /// Rewrites the extent of a reference once, and updates the hash in the reference.
    private mutating func follow(at byte: Int, _ body: (inout ForeignFile, Int, Int) -> Void) {
        let (offset, length) = reference(byte)
        guard offset > 0 else { return }
        if done[offset] == nil {
            let was = Array(bytes[byte + 16..<byte + 32])
            body(&self, offset, length)
            done[offset] = (was, hash(of: offset..<offset + length))
        }
        if Array(bytes[byte + 16..<byte + 32]) == done[offset]!.was {
            bytes.replaceSubrange(byte + 16..<byte + 32, with: done[offset]!.became)
        }
    }

    /// Replaces hashes in lists of references whose layout is not parsed here.
    private mutating func replaceKnown(in range: Range<Int>) {
        for (was, became) in done.values where was != became {
            var at = range.lowerBound
            while at + 16 <= range.upperBound {
                if bytes[at] == was[0], Array(bytes[at..<at + 16]) == was { bytes.replaceSubrange(at..<at + 16, with: became) }
                at += 1
            }
        }
    }

    private mutating func record(_ offset: Int, _ length: Int) {
        follow(at: offset + 56) { file, offset, length in file.record(offset, length) }
        follow(at: offset + 88) { file, offset, length in file.catalogue(offset, length) }
        replaceKnown(in: offset..<offset + length)
    }

    private mutating func catalogue(_ offset: Int, _ length: Int) {
        guard bytes[offset] == 1 else { return }
        var at = offset + 36
        for _ in 0..<number(offset + 2, 2) {
            let segments = number(at + 16, 4), directory = at + 32
            follow(at: directory) { file, offset, length in
                for segment in 0..<segments {
                    file.follow(at: offset + 64 * segment + 24) { file, offset, length in file.header(offset, length) }
                }
            }
            at += 96
            at += 4 + number(at, 4)
        }
    }

    private mutating func header(_ offset: Int, _ length: Int) {
        let flags = bytes[offset + 3]
        guard flags & 1 == 0 else { return }
        let columns = number(offset + 8, 4)
        var at = offset + 20
        for flag in [2, 4] as [UInt8] where flags & flag != 0 { at += 4 + number(at, 4) }
        for column in 0..<columns {
            bytes.replaceSubrange(at + 112 * column + 72..<at + 112 * column + 88, with: hash)
            count += 1
        }
    }
}
