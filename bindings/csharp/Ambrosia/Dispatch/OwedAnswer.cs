using Ambrosia.Calls;

namespace Ambrosia;

/// <summary>
/// Waits for a suspended handler, and sends the answer to its caller when the handler has finished; a fork that fails goes to the fork
/// policy.
/// </summary>
/// <param name="caller">Its origin id, not its name: whoever has that name by then may be another, whose calls have the same ids.</param>
internal sealed class OwedAnswer(Source handler, uint caller, ulong call, uint method, SetAsideMessage? kept) : Source
{
    // Fields, so that their names in an image are ours and not the compiler's.
    private readonly Source _handler = handler;
    private readonly uint _caller = caller;
    private readonly ulong _call = call;
    private readonly uint _method = method;
    private readonly SetAsideMessage? _kept = kept;

    internal Source Handler => _handler;

    internal uint Caller => _caller;

    internal ulong Call => _call;

    internal uint Method => _method;

    internal SetAsideMessage? Kept => _kept;

    internal override void Resume() => Scheduler.Current.Session.SendOwed(this);
}
