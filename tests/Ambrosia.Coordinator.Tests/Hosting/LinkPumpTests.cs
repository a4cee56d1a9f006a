using Ambrosia.Coordinator.Hosting;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using CRA.Links;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What becomes of dials that fail, whatever they fail of.</summary>
public sealed class LinkPumpTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly InstanceId s_peer = new("peer");

    /// <summary>Reports of a catalog that may not be read are no bugs of ours, and no reason to end.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Dial_CatalogThatFails_IsAFailedDialWithItsReasonAndIsTriedAgain(bool isForbidden)
    {
        var catalog = new FailingCatalog(
            isForbidden ? new UnauthorizedAccessException("Access to the path is denied.") : new NotSupportedException("no such call"));
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        using var pump = new LinkPump(node.Parts, catalog, new LinkSettings(new byte[32], TimeProvider.System, static _ => { }),
            static (_, _) => { }, NullLogger.Instance, new PumpProgress(node.Time));
        pump.Listen("127.0.0.1:0", null);
        node.Parts.Links.Table.Admit();
        node.Parts.Links.Table.Want(s_peer);
        pump.Start();
        Assert.True(SpinWait.SpinUntil(() =>
        {
            node.Time.Advance(Backoff.Cap);
            return catalog.Asked >= 3 && Lines(node).Length > 0;
        }, s_patience));
        Assert.Equal($"{s_peer} cannot be reached: {catalog.Why.Message}", Assert.Single(Lines(node)));
    }

    private static string[] Lines(Node node) =>
        [.. node.Lines.ToArray().Where(static line => line.Contains("cannot be reached", StringComparison.Ordinal))];

    private sealed class FailingCatalog(Exception why) : ICatalog
    {
        private int _asked;

        public Exception Why { get; } = why;

        public int Asked => Volatile.Read(ref _asked);

        public ReadOnlyMemory<byte> Secret => throw Why;

        public CatalogEntry? Find(InstanceId instance)
        {
            Interlocked.Increment(ref _asked);
            throw Why;
        }

        public PublishResult Publish(CatalogEntry entry) => throw Why;

        public void CheckSecret() => throw Why;

        public void Forget(InstanceId instance) => throw Why;

        public IReadOnlyList<CatalogEntry> All() => throw Why;

        public IReadOnlyDictionary<InstanceId, Epoch> Epochs() => throw Why;
    }
}
