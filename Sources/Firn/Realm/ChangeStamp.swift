/// Counts everything that can change what a realm's reads return. Evaluated results compare the value to find out whether they are current.
struct ChangeStamp {
    /// The number of changes that transactions of the realm have made.
    private(set) var changes: UInt64 = 0
    /// The number of moves to another version, and of beginnings and ends of transactions.
    private var moves: UInt64 = 0

    /// Increases with every change and every move.
    var value: UInt64 { changes &+ moves }

    mutating func noteChange() { changes &+= 1 }
    mutating func noteMove() { moves &+= 1 }
}
