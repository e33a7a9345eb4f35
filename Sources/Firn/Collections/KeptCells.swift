/// The objects of a realm that keep the cells of their collections. `object.numbers.contains(1)` makes a collection that ends with the
/// statement; the object keeps its cell, so that the next statement does not decode all elements again. Only the objects whose collections
/// were read last keep cells, which bounds the memory. The realm refers to the objects weakly because cells refer to the realm.
struct KeptCells {
    static let limit = 16

    private struct Owner { weak var object: ObjectBase? }

    private var owners: [Owner] = []
    private var oldest = 0

    /// Keeps the cell in the object. Another object may lose its cells.
    mutating func keep(_ cell: CollectionCell, in object: ObjectBase) {
        if object._cells.isEmpty {
            let owner = Owner(object: object)
            if owners.count < KeptCells.limit {
                owners.append(owner)
            } else {
                owners[oldest].object?._cells = []
                owners[oldest] = owner
                oldest = (oldest + 1) % KeptCells.limit
            }
        }
        object._cells.append(cell)
    }

    mutating func removeAll() {
        guard !owners.isEmpty else { return }
        for owner in owners { owner.object?._cells = [] }
        self = KeptCells()
    }
}
