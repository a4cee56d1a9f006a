// Queries of callers outside (protocol P5.18): executed between records, out of the state as the log has made it, and in no log themselves.
// A query changes nothing: what handlers do with effect is refused while it runs, and a change of the state, which nothing can refuse, is
// found by comparing images, and ends the app, since its state is no longer what the log says. Thread: the scheduler's, between records.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class Queries(ImmortalRuntime runtime, QueryChecks checks)
{
    private readonly ArrayBufferWriter<byte> answer = new(256);
    private bool isAnswered;

    /// <summary>Queries that were held against the state.</summary>
    internal long Checked { get; private set; }

    /// <param name="payload">Of the frame.</param>
    /// <param name="executed">Every record below is executed, and none behind.</param>
    /// <exception cref="AppFailed">It has changed the state; the caller has been told.</exception>
    internal void Answer(ReadOnlyMemory<byte> payload, Lsn executed)
    {
        QueryFrame query = QueryFrame.Read(payload.Span, Frames.MessageBytesMaxLimit);
        Immortal immortal = runtime.Started();
        (long Length, ulong Hash)? before = checks.Wants(query.Method) ? Image() : null;
        QueryStatus status = Run(immortal, query, payload) is { } failure ? Failed(failure) : QueryStatus.Value;
        bool hasChanged = before is not null && Image() != before; // an image that cannot be made any more is another one, too
        if (hasChanged) status = Failed(new QueryChangedStateException(NameOf(query.Method)));
        Send(query.Query, status, Lsn.Max(query.Position, executed)); // all below it was given, so there is nothing between
        if (hasChanged) throw Changed(query.Method);
    }

    /// <summary>The value, encoded; by generated code.</summary>
    internal void Take(ReadOnlySpan<byte> value)
    {
        runtime.Outbound.CheckMessage(value.Length);
        answer.ResetWrittenCount();
        answer.Write(value);
        isAnswered = true;
    }

    /// <summary>The refusal of what only handlers do.</summary>
    internal static InvalidOperationException Refusal(string what) =>
        new($"A query {what}: it is in no log, so it reads and answers, and nothing else. Make the method a handler: without [Query] it is logged, and may do that.");

    /// <summary>Null: it has its value.</summary>
    private Exception? Run(Immortal immortal, in QueryFrame query, ReadOnlyMemory<byte> payload)
    {
        isAnswered = false;
        runtime.Scheduler.EnterQuery();
        try
        {
            var message = new IncomingMessage(runtime, origin: 0, payload)
            {
                IsQuery = true, Method = query.Method, Arguments = query.Arguments
            };
            immortal.TakeQuery(ref message);
            return isAnswered ? null : new InvalidOperationException($"{NameOf(query.Method)} gave no value.");
        }
        catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
        {
            return e;
        }
        finally
        {
            runtime.Scheduler.ExitQuery();
        }
    }

    private QueryStatus Failed(Exception failure)
    {
        answer.ResetWrittenCount();
        Failures.Write(answer, failure);
        return QueryStatus.Failure;
    }

    private void Send(ulong query, QueryStatus status, Lsn executed)
    {
        var frame = new ArrayBufferWriter<byte>(QueryAnswerFrame.HeadBytes + answer.WrittenCount);
        new QueryAnswerFrame(query, status, executed, answer.WrittenSpan).Write(frame);
        runtime.Outbound.Write(FrameType.QueryAnswer, frame.WrittenSpan);
    }

    /// <summary>Null: something of the state cannot be written at the moment, so there is nothing to compare.</summary>
    private (long Length, ulong Hash)? Image()
    {
        try
        {
            ReadOnlyMemory<byte> image = StateImage.Write(runtime);
            Checked++;
            return (image.Length, ChannelHash.Append(0, image.Span));
        }
        catch (NotWritableException)
        {
            return null;
        }
    }

    private AppFailed Changed(uint method) => new(
        $"The query {NameOf(method)} has changed the state of this replica, which is not what the log says any more",
        new InvalidOperationException(
            "a query must read only. Make the method a handler (without [Query] it is logged), or mark what is only kept at hand [NotState]; AMBROSIA_CHECK_QUERIES=always finds such queries at their first call"));

    private string NameOf(uint method) => MethodNames.Of(runtime.Immortal!.GetType(), method);
}
