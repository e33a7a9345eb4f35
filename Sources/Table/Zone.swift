import FirnBytes

/// What is known about a run of values without decoding it. Bounds are inclusive and cover the values that are present.
package struct Zone: Sendable, Equatable {
    package enum Bounds: Sendable, Equatable {
        /// Nothing is known (any, decimals, collections, text of older writers), or no value is present.
        case none
        /// bool, int, link, date (seconds), UUID and object id (first integer).
        case words(Int64, Int64)
        /// float, double. The bounds are never NaN; there are none if a value is NaN.
        case reals(Double, Double)
        /// string, data.
        case text(TextBounds)
    }
    package var mayHaveNulls: Bool
    package var allNull: Bool
    package var bounds: Bounds

    package init(mayHaveNulls: Bool, allNull: Bool, bounds: Bounds) {
        self.mayHaveNulls = mayHaveNulls
        self.allNull = allNull
        self.bounds = bounds
    }
}

extension Zone {
    /// Returns false only if no row of the zone can have the value.
    package func mayHold(_ value: Value) -> Bool {
        if value.isNull { return mayHaveNulls }
        if allNull { return false }
        switch (bounds, value) {
        case (.words(let low, let high), .int(let x)), (.words(let low, let high), .link(let x)): return low <= x && x <= high
        case (.words(let low, let high), .date(let x)): return low <= x.seconds && x.seconds <= high
        case (.words(let low, let high), .uuid(let x)): return low <= Column.pair(uuid: x).0 && Column.pair(uuid: x).0 <= high
        case (.words(let low, let high), .objectID(let x)): return low <= Column.pair(objectID: x).0 && Column.pair(objectID: x).0 <= high
        case (.reals(let low, let high), .double(let x)): return low <= x && x <= high
        case (.reals(let low, let high), .float(let x)): return low <= Double(x) && Double(x) <= high
        case (.text(let bounds), .string(let x)): return bounds.mayHold(Array(x.utf8))
        case (.text(let bounds), .data(let x)): return bounds.mayHold(x)
        default: return true
        }
    }
}
