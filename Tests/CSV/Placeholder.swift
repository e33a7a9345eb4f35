import Testing

@Suite struct Placeholder {
}
