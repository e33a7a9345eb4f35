import FirnTable

/// The levels and values of some rows of a leaf.
struct LeafRows {
    /// The number of levels: of rows, unless the leaf is within a list.
    var count = 0
    /// Empty if all are 0 because nothing is optional or repeated.
    var definitions: [UInt8] = []
    /// Empty if nothing is repeated.
    var repetitions: [UInt8] = []
    /// The values without nulls.
    var values: Column
    /// The values as positions in a sorted dictionary, as long as all were stored as codes and this form is requested; `values` is empty
    /// then.
    var ranks: [UInt32]?
    var dictionary: RankedDictionary?

    /// Replaces the positions in the dictionary by their values.
    mutating func lookUp(_ scratch: LeafScratch) throws(ParquetFault) {
        guard let ranks else { return }
        self.ranks = nil
        guard let dictionary, !ranks.isEmpty else { return }
        try ranks.withUnsafeBufferPointer { (ranks) throws(ParquetFault) in
            guard let base = ranks.baseAddress else { return }
            try DictionaryGather.append(dictionary.values, base, ranks.count, scratch.room, to: &values.text)
        }
        self.dictionary = nil
    }
}
