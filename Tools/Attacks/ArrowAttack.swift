import FirnArrow
import FirnBytes
import FirnExchange

/// Reads an Arrow file or stream. The result must be rows, or an error that names the file.
enum ArrowAttack {
    static func run(_ bytes: [UInt8]) {
        TableAttack.run(bytes) { (rows) throws(FirnError) in
            var options = ArrowOptions(typeName: "rows")
            (options.batchRows, options.staysOffDisk) = (rows, true)
            let input = Input(bytes: bytes, name: "in.arrow")
            // A stream is read as from a pipe, and as a file.
            let reader = rows < 100 ? try ArrowReader.spooled(input, options: options) : try ArrowReader.open(input, options: options)
            return (reader, (reader as? ArrowFileReader)?.table)
        }
    }
}
