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
        let data = try Data(contentsOf: URL(fileURLWithPath: file)), count = data.count / 8
        let name = URL(fileURLWithPath: file).lastPathComponent
        var streams: [(bytes: UnsafeRawBufferPointer, count: Int)] = []
        let clock = ContinuousClock()
        func seconds(_ duration: Duration) -> Double {
            Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        }
        var encoding = Double.infinity
        for _ in 0..<3 {
            streams.forEach { $0.bytes.deallocate() }
            streams.removeAll()
            encoding = min(
                encoding,
                seconds(
                    clock.measure {
                        data.withUnsafeBytes { raw in
                            for first in stride(from: 0, to: count, by: 65_536) {
                                let n = min(65_536, count - first)
                                let slice = UnsafeRawBufferPointer(rebasing: raw[(first * 8)..<((first + n) * 8)])
                                let bytes =
                                    name.hasSuffix("f64")
                                    ? FloatsEncoder.encode(slice.bindMemory(to: Double.self), present: nil, single: false, profile: profile)
                                    : IntegersEncoder.encode(slice.bindMemory(to: Int64.self), present: nil, profile: profile)
                                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
                                copy.copyBytes(from: bytes)
                                streams.append((UnsafeRawBufferPointer(copy), n))
                            }
                        }
                    }))
        }
        let size = streams.reduce(0) { $0 + $1.bytes.count }
        var best = Double.infinity, point = Double.infinity, encodingName = "", sum: Int64 = 0
        let out = UnsafeMutableRawPointer.allocate(byteCount: 8192, alignment: 64)
        for _ in 0..<3 {
            var total = 0.0, points = 0.0
            for stream in streams {
                if name.hasSuffix("f64") {
                    let reader = try FloatsReader(stream.bytes, count: stream.count)
                    encodingName = reader.encodingName
                    let target = out.bindMemory(to: Double.self, capacity: 1024)
                    total += seconds(
                        try clock.measure { for k in 0..<((stream.count + 1023) / 1024) { try reader.decode(vector: k, into: target) } })
                    points += seconds(
                        try clock.measure {
                            for k in 0..<1000 { sum &+= try reader.value(at: k * 7919 % stream.count).bitPattern == 1 ? 1 : 0 }
                        })
                } else {
                    let reader = try IntegersReader(stream.bytes, count: stream.count)
                    encodingName = reader.encodingName
                    let target = out.bindMemory(to: Int64.self, capacity: 1024)
                    total += seconds(
                        try clock.measure { for k in 0..<((stream.count + 1023) / 1024) { try reader.decode(vector: k, into: target) } })
                    points += seconds(try clock.measure { for k in 0..<1000 { sum &+= try reader.value(at: k * 7919 % stream.count) } })
                }
            }
            best = min(best, total)
            point = min(point, points / Double(streams.count))
        }
        print(
            String(
                format: "%@ %.3f bits/value, encode %.1f ns, decode %.2f G/s, point %.0f ns, %@", name, Double(size) * 8 / Double(count),
                encoding * 1e9 / Double(count), Double(count) / best / 1e9, point * 1e6, encodingName), sum == 42 ? "" : "")
    }
}
