using Ambrosia.Calls;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;

namespace Ambrosia.Testing;

/// <summary>
/// Keeps what an immortal sends in a unit test, in its order. Messages are encoded and decoded on their way, so a test sees copies, as the
/// instance that is called would. Thread: whichever the test runs on.
/// </summary>
internal sealed class CallRecorder(Scheduler scheduler) : ICallRecorder
{
    private readonly List<RecordedCall> _calls = [];

    /// <summary>The key of the message that is being encoded; null: it has none.</summary>
    private string? _key;

    internal IReadOnlyList<RecordedCall> Calls => _calls;

    void ICallRecorder.Begin(ReadOnlySpan<byte> key)
    {
        scheduler.EnterTest();
        _key = key.IsEmpty ? null : Utf8Text.Shown(key);
    }

    void ICallRecorder.Record(
        ImmortalProxy proxy, MessageKind kind, uint method, ReadOnlySpan<byte> arguments, IPendingCall? pending)
    {
        _calls.Add(new RecordedCall(scheduler, proxy, proxy.Described(method, arguments), pending)
        {
            Kind = kind switch
            {
                MessageKind.Call => RecordedKind.Call,
                MessageKind.Impulse => RecordedKind.Impulse,
                _ => RecordedKind.Fork,
            },
            Key = _key,
        });
    }

    /// <summary>Forgets what was recorded. Calls that are awaited can still be answered by whoever holds them.</summary>
    internal void Clear() => _calls.Clear();
}
