import Testing

@testable import FirnParquet

@Suite struct ParquetTests {}
