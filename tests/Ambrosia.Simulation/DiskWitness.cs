using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Simulation;

/// <summary>
/// What one instance's log holds for good, seen from the disk alone: a page counts when the file that it was written to was flushed
/// afterwards and the fence was looked up after that (log-format L7.2). Knows nothing of what the coordinator believes. Survives every
/// process of the instance. Also knows which process claimed an epoch and wrote its pages.
/// </summary>
internal sealed class DiskWitness(
    InstanceId self, Action<InstanceId, InstanceId, ulong> trimLogged, Action<Oracle, string> broken, Func<Guid, bool> isBuried)
{
    internal readonly record struct Page(Epoch Epoch, Lsn End, (uint Origin, ulong Last)[] Inputs);

    private readonly Dictionary<uint, InstanceId> _peers = [];
    private readonly Dictionary<uint, Guid> _lives = [];
    private readonly Dictionary<InstanceId, ulong> _durable = [];

    /// <summary>Who renamed the fence to that epoch, last; a power loss may undo a claim that nothing rests on yet.</summary>
    private readonly Dictionary<Epoch, string> _claimers = [];

    /// <summary>Claims that no power loss can have undone so far.</summary>
    private readonly HashSet<Epoch> _standing = [];

    /// <summary>Who wrote the first page of that epoch, and into that file.</summary>
    private readonly Dictionary<Epoch, string> _writers = [];
    private readonly Dictionary<string, string> _owners = [];
    private (uint Origin, ulong Last)? _spanning;

    public string Directory => $"/data/{self.Name}";

    /// <summary>Every page below is on disk for good.</summary>
    public Lsn Durable { get; private set; }

    /// <summary>Number of the last call of <paramref name="peer"/> that is on disk for good.</summary>
    public ulong DurableFrom(InstanceId peer) => _durable.GetValueOrDefault(peer);

    /// <summary>Pages that processes wrote: what the judgement of writers rests on.</summary>
    public int PagesWritten { get; private set; }

    /// <summary>Checkpoint marks that processes wrote, and the last of them.</summary>
    public int Marks { get; private set; }

    public CheckpointMarkRecord? LastMark { get; private set; }

    /// <summary>The epoch that this process claimed; null: none, so it is a secondary.</summary>
    public Epoch? EpochOf(string process)
    {
        Epoch? highest = null;
        foreach ((Epoch epoch, string claimer) in _claimers)
            if (claimer == process && !(epoch < highest)) highest = epoch;
        return highest;
    }

    /// <summary>Another process has claimed a later epoch.</summary>
    public bool IsSuperseded(string process) => EpochOf(process) is { } own && _claimers.ContainsKey(own.Next);

    public IFileSystem Watch(IFileSystem files, string process) => new WatchedFiles(files, this, process);

    internal void Claimed(Epoch epoch, string process)
    {
        if (_writers.TryGetValue(epoch, out string? writer))
            broken(Oracle.I11, $"{process} claims epoch {epoch} of {self}, in which {writer} has written");
        if (_standing.Contains(epoch) && _claimers.TryGetValue(epoch, out string? claimer) && claimer != process)
            broken(Oracle.I11, $"{process} claims epoch {epoch} of {self}, which {claimer} has claimed");
        _claimers[epoch] = process;
        _standing.Add(epoch);
        _claimers.Remove(epoch.Next); // a claim that a power loss took back
    }

    /// <summary>The power was lost: a claim whose directory was not flushed may be undone.</summary>
    public void PowerLost() => _standing.Clear();

    internal void Written(string path, in Page page, string process)
    {
        PagesWritten++;
        if (EpochOf(process) is null) broken(Oracle.I10, $"{process} writes a page to {path} and has claimed no epoch");
        if (_claimers.GetValueOrDefault(page.Epoch) != process)
            broken(Oracle.I11,
                $"{process} writes a page of epoch {page.Epoch} to {path}, the claimer is {_claimers.GetValueOrDefault(page.Epoch)}");
        if (!_writers.TryAdd(page.Epoch, process) && _writers[page.Epoch] != process)
            broken(Oracle.I11, $"{process} and {_writers[page.Epoch]} write in epoch {page.Epoch} of {self}");
        if (!_owners.TryAdd(path, process) && _owners[path] != process)
            broken(Oracle.I11, $"{process} writes a page to {path}, which is a file of {_owners[path]}");
    }

    internal void Created(string path) => _owners.Remove(path);

    internal void Renamed(string from, string to)
    {
        if (_owners.Remove(from, out string? owner)) _owners[to] = owner;
        else _owners.Remove(to);
    }

    /// <summary>Its fence check found the name of that epoch: what it had flushed is durable for good.</summary>
    internal void Looked(Epoch epoch, List<Page> flushed)
    {
        foreach (Page page in flushed)
        {
            if (page.Epoch != epoch) continue;
            if (page.End > Durable) Durable = page.End;
            foreach ((uint origin, ulong last) in page.Inputs)
                if (_peers.TryGetValue(origin, out InstanceId peer) && !isBuried(_lives[origin]))
                    _durable[peer] = Math.Max(_durable.GetValueOrDefault(peer), last);
        }
        flushed.RemoveAll(page => page.Epoch == epoch);
    }

    internal Page? Read(ref ReadOnlySpan<byte> bytes, uint seed)
    {
        if (bytes.Length < PageHeader.Bytes || !PageHeader.TryRead(bytes, seed, out PageHeader header)
            || header.Length > bytes.Length) return null;
        ReadOnlySpan<byte> records = bytes[PageHeader.Bytes..header.Length];
        bytes = bytes[Math.Min(header.Footprint, bytes.Length)..];
        var inputs = new List<(uint, ulong)>();
        if ((header.Flags & (PageFlags.BeginsSpanning | PageFlags.ContinuesSpanning)) != 0) ReadSpanning(header, records, inputs);
        else
        {
            var reader = new RecordReader(records, header.Lsn + PageHeader.Bytes);
            while (reader.Next()) Read(reader, inputs);
        }
        return new Page(header.Epoch, header.Flags == PageFlags.DurableMark ? Lsn.Zero : header.Next, [.. inputs]);
    }

    private void Read(in RecordReader record, List<(uint, ulong)> inputs)
    {
        switch (record.Kind)
        {
            case RecordKind.Run: inputs.Add((record.ReadRun().Header.Peer, record.ReadRun().Header.Last)); break;
            case RecordKind.Peer:
                PeerRecord peer = record.Read<PeerRecord>();
                _peers[peer.Origin] = peer.Peer;
                _lives[peer.Origin] = peer.Uuid;
                break;
            case RecordKind.CheckpointMark:
                Marks++;
                LastMark = record.Read<CheckpointMarkRecord>();
                break;
            case RecordKind.Trim:
                foreach (TrimPosition trim in record.Read<TrimRecord>().Positions)
                    if (!isBuried(_lives[trim.Origin])) trimLogged(self, _peers[trim.Origin], trim.Number);
                break;
        }
    }

    private void ReadSpanning(in PageHeader header, ReadOnlySpan<byte> records, List<(uint, ulong)> inputs)
    {
        if ((header.Flags & PageFlags.BeginsSpanning) != 0)
        {
            bool isRun = (RecordKind)records[4] == RecordKind.Run;
            RunHeader run = isRun
                ? RunHeader.ReadBeginning(records[RecordHeader.Bytes..], records.Length - RecordHeader.Bytes + header.Remaining) : default;
            _spanning = isRun ? (run.Peer, run.Last) : null;
        }
        if (header.Remaining == 0 && _spanning is { } whole) inputs.Add(whole);
    }
}
