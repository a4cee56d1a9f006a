using Ambrosia.Coordinator.Replay;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What is said of policies ahead is what the log holds behind the place, from every place.</summary>
public sealed class PolicyOutlookTests : IDisposable
{
    private readonly OpenedLog _log = new(options: OpenedLog.Small);
    private readonly PolicyLookahead _outlook;

    public PolicyOutlookTests() => _outlook = new PolicyLookahead(_log.NewReader);

    /// <summary>Appends a Policy record in a page of its own.</summary>
    private Lsn Append(ForkPolicy forks)
    {
        Lsn page = _log.Writer.Tail;
        _log.Append(PolicyRecord.Default with { Forks = forks });
        _log.Commit();
        return page + PageHeader.Bytes;
    }

    private PolicyAhead? Ahead(ForkPolicy inForce)
    {
        _outlook.Begin(PolicyRecord.Default with { Forks = inForce }, Lsn.Zero, Lsn.Zero, _log.Writer.Durable);
        return _outlook.Take();
    }

    [Fact]
    public void Begin_UnderContinue_LooksNowhere()
    {
        Append(ForkPolicy.Stop);

        Assert.Null(Ahead(ForkPolicy.Continue));
    }

    [Fact]
    public void Begin_UnderStop_SaysChangesUpToTheFirstContinue()
    {
        Append(ForkPolicy.Stop);
        Lsn quarantine = Append(ForkPolicy.Quarantine);
        Append(ForkPolicy.Quarantine);
        Lsn stop = Append(ForkPolicy.Stop), go = Append(ForkPolicy.Continue);
        Append(ForkPolicy.Stop);

        Assert.Equal(new PolicyAhead([new(quarantine, ForkPolicy.Quarantine), new(stop, ForkPolicy.Stop), new(go, ForkPolicy.Continue)]),
            Ahead(ForkPolicy.Stop));
        Assert.Null(_outlook.Take()); // once
    }

    [Fact]
    public void Begin_WithNothingElseAhead_SaysNothing()
    {
        Append(ForkPolicy.Stop);

        Assert.Null(Ahead(ForkPolicy.Stop));
    }

    /// <summary>A change that the last look has covered is not looked up again; one behind a continue is.</summary>
    [Fact]
    public void Meet_PolicyBehindWhatWasSaid_LooksAgain()
    {
        Lsn quarantine = Append(ForkPolicy.Quarantine), go = Append(ForkPolicy.Continue), stop = Append(ForkPolicy.Stop),
            last = Append(ForkPolicy.Continue);
        Assert.Equal(2, Ahead(ForkPolicy.Stop)!.Changes.Count);

        Meet(ForkPolicy.Quarantine, quarantine);
        Assert.Null(_outlook.Take());
        Meet(ForkPolicy.Continue, go);
        Assert.Null(_outlook.Take());
        Meet(ForkPolicy.Stop, stop);
        Assert.Equal(new PolicyAhead([new(last, ForkPolicy.Continue)]), _outlook.Take());
    }

    private void Meet(ForkPolicy forks, Lsn record) =>
        _outlook.Meet(PolicyRecord.Default with { Forks = forks }, new Lsn(record.Value - PageHeader.Bytes), record,
            _log.Writer.Durable);

    public void Dispose() => _log.Dispose();
}
