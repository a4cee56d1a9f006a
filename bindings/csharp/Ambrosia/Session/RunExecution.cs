// Runs of the log as an immortal executes them: forks, calls and impulses go into handlers, results and failures to whoever waits for them,
// and behind each message runs what became ready by it. Thread: the scheduler's, inside a record.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class RunExecution(ImmortalRuntime runtime)
{
    /// <summary>Executes a run: its messages in order, and after each what became ready by it.</summary>
    internal void Execute(RunView run, ReadOnlyMemory<byte> messages, ulong lsn)
    {
        runtime.ExecutingLsn = lsn;
        InstanceId origin = runtime.Origins[run.Header.Peer];
        switch (run.Header.Kind)
        {
            case MessageKind.Impulse when run.Header.Keyed:
                runtime.Outside.Execute(run, messages);
                break;
            case MessageKind.Fork or MessageKind.Call or MessageKind.Impulse:
                Dispatch(run, messages, run.Header.Peer);
                break;
            case MessageKind.Result:
                TakeResults(run, origin);
                break;
            case MessageKind.Failure:
                TakeFailures(run, origin);
                break;
            default:
                throw new ProtocolViolation("L5.2", $"run of kind {run.Header.Kind} in the log");
        }
    }

    private void Dispatch(RunView run, ReadOnlyMemory<byte> messages, uint origin)
    {
        Immortal immortal = runtime.Started();
        Scheduler scheduler = runtime.Scheduler;
        var lsn = new Lsn(runtime.ExecutingLsn);
        var reader = new MessageReader(run);
        var message = new IncomingMessage(runtime, origin, messages) { Kind = run.Header.Kind };
        bool isCall = run.Header.Kind == MessageKind.Call, isHandling = false;
        uint count = 0;
        // The guard stands around the loop, not in it: to enter one for each message costs more than most handlers.
        for (bool isAny = true; isAny;)
        {
            try
            {
                while (!scheduler.HasReady)
                {
                    isAny = reader.Next();
                    if (!isAny) break;
                    message.Place = new MessagePlace(lsn, count++);
                    message.Method = reader.Method;
                    if (isCall) message.CallId = CheckedCall(reader.CallId);
                    message.Arguments = reader.Arguments;
                    isHandling = true;
                    immortal.Take(ref message);
                    isHandling = false;
                }
            }
            catch (Exception e) when (isHandling && ImmortalRuntime.IsOfHandler(e))
            {
                isHandling = false;
                runtime.Answers.Fail(e, message);
            }
            scheduler.Drain();
        }
        ImmortalRuntime.CheckCount(run.Header, count);
    }

    /// <summary>One message by itself.</summary>
    private void Run(Immortal immortal, ref IncomingMessage message)
    {
        try
        {
            immortal.Take(ref message);
        }
        catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
        {
            runtime.Answers.Fail(e, message);
        }
        runtime.Scheduler.Drain();
    }

    /// <summary>A Quarantine record: what it says is done here, at its place in the log.</summary>
    internal void Take(QuarantineRecord record, ulong lsn)
    {
        runtime.ExecutingLsn = lsn;
        runtime.Forks.Take(record, RunAgain);
    }

    private void RunAgain(SetAsideMessage kept)
    {
        var message = new IncomingMessage(runtime, kept.Origin, kept.Arguments)
        {
            Kind = kept.Kind, Place = kept.Place, Tries = kept.Tries, Method = kept.Method, Arguments = kept.Arguments,
        };
        Run(runtime.Started(), ref message);
    }

    private void TakeResults(RunView run, InstanceId origin)
    {
        var reader = new MessageReader(run);
        uint count = 0;
        while (reader.Next())
        {
            count++;
            if (!runtime.Calls.TryTake(reader.CallId, origin, out IPendingCall pending)) continue;
            try
            {
                pending.Proxy.Take(new ArrivedResult(pending, reader.Arguments));
            }
            catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
            {
                // What came is not what this version of the contract says; who awaits it must learn that, like any other failure.
                pending.Source.Fail(
                    new RemoteCallException(e.GetType().FullName!,
                        $"The result of method 0x{reader.Method:X} could not be decoded: {e.Message}"));
            }
            runtime.Scheduler.Drain();
        }
        ImmortalRuntime.CheckCount(run.Header, count);
    }

    private void TakeFailures(RunView run, InstanceId origin)
    {
        var reader = new MessageReader(run);
        uint index = 0;
        while (reader.Next())
        {
            uint fromEnd = run.Header.Count - 1 - index++;
            if (!runtime.Calls.TryTake(reader.CallId, origin, out IPendingCall pending)) continue;
            pending.Source.Fail(Failures.Read(reader.Arguments, run.Extensions, fromEnd));
            runtime.Scheduler.Drain();
        }
        ImmortalRuntime.CheckCount(run.Header, index);
    }

    /// <summary>
    /// A Forget record: calls that nobody will answer any more fail here, at their place in the log, alike on every replica. What they had
    /// done there nobody can say.
    /// </summary>
    internal void Forget(ForgetRecord record)
    {
        InstanceId peer = runtime.Origins.Forget(record.Origin);
        runtime.Impulses.Forget(peer);
        foreach (IPendingCall pending in runtime.Calls.TakeAll(peer))
        {
            pending.Source.Fail(new RemoteCallException(RemoteCallException.PeerForgotten,
                $"An operator has given up {peer} ({record.Uuid}): its answer will not come, and whether the call took effect there is unknown."));
            runtime.Scheduler.Drain();
        }
    }

    private static ulong CheckedCall(ulong call) => call != 0 ? call : throw new ProtocolViolation("P3.4", "a call with call id 0");
}
