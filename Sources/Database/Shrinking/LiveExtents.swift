import FirnBytes
import FirnStore
import FirnTable

/// All extents to which one version refers, except its catalogue.
struct LiveExtents {
    struct SegmentExtents {
        var entry: DirectoryEntry
        var header: SegmentHeader

        /// The chunks and chunk overlays; none for a packed segment.
        var parts: [ExtentRef] { header.entries.flatMap { [$0.chunk, $0.overlay].compactMap { $0 } } }
        /// The bytes that it takes in the file, without those that it shares.
        var bytes: UInt64 { entry.header.length + parts.reduce(0) { $0 + $1.length } }
        /// The version that wrote the oldest of its chunks or, for a packed segment, its header.
        var birth: UInt64 { (header.entries.compactMap(\.chunk).map(\.birth)).min() ?? entry.header.birth }
    }

    struct TypeExtents {
        var segments: [SegmentExtents] = []
        var directory = ExtentRef.none
        var runs: [ExtentRef] = []
        var delta: Set<ExtentRef> = []
    }

    var schema: ExtentRef
    var types: [TypeExtents] = []

    /// The extents that can be moved unchanged, without the headers of segments.
    var parts: Set<ExtentRef> {
        var all: Set<ExtentRef> = []
        for type in types {
            all.formUnion(type.runs)
            for segment in type.segments {
                all.formUnion(segment.parts)
                all.formUnion(segment.header.shared.map(\.ref))
            }
        }
        return all
    }

    var all: Set<ExtentRef> {
        var all = parts
        all.insert(schema)
        for type in types {
            all.insert(type.directory)
            all.formUnion(type.segments.map(\.entry.header))
            all.formUnion(type.delta)
        }
        all.remove(.none)
        return all
    }
}

extension SnapshotCore {
    func liveExtents() throws(Damage) -> LiveExtents {
        var live = LiveExtents(schema: catalogue.schemaRef)
        for (type, state) in catalogue.types.enumerated() {
            var extents = LiveExtents.TypeExtents(directory: state.directory)
            for index in 0..<state.segmentCount where state.inner == nil {
                extents.segments.append(try liveSegment(type: type, index: index))
            }
            extents.runs = state.indexes.flatMap { $0.runs.map(\.ref) }
            extents.delta = try TreeReader(root: state.delta, source: store).extents()
            live.types.append(extents)
        }
        return live
    }

    func liveSegment(type: Int, index: Int) throws(Damage) -> LiveExtents.SegmentExtents {
        let entry = try directoryEntry(type: type, index: index)
        return LiveExtents.SegmentExtents(entry: entry, header: try SegmentHeader(try store.read(entry.header)))
    }
}

extension ExtentRef {
    /// The range of the file that the extent occupies: whole units.
    var range: Range<UInt64> { offset..<offset + (max(length, 1) + 63) / 64 * 64 }
}
