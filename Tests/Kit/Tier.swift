import Foundation

/// How many cases the tests with many similar cases try. Every run tries some of them; with `FIRN_LONG=1` a run tries all.
package enum Tier {
    package static let isLong = ProcessInfo.processInfo.environment["FIRN_LONG"] != nil

    package static func cases(_ some: Int, of all: Int) -> Int { isLong ? all : some }
}
