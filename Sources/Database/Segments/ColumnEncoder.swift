import FirnBytes
import FirnCodecs
import FirnTable

/// Encodes one column, segment after segment, into chunks. The encoding of text is chosen for the whole group of segments, so a chunk may
/// be ready only at the end of the group. One thread at a time may use an encoder; different columns can use different threads.
final class ColumnEncoder {
    /// The zone, the logical hash and the features of the chunk of one segment.
    struct Summary {
        var zone: Zone
        /// A hash of the canonical values, independent of their encoding.
        var logicalHash: Hash128
        /// The reader features that the chunk needs; known when it is ready.
        var features: EncodingFeatures = []
    }

    /// A finished chunk, its summary, and the index of its segment within the group.
    struct Ready {
        var segment: Int
        var chunk: Chunk
        var summary: Summary
    }

    private let type: ColumnType
    private let profile: Profile
    private let text: TextGroupEncoder?
    private let keys: TextGroupEncoder?
    private var waiting: [Int: (chunk: Chunk, summary: Summary, missing: Int, rows: Int)] = [:]
    private var segments = 0

    /// `isLookedUp`: single values will be read in random order.
    init(_ type: ColumnType, profile: Profile, isLookedUp: Bool = false) {
        self.type = type
        self.profile = profile
        text = type.payload.contains(.text) ? TextGroupEncoder(profile: profile, isLookedUp: isLookedUp) : nil
        keys = type.collection == .map ? TextGroupEncoder(profile: profile) : nil
    }

    /// The number of bytes held until the group ends.
    var bufferedBytes: Int { (text?.bufferedBytes ?? 0) + (keys?.bufferedBytes ?? 0) }

    /// Adds the rows of the next segment. In embedded columns, `words` contains row ids. `presence` is the validity stream, if it was
    /// encoded for all columns of the segment together.
    func add(_ column: Column, presence: (kind: StreamKind, bytes: [UInt8])? = nil) {
        var column = column
        column.normalise()
        var streams: [(kind: StreamKind, bytes: [UInt8])] = []
        if let present = column.present {
            let presence = presence ?? (.present, BooleansEncoder.encode(present, profile: profile))
            streams.append(presence)
        }
        var payload = column
        if type.isCollection {
            streams.append((.lengths, column.offsets.withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: profile) }))
            if let keys { keys.add(column.children[0].text, present: nil) }
            payload = column.children.last!
            payload.normalise()
            if let present = payload.present { streams.append((.elementPresent, BooleansEncoder.encode(present, profile: profile))) }
        }
        encodePayload(of: payload, into: &streams)
        // Kinds ascend, and shared validity has the highest kind.
        streams.sort { $0.kind.rawValue < $1.kind.rawValue }
        let summary = Summary(zone: column.zone.shortened, logicalHash: column.logicalHash)
        waiting[segments] = (Chunk(streams: streams), summary, (text == nil ? 0 : 1) + (keys == nil ? 0 : 1), column.count)
        segments += 1
    }

    private func encodePayload(of column: Column, into streams: inout [(kind: StreamKind, bytes: [UInt8])]) {
        for kind in type.payload {
            switch kind {
            case .words: streams.append((kind, encode(column.words, present: column.presence(of: .words))))
            case .extra: streams.append((kind, encode(column.extra, present: column.presence(of: .extra))))
            case .tags: streams.append((kind, encode(column.tags.map(Int64.init), present: nil)))
            case .reals:
                let single = type.kind == .float
                streams.append(
                    (
                        kind,
                        column.reals.withUnsafeBufferPointer {
                            FloatsEncoder.encode($0, present: column.presence(of: .reals), single: single, profile: profile)
                        }
                    ))
            case .text: text!.add(column.text, present: column.presence(of: .text))
            default: break
            }
        }
    }

    private func encode(_ values: [Int64], present: Bits?) -> [UInt8] {
        values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: profile) }
    }

    /// Returns the chunks that became ready since the last call.
    func takeReady() -> [Ready] {
        if let text { for (segment, bytes) in text.takeReady() { complete(segment, .text, bytes) } }
        if let keys { for (segment, bytes) in keys.takeReady() { complete(segment, .keys, bytes) } }
        return drain()
    }

    /// Ends the group. Returns the remaining chunks, and the blobs that the text and key streams of the group share.
    func finish() -> (ready: [Ready], text: [SharedBlob], keys: [SharedBlob]) {
        var shared: (text: [SharedBlob], keys: [SharedBlob]) = ([], [])
        if let text {
            let end = text.finish()
            shared.text = end.shared
            for (segment, bytes) in end.rest { complete(segment, .text, bytes) }
        }
        if let keys {
            let end = keys.finish()
            shared.keys = end.shared
            for (segment, bytes) in end.rest { complete(segment, .keys, bytes) }
        }
        return (drain(), shared.text, shared.keys)
    }

    private func complete(_ segment: Int, _ kind: StreamKind, _ bytes: [UInt8]) {
        let streamIndex =
            waiting[segment]!.chunk.streams.firstIndex { $0.kind.rawValue > kind.rawValue } ?? waiting[segment]!.chunk.streams.count
        waiting[segment]!.chunk.streams.insert((kind, bytes), at: streamIndex)
        waiting[segment]!.missing -= 1
    }

    private func drain() -> [Ready] {
        var ready: [Ready] = []
        for (segment, entry) in waiting where entry.missing == 0 {
            var summary = entry.summary
            summary.features = entry.chunk.features(rows: entry.rows)
            ready.append(Ready(segment: segment, chunk: entry.chunk, summary: summary))
        }
        for entry in ready { waiting[entry.segment] = nil }
        return ready.sorted { $0.segment < $1.segment }
    }
}
