using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The calls of this instance as its receivers' logs hold them, found through the catalog; those to itself are in its own log. What cannot
/// be read is said once. One thread.
/// </summary>
/// <param name="directoryOf">Where an instance's log is; null: nobody knows.</param>
/// <param name="uuidOf">The receiver that was called under this name, as the own log has it; null: none has taken anything.</param>
internal sealed class History(
    IFileSystem files, InstanceIdentity identity, Func<InstanceId, string?> directoryOf, Func<InstanceId, Guid?> uuidOf,
    Action<string> say) : IDisposable
{
    private readonly Dictionary<InstanceId, ReceivedCalls?> opened = [];
    private readonly InstanceId self = new(identity.Name, identity.Shard);

    /// <summary>What this receiver has; null: it is not known.</summary>
    public ReceivedCalls? Of(InstanceId receiver)
    {
        if (opened.TryGetValue(receiver, out ReceivedCalls? calls)) return calls;
        opened[receiver] = calls = Open(receiver, out string why);
        if (calls is null) say($"divergence: what the log of {receiver} has is not known: {why}");
        return calls;
    }

    public void Dispose()
    {
        foreach (ReceivedCalls? calls in opened.Values) calls?.Dispose();
        opened.Clear();
    }

    private ReceivedCalls? Open(InstanceId receiver, out string why)
    {
        why = "nothing was taken there yet";
        if ((receiver == self ? identity.Uuid : uuidOf(receiver)) is not { } uuid) return null;
        why = "the catalog does not know where it is";
        return directoryOf(receiver) is { } directory
            ? ReceivedCalls.TryOpen(files, directory, receiver, uuid, self, identity.Uuid, out why) : null;
    }
}
