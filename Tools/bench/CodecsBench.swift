import FirnBytes
import FirnCodecs
import Foundation

/// `firn-bench codecs [--profile fast|standard|small] FILE…`: encodes columns of raw little-endian i64 (`*.i64`) or doubles (`*.f64`)
/// in streams of 65,536 values, and prints bits per value, ns per value to encode, G values/s to decode, and ns per read of a single value.
func benchCodecs(_ arguments: [String]) throws {
    var profile = Profile.standard, files = arguments
    if let at = files.firstIndex(of: "--profile"), at + 1 < files.count {
        profile = ["fast": .fast, "small": .small][files[at + 1]] ?? .standard
        files.removeSubrange(at...(at + 1))
    }
    for file in files {
        var bench = try CodecsBench(URL(fileURLWithPath: file), profile)
        try bench.run()
    }
}

/// The measurements of one column. Each is repeated three times, and the shortest time counts.
private struct CodecsBench {
    private let name: String
    private let data: Data
    private let profile: Profile
    private let clock = ContinuousClock()
    /// Memory for a decoded vector.
    private let room = UnsafeMutableRawPointer.allocate(byteCount: 8192, alignment: 64)
    /// Prevents that reads without another use are optimised away.
    private var sum: Int64 = 0
    private var encodingName = ""

    private typealias Stream = (bytes: UnsafeRawBufferPointer, count: Int)

    init(_ file: URL, _ profile: Profile) throws {
        name = file.lastPathComponent
        data = try Data(contentsOf: file)
        self.profile = profile
    }

    private var count: Int { data.count / 8 }
    private var areDoubles: Bool { name.hasSuffix("f64") }

    mutating func run() throws {
        var streams: [Stream] = []
        var encoding = Double.infinity, best = Double.infinity, point = Double.infinity
        for _ in 0..<3 {
            streams.forEach { $0.bytes.deallocate() }
            streams.removeAll()
            encoding = min(encoding, seconds(clock.measure { streams = encode() }))
        }
        for _ in 0..<3 {
            var total = 0.0, points = 0.0
            for stream in streams {
                let (vectors, single) = try areDoubles ? decodeDoubles(stream) : decodeIntegers(stream)
                total += seconds(vectors)
                points += seconds(single)
            }
            best = min(best, total)
            point = min(point, points / Double(streams.count))
        }
        let size = streams.reduce(0) { $0 + $1.bytes.count }
        print(
            String(
                format: "%@ %.3f bits/value, encode %.1f ns, decode %.2f G/s, point %.0f ns, %@", name, Double(size) * 8 / Double(count),
                encoding * 1e9 / Double(count), Double(count) / best / 1e9, point * 1e6, encodingName), sum == 42 ? "" : "")
    }

    private func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    private func encode() -> [Stream] {
        data.withUnsafeBytes { raw in
            stride(from: 0, to: count, by: 65_536).map { first in
                let n = min(65_536, count - first)
                let slice = UnsafeRawBufferPointer(rebasing: raw[(first * 8)..<((first + n) * 8)])
                let bytes =
                    areDoubles
                    ? FloatsEncoder.encode(slice.bindMemory(to: Double.self), present: nil, single: false, profile: profile)
                    : IntegersEncoder.encode(slice.bindMemory(to: Int64.self), present: nil, profile: profile)
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
                copy.copyBytes(from: bytes)
                return (UnsafeRawBufferPointer(copy), n)
            }
        }
    }

    /// Returns the time to decode all vectors, and that of 1,000 reads of a single value.
    private mutating func decodeDoubles(_ stream: Stream) throws -> (vectors: Duration, single: Duration) {
        let reader = try FloatsReader(stream.bytes, count: stream.count)
        encodingName = reader.encodingName
        let target = room.bindMemory(to: Double.self, capacity: 1024)
        let vectors = try clock.measure { for k in 0..<((stream.count + 1023) / 1024) { try reader.decode(vector: k, into: target) } }
        let single = try clock.measure {
            for k in 0..<1000 { sum &+= try reader.value(at: k * 7919 % stream.count).bitPattern == 1 ? 1 : 0 }
        }
        return (vectors, single)
    }

    private mutating func decodeIntegers(_ stream: Stream) throws -> (vectors: Duration, single: Duration) {
        let reader = try IntegersReader(stream.bytes, count: stream.count)
        encodingName = reader.encodingName
        let target = room.bindMemory(to: Int64.self, capacity: 1024)
        let vectors = try clock.measure { for k in 0..<((stream.count + 1023) / 1024) { try reader.decode(vector: k, into: target) } }
        let single = try clock.measure { for k in 0..<1000 { sum &+= try reader.value(at: k * 7919 % stream.count) } }
        return (vectors, single)
    }
}
