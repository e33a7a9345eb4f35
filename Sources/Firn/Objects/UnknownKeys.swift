import Synchronization

/// The keys of dictionaries for which classes have no property. Realm ignores them, and programs pass dictionaries from JSON with more keys
/// than they store.
enum UnknownKeys {
    private static let noted: Mutex<Set<String>> = Mutex([])
    /// Keys from untrusted text can be endless.
    private static let maximumCount = 1000

    /// Logs the first use of a key, as a warning.
    static func note(_ key: String, of typeName: String) {
        let name = "\(typeName).\(key)"
        let isNew = noted.withLock { $0.count < maximumCount && $0.insert(name).inserted }
        if isNew { Logger.note(.warn, "type \"\(typeName)\" has no property \"\(key)\": the value for it is ignored") }
    }
}
