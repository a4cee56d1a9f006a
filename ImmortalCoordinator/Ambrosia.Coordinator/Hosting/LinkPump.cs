using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using CRA.Catalog;
using CRA.Links;
using CRA.Streams;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Makes and takes connections to peers: it listens, looks names up in the catalog, and dials on short-lived threads. It owns the
/// listener.
/// </summary>
/// <param name="fail">Ends the process.</param>
/// <param name="progress">The thread that dials is here, and those of each connection.</param>
internal sealed class LinkPump(
    Coordinator coordinator, ICatalog catalog, LinkSettings settings, Action<int, string> fail, ILogger logger, PumpProgress progress)
    : IDisposable
{
    /// <summary>
    /// So often it is looked whether an unconnected peer's next call is due; and, while there is none, whether there is one that nobody
    /// told of.
    /// </summary>
    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(20), s_rest = TimeSpan.FromSeconds(1);

    private readonly Parker _parker = new();
    private LinkListener? _listener;
    private int _started, _accepting;
    private volatile bool _stopped, _asked;

    /// <summary>The address and port that peers reach; empty before <see cref="Listen"/>.</summary>
    public string Address => _listener?.Address ?? "";

    /// <summary>Gives the settings of all links of a coordinator that is started with these options.</summary>
    /// <param name="fail">Ends the process; null: the runtime does, after what nobody has named.</param>
    public static LinkSettings SettingsOf(
        CoordinatorOptions options, ICatalog catalog, CertificateFiles? certificates, SharedBytes receiving,
        Action<int, string>? fail = null) =>
        new(catalog.Secret, TimeProvider.System, SystemRandom.Fill)
        {
            Faulted = fail is null ? null : (fault, thread) =>
            {
                (int code, string why) = ExitCodes.Ending(fault, thread);
                fail(code, why);
            },
            Insecure = options.Insecure, Receiving = receiving,
            Certificates = certificates is null ? null : () => certificates.Current,
        };

    /// <param name="advertised">What peers dial; null: what is listened on.</param>
    public void Listen(string address, string? advertised)
    {
        _listener = new LinkListener(address, advertised, settings, Accept, logger);
    }

    /// <summary>
    /// Lets callers in, and peers as soon as this replica is primary; who came earlier was queued by the system. The first call counts.
    /// </summary>
    public void Accept()
    {
        if (Interlocked.Exchange(ref _accepting, 1) == 0) _listener!.Start();
    }

    /// <summary>Does what <see cref="Accept"/> does, and dials out. Every session of the app calls it; the first call counts.</summary>
    public void Start()
    {
        Accept();
        if (Interlocked.Exchange(ref _started, 1) != 0) return;
        PumpThread.Start("dial", Loop, fail);
    }

    public void Wake()
    {
        _asked = true;
        _parker.Wake();
    }

    private void Accept(LinkConnection connection) =>
        connection.Run(Watched(new AcceptedConnection(NewLink(connection, null), () => coordinator.Clients.New(TransportOf(connection)))));

    private void Run(LinkConnection connection, InstanceId expected)
    {
        if (NewLink(connection, expected) is { } link) connection.Run(Watched(link), expected.ToString());
        else connection.Close("this instance is not primary yet");
    }

    private WatchedTraffic Watched(ILinkTraffic traffic) => new(traffic, progress);

    private PeerLink? NewLink(LinkConnection connection, InstanceId? expected) => coordinator.Links.New(expected, TransportOf(connection));

    private static LinkTransport TransportOf(LinkConnection connection) =>
        new(connection.Seed, connection.RemoteEndPoint.ToString())
        {
            CertifiedNames = connection.CertifiedNames, Begun = connection.Begun, Wake = connection.Nudge, Close = connection.Close,
            CloseAfterSending = connection.CloseAfterSending,
        };

    private void Loop()
    {
        PumpWork work = progress.Enter("dial");
        while (!_stopped)
        {
            _parker.Park(() => _asked || _stopped, coordinator.Links.Table.HasAwake ? s_lookEvery : s_rest);
            _asked = false;
            work.Begin();
            foreach (InstanceId peer in coordinator.Links.PeersToDial()) BeginDial(peer);
            foreach (InstanceId peer in coordinator.Links.Table.TakeUntold()) coordinator.Links.Absent.Note(peer, DialFailure.Unlisted, "");
            coordinator.Links.Absent.WriteDue();
            work.End();
        }
    }

    private void BeginDial(InstanceId peer)
    {
        string name = $"dial {peer}";
        if (PumpThread.TryStart(name, () => Dial(peer), fail) is null)
            End(peer, TimeSpan.Zero, DialFailure.NoAnswer, "the system gives out no thread to dial with");
    }

    private void Dial(InstanceId peer)
    {
        long begun = settings.Time.GetTimestamp();
        LinkConnection? connection = TryConnect(peer, out DialFailure? failure, out string why);
        if (connection is not null) Run(connection, peer);
        End(peer, settings.Time.GetElapsedTime(begun), failure, why);
    }

    private void End(InstanceId peer, TimeSpan took, DialFailure? failure, string why)
    {
        if (coordinator.Links.Table.Dialled(peer, took, failure) && failure is { } trouble)
            coordinator.Links.Absent.Note(peer, trouble, why);
    }

    /// <summary>
    /// Looks a peer up and connects to it. Whatever keeps it from that is a reason to dial again later, and never one to end: it lies in
    /// the catalog, in the network, with the peer, or in what the system has left for this process.
    /// </summary>
    private LinkConnection? TryConnect(InstanceId peer, out DialFailure? failure, out string why)
    {
        (failure, why) = (null, "");
        try
        {
            if (PeerCatalog.FindAddress(catalog, peer, out failure) is { } address)
                return LinkDialler.Dial(address, settings, peer: peer.Name);
        }
        catch (Exception e) when (e is not (OutOfMemoryException or LockOrderException))
        {
            (failure, why) = (DialFailure.NoAnswer, e.Message);
        }
        return null;
    }

    public void Dispose()
    {
        _stopped = true;
        _parker.Wake();
        _listener?.Dispose();
    }
}
