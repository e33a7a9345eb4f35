/// An array in blocks: an insertion or removal moves the elements of one block only.
struct BlockArray<Element> {
    /// The maximum number of elements of a block.
    static var maximumElements: Int { 1024 }

    private(set) var blocks: [[Element]] = []
    /// The index of the first element of each block, and that element. Searches read only these two arrays to find the block.
    private var starts: [Int] = []
    private var firsts: [Element] = []
    private(set) var count = 0

    init() {}

    init(_ elements: [Element]) {
        count = elements.count
        blocks = BlockArray.cut(elements)
        number(from: 0)
    }

    /// Splits elements into blocks that are three quarters full, which leaves space for insertions.
    private static func cut(_ elements: [Element]) -> [[Element]] {
        let full = maximumElements * 3 / 4
        if elements.count <= maximumElements { return elements.isEmpty ? [] : [elements] }
        return stride(from: 0, to: elements.count, by: full).map { Array(elements[$0..<min($0 + full, elements.count)]) }
    }

    private mutating func number(from block: Int) {
        starts.removeLast(max(0, starts.count - block))
        firsts.removeLast(max(0, firsts.count - block))
        var start = block == 0 ? 0 : starts[block - 1] + blocks[block - 1].count
        for i in block..<max(block, blocks.count) {
            starts.append(start)
            firsts.append(blocks[i][0])
            start += blocks[i].count
        }
    }

    /// Returns the block and the offset of an index. The end index is the end of the last block.
    @inline(__always)
    private func location(_ index: Int) -> (block: Int, offset: Int) {
        var low = 0, high = starts.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return (low, index - (starts.isEmpty ? 0 : starts[low]))
    }

    subscript(index: Int) -> Element {
        get {
            let (block, offset) = location(index)
            return blocks[block][offset]
        }
        set {
            let (block, offset) = location(index)
            blocks[block][offset] = newValue
            if offset == 0 { firsts[block] = newValue }
        }
    }

    func index(block: Int, offset: Int) -> Int { block < starts.count ? starts[block] + offset : count }

    /// All elements, in order.
    var all: [Element] {
        var found: [Element] = []
        found.reserveCapacity(count)
        for block in blocks { found.append(contentsOf: block) }
        return found
    }

    mutating func insert(_ element: Element, at index: Int) {
        let (block, offset) = location(index)
        insert(element, block: block, offset: offset)
    }

    mutating func insert(_ element: Element, block: Int, offset: Int) {
        count += 1
        if blocks.isEmpty {
            blocks = [[element]]
            starts = [0]
            firsts = [element]
            return
        }
        blocks[block].insert(element, at: offset)
        if offset == 0 { firsts[block] = element }
        if blocks[block].count > BlockArray.maximumElements { return split(block) }
        for i in (block + 1)..<max(block + 1, starts.count) { starts[i] &+= 1 }
    }

    private mutating func split(_ block: Int) {
        // Appended elements arrive at the end of the last block. So the last block is not halved: it stays full, and a new block follows
        // it.
        let half = block == blocks.count - 1 ? BlockArray.maximumElements : BlockArray.maximumElements / 2
        var rest: [Element] = []
        rest.reserveCapacity(BlockArray.maximumElements + 1)
        rest.append(contentsOf: blocks[block][half...])
        blocks[block].removeLast(blocks[block].count - half)
        blocks.insert(rest, at: block + 1)
        number(from: block)
    }

    @discardableResult
    mutating func remove(at index: Int) -> Element {
        let (block, offset) = location(index)
        return remove(block: block, offset: offset)
    }

    @discardableResult
    mutating func remove(block: Int, offset: Int) -> Element {
        count -= 1
        let element = blocks[block].remove(at: offset)
        if blocks[block].isEmpty {
            blocks.remove(at: block)
            number(from: block)
        } else {
            if offset == 0 { firsts[block] = blocks[block][0] }
            for i in (block + 1)..<max(block + 1, starts.count) { starts[i] &-= 1 }
        }
        return element
    }

    mutating func append(contentsOf new: [Element]) { replaceSubrange(count..<count, with: new) }

    mutating func replaceSubrange(_ range: Range<Int>, with new: [Element]) {
        if range.count == 0, new.count == 1 { return insert(new[0], at: range.lowerBound) }
        if range.count == 1, new.isEmpty {
            remove(at: range.lowerBound)
            return
        }
        if range.count == 1, new.count == 1 {
            self[range.lowerBound] = new[0]
            return
        }
        if range.isEmpty && new.isEmpty { return }
        guard !blocks.isEmpty else {
            self = BlockArray(new)
            return
        }
        let (first, start) = location(range.lowerBound), (last, end) = location(range.upperBound)
        let whole = Array(blocks[first][..<start]) + new + blocks[last][end...]
        blocks.replaceSubrange(first...last, with: BlockArray.cut(whole))
        count += new.count - range.count
        number(from: first)
    }

    func slice(_ range: Range<Int>) -> [Element] {
        var found: [Element] = [], (block, offset) = location(range.lowerBound)
        found.reserveCapacity(range.count)
        while found.count < range.count {
            found.append(contentsOf: blocks[block][offset..<min(blocks[block].count, offset + range.count - found.count)])
            block += 1
            offset = 0
        }
        return found
    }

    /// Returns the position of the first element for which `isBefore` is false, which is where an equal element is inserted. The array must
    /// be sorted.
    @inline(__always)
    func search(_ isBefore: (Element) -> Bool) -> (block: Int, offset: Int) {
        var low = 0, high = blocks.count
        firsts.withUnsafeBufferPointer { firsts in
            while low < high {
                let middle = (low + high) / 2
                if isBefore(firsts[middle]) { low = middle + 1 } else { high = middle }
            }
        }
        // Block `low` is the first that does not begin before the element. So the element's position is the start of that block or within
        // the block before it.
        guard low > 0 else { return (0, 0) }
        let block = low - 1
        var from = 1, to = blocks[block].count
        blocks[block].withUnsafeBufferPointer { elements in
            while from < to {
                let middle = (from + to) / 2
                if isBefore(elements[middle]) { from = middle + 1 } else { to = middle }
            }
        }
        if from == blocks[block].count, low < blocks.count { return (low, 0) }
        return (block, from)
    }
}

extension BlockArray<Int64> {
    /// Returns the same as `search`, without branches that depend on the values.
    func search(word: Int64) -> (block: Int, offset: Int) {
        guard blocks.count > 0 else { return (0, 0) }
        // The last block that begins before the word, or the first block.
        let block = max(0, firsts.withUnsafeBufferPointer { $0.count(before: word) } &- 1)
        let offset = blocks.withUnsafeBufferPointer { $0[block].withUnsafeBufferPointer { $0.count(before: word) } }
        return offset == blocks[block].count && block + 1 < blocks.count ? (block + 1, 0) : (block, offset)
    }
}

extension UnsafeBufferPointer<Int64> {
    /// Returns how many of these ascending words are less than `word`. Each step compares three words and adds up the results: a branch on
    /// each comparison would be mispredicted half the time.
    @inline(__always)
    func count(before word: Int64) -> Int {
        guard let words = baseAddress else { return 0 }
        if count == 0 { return 0 }
        // The result is between `low` and `low` + 2 to the `shift`.
        var shift = Int.bitWidth &- 1 &- count.leadingZeroBitCount
        let rest = count &- 1 &<< shift
        var low = words[rest] < word ? rest : 0
        if shift & 1 == 1 {
            shift &-= 1
            low &+= (words[low &+ 1 &<< shift &- 1] < word ? 1 : 0) &<< shift
        }
        while shift > 0 {
            shift &-= 2
            let step = 1 &<< shift, first = low &+ step &- 1
            let before =
                (words[first] < word ? 1 : 0) &+ (words[first &+ step] < word ? 1 : 0) &+ (words[first &+ 2 &* step] < word ? 1 : 0)
            low &+= before &<< shift
        }
        return low &+ (words[low] < word ? 1 : 0)
    }
}

extension BlockArray: Sendable where Element: Sendable {}
