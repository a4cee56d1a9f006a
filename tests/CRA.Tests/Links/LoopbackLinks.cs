using System.Collections.Concurrent;
using System.Security.Cryptography;
using Ambrosia.TestKit;
using CRA.Links;

namespace CRA.Tests;

/// <summary>Owns a listener with what it accepted and logged, and makes connected pairs over loopback.</summary>
internal sealed class LoopbackLinks : IDisposable
{
    public static readonly LinkSettings Settings = new(SecretOf(1), TimeProvider.System, RandomNumberGenerator.Fill);

    private readonly BlockingCollection<LinkConnection> _accepted = [];

    public LoopbackLinks(LinkSettings? settings = null, bool start = true, string listenOn = "127.0.0.1:0", string? advertised = null)
    {
        LinkSettings used = settings ?? Settings;
        Listener = new LinkListener(listenOn, advertised,
            listenOn.StartsWith("127.", StringComparison.Ordinal) ? used : used with { Insecure = true },
            _accepted.Add, EventRecorder.OfTexts(Log.Enqueue));
        if (start) Listener.Start();
    }

    public LinkListener Listener { get; }

    public string Address => Listener.BoundAddress;

    public int Port => int.Parse(Address.AsSpan(Address.LastIndexOf(':') + 1), System.Globalization.CultureInfo.InvariantCulture);

    public ConcurrentQueue<string> Log { get; } = new();

    public static byte[] SecretOf(byte value) => [.. Enumerable.Repeat(value, 32)];

    public LinkConnection Accepted()
    {
        Assert.True(_accepted.TryTake(out LinkConnection? connection, Deadline.Generous), "no connection was accepted");
        return connection;
    }

    public bool HasAccepted => _accepted.Count > 0;

    public (LinkConnection Dialled, LinkConnection Accepted) Pair(LinkSettings? settings = null)
    {
        LinkConnection dialled = LinkDialler.Dial(Address, settings ?? Settings, peer: "other");
        return (dialled, Accepted());
    }

    public string OneLogLine()
    {
        Deadline.Await(() => !Log.IsEmpty, "a log line");
        return Assert.Single(Log);
    }

    public void Dispose()
    {
        Listener.Dispose();
        while (_accepted.TryTake(out LinkConnection? connection)) connection.Dispose();
    }
}
