// Names that concern synchronization with a server, which Realm no longer has and Firn never had. They exist so that model files compile.

/// A class whose objects Realm sent to a server without storing them.
@available(*, deprecated, message: "there is no synchronization: objects of this class are stored in the file; derive it from Object")
public typealias AsymmetricObject = Object

/// The synchronization of a realm with a server: there is none, so this type has no values.
@available(*, deprecated, message: "there is no synchronization: remove the code that uses it")
public enum SyncConfiguration: Sendable {}

extension Realm.Configuration {
    /// Always nil.
    @available(*, deprecated, message: "there is no synchronization: remove the code that uses it")
    public var syncConfiguration: SyncConfiguration? {
        get { nil }
        // A type without values has no other value than nil.
        set {}
    }
}
