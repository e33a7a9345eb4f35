import FirnBytes
import FirnDatabase
import FirnTable

/// Implements every `observe(on: actor)`: passes the target to the actor's realm as a frozen copy and delivers there. Traps if the target
/// cannot be observed. If the task is cancelled before the observation has started, the token is invalid and nothing is delivered.
func observingOnActor<A: Actor, Target: Observed, Change>(
    _ actor: A, _ keyPaths: [String]?, _ target: () throws -> Target, _ change: @escaping (Target, Target.Difference?) -> Change,
    _ block: @Sendable @escaping (isolated A, Change) -> Void, isolation: isolated (any Actor)? = #isolation
) async -> NotificationToken {
    let subscription = Subscription()
    let departure: Carried<Departure<Target>>
    do {
        // Weak, because the token retains this block and the actor usually retains the token.
        departure = Carried(
            try Departure(target(), subscription, keyPaths) { [weak actor] target, difference in
                let notification = Carried(change(target, difference))
                actor?.assumeIsolated { block($0, notification.value) }
            })
    } catch { trap("\(error)") }
    let arrive: (isolated any Actor) -> Void = { departure.value.arrive(on: $0) }
    await withTaskCancellationHandler {
        await run(Carried(arrive), on: actor)
    } onCancel: {
        _ = subscription.end()
    }
    return NotificationToken(subscription)
}

private func run(_ body: Carried<(isolated any Actor) -> Void>, on actor: isolated any Actor) { body.value(actor) }
