/// The types of a file. Firn itself has the name only within `Realm`.
public typealias Schema = Realm.Schema
