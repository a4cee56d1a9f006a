using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>
/// What one instance's log holds for good, seen from the disk alone: a page counts when the file that it was written to was flushed
/// afterwards and the fence was looked up after that (log-format L7.2). Knows nothing of what the coordinator believes. Survives every
/// process of the instance.
/// </summary>
internal sealed class DiskWitness(InstanceId self, Action<InstanceId, InstanceId, ulong> trimLogged)
{
    private readonly record struct Page(Lsn End, (uint Origin, ulong Last)[] Inputs);

    private readonly string directory = $"/data/{self.Name}";
    private readonly Dictionary<uint, InstanceId> peers = [];
    private readonly Dictionary<InstanceId, ulong> durable = [];
    private readonly List<Page> flushed = [];
    private (uint Origin, ulong Last)? spanning;

    /// <summary>Every page below is on disk for good.</summary>
    public Lsn Durable { get; private set; }

    /// <summary>Number of the last call of <paramref name="peer"/> that is on disk for good.</summary>
    public ulong DurableFrom(InstanceId peer) => durable.GetValueOrDefault(peer);

    public IFileSystem Watch(IFileSystem files) => new WatchedFiles(files, this);

    private Page? Read(ref ReadOnlySpan<byte> bytes, uint seed)
    {
        if (bytes.Length < PageHeader.Bytes || PageHeader.Read(bytes, seed, out PageHeader header) is not null || header.Length > bytes.Length) return null;
        ReadOnlySpan<byte> records = bytes[PageHeader.Bytes..header.Length];
        bytes = bytes[Math.Min(header.Footprint, bytes.Length)..];
        var inputs = new List<(uint, ulong)>();
        if ((header.Flags & (PageFlags.BeginsSpanning | PageFlags.ContinuesSpanning)) != 0) ReadSpanning(header, records, inputs);
        else
        {
            var reader = new RecordReader(records, header.Lsn + PageHeader.Bytes);
            while (reader.Next()) Read(reader, inputs);
        }
        return new Page(header.Lsn + header.Length, [.. inputs]);
    }

    private void Read(in RecordReader record, List<(uint, ulong)> inputs)
    {
        switch (record.Kind)
        {
            case RecordKind.Run: inputs.Add((record.ReadRun().Header.Peer, record.ReadRun().Header.Last)); break;
            case RecordKind.Peer: peers[record.Read<PeerRecord>().Origin] = record.Read<PeerRecord>().Peer; break;
            case RecordKind.Trim:
                foreach (TrimPosition trim in record.Read<TrimRecord>().Positions) trimLogged(self, peers[trim.Origin], trim.Number);
                break;
        }
    }

    private void ReadSpanning(in PageHeader header, ReadOnlySpan<byte> records, List<(uint, ulong)> inputs)
    {
        if ((header.Flags & PageFlags.BeginsSpanning) != 0)
        {
            bool isRun = (RecordKind)records[4] == RecordKind.Run;
            RunHeader run = isRun ? RunHeader.ReadBeginning(records[RecordHeader.Bytes..], records.Length - RecordHeader.Bytes + header.Remaining) : default;
            spanning = isRun ? (run.Peer, run.Last) : null;
        }
        if (header.Remaining == 0 && spanning is { } whole) inputs.Add(whole);
    }

    private void Looked()
    {
        foreach (Page page in flushed)
        {
            if (page.End > Durable) Durable = page.End;
            foreach ((uint origin, ulong last) in page.Inputs)
                if (peers.TryGetValue(origin, out InstanceId peer)) durable[peer] = Math.Max(durable.GetValueOrDefault(peer), last);
        }
        flushed.Clear();
    }

    private sealed class WatchedFiles(IFileSystem files, DiskWitness witness) : WrappedFiles(files)
    {
        private uint? seed;

        /// <summary>Whatever its name is now: segments are made under other names.</summary>
        protected override IFile Wrap(string path, IFile file) => new WatchedFile(file, this);

        public override bool Exists(string path)
        {
            bool exists = base.Exists(path);
            if (exists && Path.GetFileName(path).StartsWith("epoch.", StringComparison.Ordinal)) witness.Looked();
            return exists;
        }

        public Page? Read(ref ReadOnlySpan<byte> bytes)
        {
            seed ??= InstanceDirectory.TryRead(this, witness.directory) is { } identity ? PageHeader.SeedOf(identity.Uuid, identity.Shard) : null;
            return seed is { } known ? witness.Read(ref bytes, known) : null;
        }

        public void Flushed(List<Page> pages)
        {
            witness.flushed.AddRange(pages);
            pages.Clear();
        }
    }

    private sealed class WatchedFile(IFile file, WatchedFiles owner) : WrappedFile(file)
    {
        private readonly List<Page> written = [];

        public override void Write(ReadOnlySpan<byte> bytes, long offset)
        {
            base.Write(bytes, offset);
            while (bytes.Length > 0 && owner.Read(ref bytes) is { } page) written.Add(page);
        }

        public override void Flush()
        {
            base.Flush();
            owner.Flushed(written);
        }
    }
}
