import FirnBytes
import FirnExchange
import FirnTable

/// Reads one leaf of a file, row group after row group.
final class LeafReader {
    private let file: FileBytes
    private let footer: ParquetFooter
    private let node: ParquetNode
    private let form: LeafForm
    private let scratch = LeafScratch()
    private var chunk: ChunkReader?
    private var group = -1
    /// The row of the group that is read next.
    private(set) var row = 0
    /// The pages of the row groups before the current one.
    private var earlierPages = PageCounts()
    var pages: PageCounts { earlierPages + (chunk?.pages ?? PageCounts()) }

    init(_ file: FileBytes, _ footer: ParquetFooter, _ node: ParquetNode, _ form: LeafForm) {
        self.file = file
        self.footer = footer
        self.node = node
        self.form = form
    }

    /// Reads the rows of some parts of row groups, which must be in ascending order. With `keepsCodes`, for which there must be one part,
    /// values that are stored as codes of a small dictionary are kept so (`LeafRows.ranks`).
    func read(_ parts: [RowPart], keepsCodes: Bool = false) throws(FirnError) -> LeafRows {
        scratch.room = DecodingRoom()
        // A reader that waits for the next part holds no charge for values.
        defer { scratch.room = DecodingRoom() }
        var rows: LeafRows?
        for part in parts {
            do throws(ParquetFault) {
                let chunk = try open(part)
                var collected = rows ?? chunk.empty
                if keepsCodes { collected.ranks = [] }
                let before = collected.values.text.count
                try chunk.read(part.rows.count, into: &collected)
                if form == .text { try chunk.checkText(collected.values, from: before) }
                rows = collected
                row = part.rows.upperBound
            } catch { throw error.error(in: file.name, "column \"\(node.path)\", row group \(part.group)") }
        }
        var out = rows ?? LeafRows(values: Column(ColumnType(form.kind)))
        // The charge lives as long as the values.
        if scratch.room.charge.bytes > 0 { out.values.text.charge = scratch.room.charge }
        return out
    }

    private func open(_ part: RowPart) throws(ParquetFault) -> ChunkReader {
        if part.group != group || chunk == nil || row > part.rows.lowerBound {
            let stored = footer.groups[part.group].chunks[node.leaves.lowerBound]
            earlierPages = pages
            chunk = try ChunkReader(file, stored, node, form, scratch)
            group = part.group
            row = 0
        }
        guard let chunk else { throw ParquetFault("no column") }
        if row < part.rows.lowerBound {
            try chunk.skip(part.rows.lowerBound - row)
            row = part.rows.lowerBound
        }
        return chunk
    }
}

/// Some rows of a row group.
struct RowPart: Sendable {
    var group: Int
    var rows: Range<Int>

    /// The rows of a vector of this part.
    func vector(_ number: Int) -> RowPart {
        let start = rows.lowerBound + number * vectorSize
        return RowPart(group: group, rows: start..<min(start + vectorSize, rows.upperBound))
    }
}
