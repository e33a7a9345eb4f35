#if !canImport(ObjectiveC)
/// Runs `body`. Code for Realm puts its work on background threads into autorelease pools; without Objective-C there is nothing to release, and a realm goes
/// with its last reference.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif
