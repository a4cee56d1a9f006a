using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Divergence;

/// <summary>
/// The calls of this instance as its receivers' logs hold them, found through the catalog; those to itself are in its own log. What cannot
/// be read is said once. One thread.
/// </summary>
/// <param name="directoryOf">Where an instance's log is; null: nobody knows.</param>
/// <param name="uuidOf">The receiver that was called under this name, as the own log has it; null: none has taken anything.</param>
internal sealed class CallHistory(
    IFileSystem files, InstanceIdentity identity, Func<InstanceId, string?> directoryOf, Func<InstanceId, Guid?> uuidOf,
    ILogger logger) : IDisposable
{
    private readonly Dictionary<InstanceId, ReceivedCalls?> _opened = [];
    private readonly InstanceId _self = new(identity.Name, identity.Shard);

    /// <summary>What this receiver has; null: it is not known.</summary>
    public ReceivedCalls? Of(InstanceId receiver)
    {
        if (_opened.TryGetValue(receiver, out ReceivedCalls? calls)) return calls;
        _opened[receiver] = calls = Open(receiver, out string why);
        if (calls is null) logger.CallHistoryUnknown(receiver, why);
        return calls;
    }

    public void Dispose()
    {
        foreach (ReceivedCalls? calls in _opened.Values) calls?.Dispose();
        _opened.Clear();
    }

    private ReceivedCalls? Open(InstanceId receiver, out string why)
    {
        why = "nothing was taken there yet";
        if ((receiver == _self ? identity.Uuid : uuidOf(receiver)) is not { } uuid) return null;
        why = "the catalog does not know where it is";
        return directoryOf(receiver) is { } directory
            ? ReceivedCalls.TryOpen(files, directory, receiver, uuid, _self, identity.Uuid, out why) : null;
    }
}
