/// How much time an encoder may spend for size, and so how much time readers spend on decoding.
package enum Profile: UInt8, Sendable {
    /// No entropy coding: streams decode at several billion values a second.
    case fast = 0
    /// Entropy coding and zstd pages where they save at least 10 %, in full segments usually 22 %.
    case standard = 1
    /// Entropy coding and zstd pages wherever they save at least 1 %.
    case small = 2
    /// As `small`, and models that predict each bit wherever they save at least 3 %: for types of one segment, which a reader can afford to
    /// decode as a whole, half a microsecond a byte. A writer chooses it instead of `small`; users cannot.
    case modelled = 3
    /// As `standard`, and at least 10 % are sufficient in full segments as well: for numbers that are read with those of other columns, several
    /// times as slowly as bit-packed ones in any case. A writer chooses it instead of `standard`; users cannot.
    case derived = 4

    /// Whether size matters more than time.
    var isSmall: Bool { self == .small || self == .modelled }
}
