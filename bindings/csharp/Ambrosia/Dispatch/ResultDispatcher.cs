using Ambrosia.Failures;
using Ambrosia.Messages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;

namespace Ambrosia.Dispatch;

/// <summary>
/// Gives the results and failures in the runs of the log to the calls that wait for them, and fails the calls that nobody will answer any
/// more. Behind each message it runs what became ready by it. Thread: the scheduler's, inside a record.
/// </summary>
internal sealed class ResultDispatcher(MessageSender sender, PeerTable peers)
{
    /// <summary>Executes a run of results from <paramref name="origin"/>. A result for which no call waits is only counted.</summary>
    internal void TakeResults(RunView run, InstanceId origin)
    {
        var reader = new MessageReader(run);
        uint count = run.First;
        while (reader.Next())
        {
            sender.Scheduler.MessageIndex = count++;
            if (!sender.Calls.TryTake(reader.CallId, origin, out IPendingCall pending)) continue;
            try
            {
                pending.Proxy.Take(new ArrivedResult(pending, reader.Arguments));
            }
            catch (Exception e) when (HandlerFailure.Is(e))
            {
                // What came is not what this version of the contract says; who awaits it must learn that, like any other failure.
                FailureInfo failure = ListedFailures.Of(e) ?? ListedFailures.ResultNotDecoded(reader.Method);
                pending.Source.Fail(RemoteCallException.Of(failure, e.ToString()));
            }
            sender.Scheduler.Drain();
        }
        IncomingMessage.CheckCount(run, count);
    }

    /// <summary>Executes a run of failures from <paramref name="origin"/>; stacks stand in the run's extensions (P4.4).</summary>
    internal void TakeFailures(RunView run, InstanceId origin)
    {
        var reader = new MessageReader(run);
        uint index = run.First;
        while (reader.Next())
        {
            sender.Scheduler.MessageIndex = index;
            uint fromEnd = run.Header.Count - 1 - index++;
            if (!sender.Calls.TryTake(reader.CallId, origin, out IPendingCall pending)) continue;
            pending.Source.Fail(FailureOf(pending, FailureCodec.Read(reader.Arguments, run.Extensions, fromEnd)));
            sender.Scheduler.Drain();
        }
        IncomingMessage.CheckCount(run, index);
    }

    /// <summary>Gives the failure as its contract has it. A constructor of the app that throws leaves it as it has come.</summary>
    private static Exception FailureOf(IPendingCall pending, RemoteCallException failure)
    {
        try
        {
            return pending.Proxy.FailureOf(failure);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            return failure;
        }
    }

    /// <summary>
    /// Executes a Forget record: calls that nobody will answer any more fail here, at their place in the log, alike on every replica.
    /// Nobody can say what effect they had there.
    /// </summary>
    internal void Forget(ForgetRecord record)
    {
        InstanceId peer = peers.Forget(record.Origin);
        sender.Impulses.Forget(peer);
        foreach (IPendingCall pending in sender.Calls.TakeAll(peer))
        {
            pending.Source.Fail(RemoteCallException.Of(ListedFailures.PeerForgotten(peer.ToString(), record.Uuid)));
            sender.Scheduler.Drain();
        }
    }
}
