using System.Buffers;
using System.Diagnostics;
using System.Numerics;
using System.Reflection;
using Ambrosia.Calls;
using Ambrosia.Failures;
using Ambrosia.Immortals;
using Ambrosia.Messages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;
using Ambrosia.Quarantine;

namespace Ambrosia.Queries;

/// <summary>
/// Executes queries of clients (protocol P5.18) between records, on the state as the log has made it; they are in no log themselves. What
/// handlers do with effect is refused while a query runs. A change of the state, which nothing can refuse, is found by comparing images,
/// and ends the app, since its state is no longer what the log says. Thread: the scheduler's, between records.
/// </summary>
internal sealed class QueryExecutor(
    ImmortalHost host, MessageSender sender, PeerTable peers, ForkFailures failures, QueryChecks checks,
    Func<(long Length, ulong Hash)> writeImage) : IReplies
{
    private readonly ArrayBufferWriter<byte> _answer = new(256);
    private bool _isAnswered;

    /// <summary>The number of images that were made to check queries.</summary>
    internal long Checked { get; private set; }

    /// <param name="payload">Of the frame.</param>
    /// <param name="executed">Every record below is executed, and none behind.</param>
    /// <exception cref="AppFailed">It has changed the state; the caller has been told.</exception>
    internal void Answer(ReadOnlySpan<byte> payload, Lsn executed)
    {
        QueryFrame query = QueryFrame.Read(payload, SizeLimits.MessageBytesMaxLimit);
        Immortal immortal = host.Started();
        (long Length, ulong Hash)? before = checks.Wants(query.Method) ? Image() : null;
        QueryStatus status = Run(immortal, query) is { } failure ? Failed(query.Method, failure) : QueryStatus.Value;
        bool hasChanged = before is not null && Image() != before; // an image that cannot be made any more is another one, too
        if (hasChanged) status = Failed(query.Method, new QueryChangedStateException(host.NameOf(query.Method), query.Method));
        Send(query.Query, status, Lsn.Max(query.Position, executed)); // all below it was given, so there is nothing between
        if (hasChanged) throw Changed(query.Method);
    }

    string IReplies.TypeName => host.TypeName;

    OutgoingMessage IReplies.Begin(scoped in IncomingMessage message) => new(ScratchBuffer.Begin());

    void IReplies.Send(OutgoingMessage result)
    {
        ReadOnlySpan<byte> value = result.Aside!.Written;
        sender.Outbound.CheckMessage(value.Length);
        _answer.ResetWrittenCount();
        _answer.Write(value);
        _isAnswered = true;
    }

    /// <summary>Refuses a query that waits: whatever a query awaits is refused.</summary>
    void IReplies.SendLater(Source handler, in IncomingMessage message) =>
        throw handler.Error ?? Scheduler.QueryRefusal("waits");

    /// <summary>Runs a query. Returns its failure; null: it has its value.</summary>
    private Exception? Run(Immortal immortal, in QueryFrame query)
    {
        _isAnswered = false;
        sender.Scheduler.EnterQuery();
        var message = new IncomingMessage(this, peers, origin: 0)
        {
            IsFromOutside = true, Method = query.Method, Arguments = query.Arguments
        };
        try
        {
            immortal.TakeQuery(ref message);
            return _isAnswered ? null : new BadResultException(query.Method, null);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            return message.FailureOf(e);
        }
        finally
        {
            sender.Scheduler.ExitQuery();
        }
    }

    private QueryStatus Failed(uint method, Exception failure)
    {
        FailureInfo sent = FailureWording.Describe(failure);
        failures.Tell(method, failure, sent);
        _answer.ResetWrittenCount();
        FailureCodec.Write(_answer, sent);
        return QueryStatus.Failure;
    }

    private void Send(ulong query, QueryStatus status, Lsn executed)
    {
        var frame = new ArrayBufferWriter<byte>(QueryAnswerFrame.HeadBytes + _answer.WrittenCount);
        new QueryAnswerFrame(query, status, executed, _answer.WrittenSpan).Write(frame);
        sender.Outbound.Write(FrameType.QueryAnswer, frame.WrittenSpan);
    }

    /// <summary>
    /// Returns the length and hash of the present image. Null: something of the state cannot be written at the moment, so there is nothing
    /// to compare.
    /// </summary>
    private (long Length, ulong Hash)? Image()
    {
        try
        {
            (long Length, ulong Hash) image = writeImage();
            Checked++;
            return image;
        }
        catch (NotWritableException)
        {
            return null;
        }
    }

    private AppFailed Changed(uint method) => new(
        $"The query {host.NameOf(method)} has changed the state of this replica, which is not what the log says any more",
        new InvalidOperationException(
            "a query must read only. Make the method a handler (without [Query] it is logged), or mark what is only kept at hand [NotState]; AMBROSIA_CHECK_QUERIES=always finds such queries at their first call"));
}

/// <summary>
/// Decides which queries are held against the state. A check writes two images, so what it costs grows with the state: a rarely asked query
/// is checked almost always, a frequent one seldom.
/// </summary>
internal sealed class QueryChecks(QueryChecking? chosen, Assembly app)
{
    /// <summary>The limit of methods that are counted; ids come from callers, and no contract has so many.</summary>
    private const int MethodsMax = 4096;

    private readonly QueryChecking _checking = chosen
        ?? (app.GetCustomAttribute<DebuggableAttribute>() is { IsJITOptimizerDisabled: true } ? QueryChecking.Always
            : QueryChecking.Sampled);
    private readonly Dictionary<uint, ulong> _asked = [];

    /// <summary>The number of methods that are counted now.</summary>
    internal int Methods => _asked.Count;

    /// <summary>Counts a query of this method that is about to run. True: it is to be checked.</summary>
    internal bool Wants(uint method)
    {
        if (_checking != QueryChecking.Sampled) return _checking == QueryChecking.Always;
        if (_asked.Count == MethodsMax && !_asked.ContainsKey(method)) return false;
        ulong count = _asked.GetValueOrDefault(method) + 1;
        _asked[method] = count;
        return BitOperations.IsPow2(count);
    }

    /// <summary>Reads what the environment says; null: nothing.</summary>
    /// <exception cref="FormatException">It is none of the words.</exception>
    internal static QueryChecking? Parse(string name, string? text) => text switch
    {
        null or "" => null,
        "always" => QueryChecking.Always,
        "sampled" => QueryChecking.Sampled,
        "never" => QueryChecking.Never,
        _ => throw new FormatException($"{name} is '{text}', not always, sampled or never"),
    };
}
