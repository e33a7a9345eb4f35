import FirnBytes
import FirnCodecs
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `firn-bench text FILE… [--profile fast|standard|small]`: each file is one column with one string per line. Prints bytes, speeds and the
/// encoding.
enum TextCodecs {
    static func run(_ arguments: [String]) {
        var profile = Profile.standard
        var files: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--profile" {
                profile =
                    switch rest.popFirst() {
                    case "fast": .fast
                    case "small": .small
                    default: .standard
                    }
            } else {
                files.append(argument)
            }
        }
        for file in files { measure(file, profile) }
    }

    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the lines of a file as segments of 65,536 strings.
    private static func read(_ path: String) -> [Text] {
        guard let file = fopen(path, "rb") else { trap("cannot open \(path)") }
        defer { fclose(file) }
        var segments = [Text()]
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        while true {
            let n = getline(&line, &room, file)
            guard n > 0 else { break }
            if segments[segments.count - 1].count == 65_536 { segments.append(Text()) }
            let bytes = UnsafeRawBufferPointer(start: line, count: n)
            segments[segments.count - 1].append(UnsafeRawBufferPointer(rebasing: bytes.last == 10 ? bytes.dropLast() : bytes[...]))
        }
        free(line)
        return segments
    }

    private static func measure(_ path: String, _ profile: Profile) {
        let segments = read(path)
        let rows = segments.reduce(0) { $0 + $1.count }, raw = segments.reduce(0) { $0 + $1.bytes.count }
        var streams: [(Int, [UInt8])] = [], shared: [[SharedBlob]] = []
        let start = seconds()
        for group in stride(from: 0, to: segments.count, by: 64) {
            let encoder = TextGroupEncoder(profile: profile)
            for segment in group..<min(segments.count, group + 64) {
                encoder.add(segments[segment], present: nil)
                streams += encoder.takeReady().map { ($0.0 + group, $0.1) }
            }
            let end = encoder.finish()
            streams += end.rest.map { ($0.0 + group, $0.1) }
            shared.append(end.shared)
        }
        let encoded = seconds() - start
        streams.sort { $0.0 < $1.0 }
        let sharedBytes = shared.reduce(0) { $0 + $1.reduce(0) { $0 + $1.bytes.count } }
        let bytes = streams.reduce(sharedBytes) { $0 + $1.1.count }
        do {
            let name = try decode(segments, streams.map(\.1), shared)
            let decoded = name.seconds
            print(
                "\(path) \(profile): \(rows) rows \(raw) raw \(bytes) bytes (\(sharedBytes) shared) \(hundredths(Double(bytes) * 8 / Double(max(rows, 1)))) bits/row",
                "encode \(hundredths(Double(raw) / encoded / 1e6)) MB/s \(hundredths(encoded)) s, decode \(hundredths(Double(raw) / decoded / 1e6)) MB/s \(hundredths(Double(rows) / decoded / 1e6)) M/s,",
                "point \(hundredths(name.point * 1e6)) us, \(name.name)")
        } catch { print("\(path): \(error)") }
    }

    private static func hundredths(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

    private static func decode(_ segments: [Text], _ streams: [[UInt8]], _ shared: [[SharedBlob]]) throws(Damage) -> (
        name: String, seconds: Double, point: Double
    ) {
        func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
            copy.copyBytes(from: bytes)
            return UnsafeRawBufferPointer(copy)
        }
        var opened: [[SharedText]] = []
        for group in shared {
            var blobs: [SharedText] = []
            for blob in group { blobs.append(try SharedText(kind: blob.kind, bytes: keep(blob.bytes))) }
            opened.append(blobs)
        }
        var readers: [TextReader] = []
        let kept = streams.map(keep)
        let start = seconds()
        var text = Text(), total = 0
        for (s, stream) in kept.enumerated() {
            let reader = try TextReader(stream, count: segments[s].count, shared: opened[s / 64])
            readers.append(reader)
            for vector in 0..<((reader.count + 1023) / 1024) {
                try reader.decode(vector: vector, into: &text)
                total += text.bytes.count
            }
        }
        let end = seconds()
        guard total == segments.reduce(0, { $0 + $1.bytes.count }) else { throw Damage("decoded other bytes") }
        var random: UInt64 = 1, sum = 0
        let points = 20_000
        for _ in 0..<points {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let reader = readers[Int(random >> 33) % readers.count]
            sum += try reader.withValue(at: Int(random >> 13 & 0xFFFFF) % reader.count) { $0.count }
        }
        if sum < 0 { print(sum) }
        return (readers[0].encodingName, end - start, (seconds() - end) / Double(points))
    }
}
