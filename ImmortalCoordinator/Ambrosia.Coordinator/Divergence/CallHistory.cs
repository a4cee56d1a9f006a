using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Divergence;

/// <summary>
/// Finds the calls of this instance in its receivers' logs; those to itself are in its own log. What cannot be read is said once. One
/// thread at a time.
/// </summary>
public sealed class CallHistory : IDisposable
{
    /// <summary>What is read ahead takes so much memory, for all receivers together.</summary>
    private const long AheadBytesMax = 64 << 20;

    private readonly IFileSystem _files;
    private readonly InstanceIdentity _identity;
    private readonly Func<InstanceId, string?> _directoryOf;
    private readonly Func<InstanceId, Guid?> _uuidOf;
    private readonly ILogger _logger;
    private readonly Dictionary<InstanceId, ReceivedCalls?> _opened = [];
    private readonly InstanceId _self;

    /// <param name="directoryOf">Where an instance's log is; null: nobody knows.</param>
    /// <param name="uuidOf">
    /// The receiver that was called under this name, as the own log has it; null: it does not say it so far, and the log there has the
    /// calls of this instance or none.
    /// </param>
    internal CallHistory(
        IFileSystem files, InstanceIdentity identity, Func<InstanceId, string?> directoryOf, Func<InstanceId, Guid?> uuidOf, ILogger logger)
    {
        (_files, _identity, _directoryOf, _uuidOf, _logger) = (files, identity, directoryOf, uuidOf, logger);
        _self = new InstanceId(identity.Name, identity.Shard);
    }

    /// <summary>
    /// Finds the call of this number, whole as it stands in its run; false: it is not known. For each receiver numbers are asked for in
    /// ascending order.
    /// </summary>
    /// <param name="cause">The records of the own log that made the first and the last call of its run; null: it does not say it.</param>
    /// <param name="within">It is looked for in so many bytes from the beginning of the receiver's log; null: up to its end.</param>
    public bool TryFind(
        InstanceId receiver, ulong number, out MessageKind kind, out ReadOnlySpan<byte> message, out RunCause? cause, ulong? within = null)
    {
        kind = default;
        message = default;
        cause = null;
        if (Of(receiver) is not { } calls || !calls.TryFind(number, out kind, out message, within)) return false;
        cause = calls.Cause;
        return true;
    }

    /// <summary>
    /// Reads so many bytes from the beginning of each log that was asked for already, as far as there is memory for what it finds. So it
    /// can be done beside something else, and is there when it is asked for.
    /// </summary>
    public void ReadAhead(ulong within)
    {
        foreach (ReceivedCalls? calls in _opened.Values) calls?.ReadAhead(within, AheadBytesMax / _opened.Count);
    }

    /// <summary>Goes on where logs ended when they were read: what they have become longer by since is found from now on.</summary>
    public void GoOn()
    {
        foreach (ReceivedCalls? calls in _opened.Values) calls?.GoOn();
    }

    /// <summary>What this receiver has; null: it is not known.</summary>
    internal ReceivedCalls? Of(InstanceId receiver)
    {
        if (_opened.TryGetValue(receiver, out ReceivedCalls? calls)) return calls;
        Guid? uuid = receiver == _self ? _identity.Uuid : _uuidOf(receiver);
        string? directory = _directoryOf(receiver);
        if (uuid is null && directory is null) return null; // nothing was taken there yet
        string why = "the catalog does not know where it is";
        if (directory is not null)
            calls = ReceivedCalls.TryOpen(_files, directory, receiver, uuid, _self, _identity.Uuid, out why);
        _opened[receiver] = calls;
        if (calls is null) _logger.CallHistoryUnknown(receiver, why);
        return calls;
    }

    public void Dispose()
    {
        foreach (ReceivedCalls? calls in _opened.Values) calls?.Dispose();
        _opened.Clear();
    }
}
