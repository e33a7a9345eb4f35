import CZstd
import FirnBytes
import FirnExchange
import FirnTable

/// The original texts of a file, by row: few rows have any. They are metadata of the file, because they are no data of their own.
///
/// The value of the key is base64 of a Zstandard frame. In it: the number of columns; for each one the length of its name and the name, the
/// number of rows, and for each row the distance from the row before, the length of the text, and the text. Numbers are varints. The names
/// are those of the columns that hold the texts.
final class OriginalTextRows {
    static let key = SchemaFacts.prefix + "original-texts"

    /// The texts of one column.
    struct Texts: Sendable {
        var rows: [Int] = []
        var texts = Text()
    }

    private let positions: [(position: Int, name: String)]
    private(set) var columns: [Texts]
    private var bytes = 0
    private var leftOut = 0

    /// More bytes of texts are left out: every reader reads the metadata completely.
    private static let maximumBytes = 16 << 20

    init(_ type: TypeSchema) {
        positions = type.columns.indices.filter(type.isCompanion).map { ($0, type.columns[$0].name) }
        columns = positions.map { _ in Texts() }
    }

    /// Collects the texts of rows that follow each other from the row `first` on.
    func add(_ batch: Batch, from first: Int) {
        for (i, (position, _)) in positions.enumerated() {
            let column = batch.columns[position]
            for row in 0..<column.count where column.isPresent(row) {
                bytes += column.text.length(row) + 4
                guard bytes <= OriginalTextRows.maximumBytes else {
                    leftOut += 1
                    continue
                }
                columns[i].rows.append(first + row)
                columns[i].texts.append(contentsOf: column.text, range: row..<row + 1)
            }
        }
    }

    var remarks: [String] { leftOut == 0 ? [] : ["\(leftOut) original texts are left out, because there are too many for the metadata"] }

    /// The value of the metadata; nil if there are no texts.
    var encoded: [UInt8]? {
        guard columns.contains(where: { !$0.rows.isEmpty }) else { return nil }
        var out = ByteWriter()
        out.appendVarint(positions.count)
        for ((_, name), column) in zip(positions, columns) {
            out.append(string: name)
            out.appendVarint(column.rows.count)
            var last = 0
            for (i, row) in column.rows.enumerated() {
                out.appendVarint(row - last)
                out.append(lengthPrefixed: column.texts.array(i))
                last = row
            }
        }
        let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(out.count)) { room, count in
            count = out.bytes.withUnsafeBytes { ZSTD_compress(room.baseAddress, room.count, $0.baseAddress, $0.count, 9) }
            if ZSTD_isError(count) != 0 { count = 0 }
        }
        var text: [UInt8] = []
        Base64.append(frame, to: &text)
        return text
    }

    /// Returns the texts by the name of the column that holds them; nil if the value is damaged.
    static func read(_ value: [UInt8]) -> [String: Texts]? {
        guard let frame = Base64.bytes(value, .exact) else { return nil }
        let size = frame.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        // Rows and lengths add little to the texts.
        guard size <= UInt64(2 * maximumBytes) else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { room, count in
            count = frame.withUnsafeBytes { ZSTD_decompress(room.baseAddress, room.count, $0.baseAddress, $0.count) }
            if ZSTD_isError(count) != 0 { count = 0 }
        }
        guard bytes.count == Int(size) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            do throws(Damage) {
                var reader = ByteReader(bytes), out: [String: Texts] = [:]
                for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
                    let name = try reader.readString()
                    var texts = Texts(), row: UInt64 = 0
                    for i in 0..<(try reader.readCount(limit: reader.remaining)) {
                        let distance = try reader.readVarint()
                        guard i == 0 || distance > 0, distance < 1 << 60, row < 1 << 61 else { return nil }
                        row += distance
                        texts.rows.append(Int(row))
                        texts.texts.append(try reader.readLengthPrefixed())
                    }
                    out[name] = texts
                }
                return reader.isAtEnd ? out : nil
            } catch { return nil }
        }
    }

    /// Returns a column with the texts of some rows.
    static func column(_ texts: Texts, _ rows: Range<Int>, into column: inout Column) {
        var low = 0, high = texts.rows.count
        while low < high {
            let middle = (low + high) / 2
            if texts.rows[middle] < rows.lowerBound { low = middle + 1 } else { high = middle }
        }
        var row = rows.lowerBound
        while low < texts.rows.count, texts.rows[low] < rows.upperBound {
            column.appendNulls(texts.rows[low] - row)
            column.append(.string(texts.texts.string(low)))
            row = texts.rows[low] + 1
            low += 1
        }
        column.appendNulls(rows.upperBound - row)
    }
}
