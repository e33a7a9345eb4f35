/// Encodings of text streams. The first byte of every stream, permanent; streams of numbers use other values.
enum TextEncoding: UInt8 {
    /// One value for all rows.
    case constant = 0x60
    /// Codes into sorted values.
    case dictionary = 0x61
    /// zstd pages.
    case pages = 0x62
    /// 12-bit codes into a symbol table.
    case symbols = 0x63
    /// Lengths and uncompressed bytes.
    case raw = 0x64
    /// Bytes coded with the predictions of a model.
    case modelled = 0x65
    /// Symbols, each coded with the frequencies of the symbols that follow the one before.
    case contexts = 0x66
}
