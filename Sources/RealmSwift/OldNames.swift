/// An earlier spelling.
@available(*, deprecated, renamed: "ObjectKeyIdentifiable")
public typealias ObjectKeyIdentifable = ObjectKeyIdentifiable

/// The protocol of enums before `PersistableEnum`.
@available(*, deprecated, renamed: "PersistableEnum")
public typealias RealmEnum = PersistableEnum
