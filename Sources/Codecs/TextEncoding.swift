/// Encodings of text streams: the first byte of every stream, constant for ever (numbers use other values).
enum TextEncoding: UInt8 {
    /// One value for all rows.
    case constant = 0x60
    /// Codes into sorted values.
    case dictionary = 0x61
    /// zstd pages.
    case pages = 0x62
    /// Codes of 12 bits into a table of tokens.
    case tokens = 0x63
    /// Lengths and bytes as they are.
    case raw = 0x64
}
