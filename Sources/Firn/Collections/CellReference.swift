/// The cell of a list or set: known from the beginning, or found when it is first used if the property is declared without `@Persisted`, or
/// none if the collection is unmanaged.
struct CellReference {
    private var held: CollectionCell?
    /// The same cell, used without reference counting: cells are referenced weakly, which makes counting slow.
    private var heldUncounted: Unmanaged<CollectionCell>?
    /// The property of a managed object that is declared without `@Persisted`.
    private var property: RowProperty?

    /// No cell, for an unmanaged collection.
    init() {}

    init(_ cell: CollectionCell) { hold(cell) }

    /// The cell of a property. That of a frozen object is found now, because any thread can use it.
    init(_ property: RowProperty) {
        self.property = property
        if property.isFrozen { hold(property.cell) }
    }

    /// The cell; nil if the collection is unmanaged.
    var cell: CollectionCell? {
        mutating get {
            if held == nil { find() }
            return held
        }
    }

    /// As `cell`, without counting a reference. The cell exists as long as this value.
    var lent: Unmanaged<CollectionCell>? {
        @inline(__always)
        mutating get {
            if heldUncounted == nil { find() }
            return heldUncounted
        }
    }

    private mutating func find() { if let property { hold(property.cell) } }

    private mutating func hold(_ cell: CollectionCell) { (held, heldUncounted) = (cell, Unmanaged.passUnretained(cell)) }
}
