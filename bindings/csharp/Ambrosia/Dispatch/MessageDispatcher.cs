using Ambrosia.Calls;
using Ambrosia.Failures;
using Ambrosia.Immortals;
using Ambrosia.Messages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Quarantine;

namespace Ambrosia.Dispatch;

/// <summary>
/// Gives the forks, calls and impulses in the runs of the log to their handlers. Behind each message it runs what became ready by it.
/// Thread: the scheduler's, inside a record.
/// </summary>
internal sealed class MessageDispatcher(
    ImmortalHost host, Scheduler scheduler, PeerTable peers, AnswerSender answers, ForkFailures failures)
{
    /// <summary>Executes a run: its messages in order, and after each what became ready by it.</summary>
    internal void Execute(RunView run, Lsn lsn)
    {
        Immortal immortal = host.Started();
        Scheduler ready = scheduler; // a local, since the loop asks it for each message
        var reader = new MessageReader(run);
        var message = new IncomingMessage(answers, peers, run.Header.Peer) { Kind = run.Header.Kind };
        bool isCall = run.Header.Kind == MessageKind.Call, isHandling = false;
        uint count = run.First;
        // The guard stands around the loop, not in it: to enter one for each message costs more than most handlers.
        for (bool isAny = true; isAny;)
        {
            try
            {
                while (!ready.HasReady)
                {
                    isAny = reader.Next();
                    if (!isAny) break;
                    ready.MessageIndex = count;
                    message.Place = new MessagePlace(lsn, count++);
                    message.Method = reader.Method;
                    if (isCall) message.CallId = CheckedCall(reader.CallId);
                    message.Arguments = reader.Arguments;
                    isHandling = true;
                    immortal.Take(ref message);
                    isHandling = false;
                }
            }
            catch (Exception e) when (isHandling && HandlerFailure.Is(e))
            {
                isHandling = false;
                answers.Fail(message.FailureOf(e), message);
            }
            ready.Drain();
        }
        IncomingMessage.CheckCount(run, count);
    }

    /// <summary>Runs one message by itself.</summary>
    private void Run(Immortal immortal, ref IncomingMessage message)
    {
        try
        {
            immortal.Take(ref message);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            answers.Fail(message.FailureOf(e), message);
        }
        scheduler.Drain();
    }

    /// <summary>Executes a Quarantine record: what it says is done here, at its place in the log.</summary>
    internal void Take(QuarantineRecord record) => failures.Take(record, RunAgain);

    private void RunAgain(SetAsideMessage kept)
    {
        var message = new IncomingMessage(answers, peers, kept.Origin)
        {
            Kind = kept.Kind, Place = kept.Place, Tries = kept.Tries, Method = kept.Method, Arguments = kept.Arguments,
        };
        Run(host.Started(), ref message);
    }

    private static ulong CheckedCall(ulong call) => call != 0 ? call : throw new ProtocolViolation("P3.4", "a call with call id 0");
}
