import FirnBytes
import FirnExchange
import FirnParquet

/// Reads a Parquet file. The result must be rows, or an error that names the file.
enum ParquetAttack {
    static func run(_ bytes: [UInt8]) {
        TableAttack.run(bytes) { (rows) throws(FirnError) in
            var options = ParquetOptions(typeName: "rows")
            (options.batchRows, options.staysOffDisk) = (rows, true)
            let reader = try ParquetReader(Input(bytes: bytes, name: "in.parquet"), options: options)
            return (reader, rows < 100 ? reader.table : nil)
        }
    }
}
