using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>Makes and takes connections to peers: listens, looks names up in the catalog, dials on short-lived threads.</summary>
internal sealed class LinkPump(Coordinator coordinator, ICatalog catalog, LinkSettings settings, Action<string> say) : IDisposable
{
    /// <summary>
    /// How often it is looked whether an unconnected peer's next call is due; and, while there is none, whether
    /// there is one nobody told of.
    /// </summary>
    private static readonly TimeSpan lookEvery = TimeSpan.FromMilliseconds(20), rest = TimeSpan.FromSeconds(1);

    private readonly Parker parker = new();
    private LinkListener? listener;
    private int started, accepting;
    private volatile bool stopped, asked;

    /// <summary>Address and port that peers reach; after <see cref="Listen"/>.</summary>
    public string Address { get; private set; } = "";

    /// <param name="advertised">What peers dial; null: what is listened on.</param>
    public void Listen(string address, string? advertised)
    {
        listener = new LinkListener(address, settings, Accept, say);
        Address = advertised ?? listener.BoundAddress;
    }

    /// <summary>
    /// Lets callers in, and peers as soon as this replica is primary; who came earlier was queued by the system. The first call counts.
    /// </summary>
    public void Accept()
    {
        if (Interlocked.Exchange(ref accepting, 1) == 0) listener!.Start();
    }

    /// <summary>The same, and dials out. Every session of the app calls it, the first counts.</summary>
    public void Start()
    {
        Accept();
        if (Interlocked.Exchange(ref started, 1) != 0) return;
        new Thread(Loop) { Name = "dial", IsBackground = true }.Start();
    }

    public void Wake()
    {
        asked = true;
        parker.Wake();
    }

    private void Accept(LinkConnection connection) =>
        connection.Run(new ArrivedLink(NewLink(connection, null), () => NewCaller(connection)));

    private void Run(LinkConnection connection, InstanceId expected)
    {
        if (NewLink(connection, expected) is { } link) connection.Run(link, expected.ToString());
        else connection.Close("this instance is not primary yet");
    }

    private PeerLink? NewLink(LinkConnection connection, InstanceId? expected)
    {
        PeerLink? link = coordinator.NewLink(expected, connection.Seed, connection.RemoteEndPoint.ToString());
        if (link is null) return null;
        link.CertifiedNames = connection.CertifiedNames;
        link.Begun = connection.Begun;
        link.Wake = connection.Nudge;
        link.Close = connection.Close;
        link.CloseAfterSending = connection.CloseAfterSending;
        return link;
    }

    private ClientSession NewCaller(LinkConnection connection)
    {
        ClientSession caller = coordinator.NewCaller(connection.Seed, connection.RemoteEndPoint.ToString());
        caller.CertifiedNames = connection.CertifiedNames;
        caller.Wake = connection.Nudge;
        caller.Close = connection.Close;
        return caller;
    }

    private void Loop()
    {
        while (!stopped)
        {
            parker.Park(() => asked || stopped, coordinator.HasPeersToDial ? lookEvery : rest);
            asked = false;
            foreach (InstanceId peer in coordinator.PeersToDial())
                new Thread(() => Dial(peer)) { Name = $"dial {peer}", IsBackground = true }.Start();
        }
    }

    private void Dial(InstanceId peer)
    {
        long begun = settings.Time.GetTimestamp();
        (DialTrouble Trouble, string Line)? failure = null;
        try
        {
            ReplicaEntry? primary = catalog.Find(peer) is { } entry
                ? entry.Replicas.FirstOrDefault(r => r.Role == "primary" && r.Epoch == entry.Epoch) : null;
            if (primary is null) failure = (DialTrouble.NoAddress, $"{peer} is not in the catalog: calls to it are kept until it appears");
            else Run(LinkDialler.Dial(primary.Address, settings, peer: peer.Name), peer);
        }
        catch (Exception e)
            when (e is LinkUnreachableException or LinkAddressException or ProtocolViolation or IOException or LinkCertificateException)
        {
            failure = (DialTrouble.NoAnswer, $"{peer} cannot be reached: {e.Message}");
        }
        if (coordinator.Dialled(peer, settings.Time.GetElapsedTime(begun), failure?.Trouble)) say(failure!.Value.Line);
    }

    public void Dispose()
    {
        stopped = true;
        parker.Wake();
        listener?.Dispose();
    }
}
