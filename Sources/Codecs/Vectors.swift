import FirnBytes

/// The number of values in a vector: the maximum that one call of a reader's `decode` writes.
let vectorLength = 1024

/// Returns the number of values of one vector of a stream of `count` values. Traps if there is no such vector.
@inline(__always)
func length(ofVector vector: Int, in count: Int) -> Int {
    let start = vector &* vectorLength
    trap(unless: vector >= 0 && start < count, "vector outside the stream: ask for 0 ..< (count + 1023) / 1024")
    return min(vectorLength, count &- start)
}

/// Returns the first of 0 ..< count that is not below the bound, or `count`. What is below comes first.
@inline(__always)
func lowerBound(_ count: Int, _ isBelow: (Int) -> Bool) -> Int {
    var low = 0, high = count
    while low < high {
        let middle = (low &+ high) >> 1
        if isBelow(middle) { low = middle &+ 1 } else { high = middle }
    }
    return low
}
