using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Builds;

/// <summary>
/// Finds out whether an app that has come is of the service whose log it is. Any build of it may execute the log in a view, but one of
/// another service would fail at each message, and show nothing that ever was; and an upgrade with one would fail behind its claim. The
/// thread that reads the app.
/// </summary>
/// <param name="files">They keep what the builds before say of themselves.</param>
internal sealed class ServiceCheck(CoordinatorInputs inputs, ContractFiles files)
{
    /// <summary>So many calls are looked at: an app that knows none of them is another one.</summary>
    private const int CallsMax = 64;

    /// <param name="methods">What the app's build executes; null: it states none.</param>
    /// <param name="checkpoint">The session begins with it; null: with the log.</param>
    /// <exception cref="OtherServiceException">It is of another service.</exception>
    public void Require(AppHello app, BuildMethods? methods, CheckpointHeader? checkpoint)
    {
        var chain = LogChain.Load(inputs.Files, inputs.Options.LogDirectory, inputs.Identity);
        string name = inputs.Identity.Name;
        if (app.Build is { } build && LoggedBuilds.FindNewest(inputs.Location, chain) is { } last && last.Build == build)
        {
            if (last.ContractHash != app.ContractHash)
                throw new OtherServiceException(
                    $"build {build.Short} has executed this log, and the app runs another immortal of it than '{name}': give the command, with its arguments, that '{name}' was run with");
        }
        else if (methods is not null && methods.Ids.Any()
            && FindCalled(chain, checkpoint) is { Count: > 0 } called && !methods.Ids.Any(called.Contains))
            throw new OtherServiceException(
                $"the app is of another service: its build {methods.Build.Short} has none of the methods that the log of '{name}' calls. Give the app of '{name}'");
    }

    /// <summary>
    /// Returns why an app is of another service than the one whose log it is, as far as builds say what they are; null: nothing is wrong.
    /// </summary>
    /// <param name="methods">What the app's build executes; null: it states none.</param>
    /// <param name="isNextVersion">It is to go on as the next version, so that its contract may be another one.</param>
    public string? WhatIsWrong(AppHello app, BuildMethods? methods, bool isNextVersion)
    {
        var chain = LogChain.Load(inputs.Files, inputs.Options.LogDirectory, inputs.Identity);
        // The log may be of the app's version by now, which its replica has yet to read: then there is nothing to refuse.
        if (isNextVersion && LoggedBuilds.FindInForce(inputs.Location, chain) is var (running, version) && app.Build == running
            && version < app.AppVersion)
            return $"it is build {running.Short}, which executes the log as version {version}";
        if (LoggedBuilds.FindNewest(inputs.Location, chain) is not { Build: { } before } last) return null;
        if (app.Build == before)
            return isNextVersion || last.ContractHash == app.ContractHash ? null
                : $"build {before.Short} has executed the log, and the app runs another immortal of it";
        return methods is not null && files.TryReadMethods(before) is { } then && methods.Ids.Any() && then.Ids.Any()
            && !methods.Ids.Intersect(then.Ids).Any()
            ? $"its build {methods.Build.Short} has none of the methods of build {before.Short}, which has executed the log" : null;
    }

    private HashSet<uint> FindCalled(LogChain chain, CheckpointHeader? checkpoint)
    {
        var called = new HashSet<uint>();
        int left = CallsMax;
        var options = new ScanOptions { From = checkpoint?.PageLsn, PreviousHash = checkpoint?.PreviousHash, EndsWithHead = true };
        LoggedRecords.Read(inputs.Location, chain, options, (_, kind, body, _, _) =>
        {
            if (kind == RecordKind.ClientRequest)
            {
                var request = ClientRequestView.Read(body);
                Take(new MessageReader(request.Message, MessageKind.ClientRequest, request.Keyed), called, ref left);
            }
            else if (kind is RecordKind.Run or RecordKind.ImpulseRun && RunView.Read(body) is var run
                && run.Header.Kind is not (MessageKind.Result or MessageKind.Failure)) Take(new MessageReader(run), called, ref left);
            return left > 0;
        });
        return called;
    }

    private static void Take(MessageReader messages, HashSet<uint> called, ref int left)
    {
        for (; left > 0 && messages.Next(); left--) called.Add(messages.Method);
    }
}
