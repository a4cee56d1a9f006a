using System.Globalization;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>The files of one process, with its instance's witness looking on.</summary>
internal sealed class WatchedFiles(IFileSystem files, DiskWitness witness, string process) : WrappedFiles(files)
{
    private readonly List<DiskWitness.Page> _flushed = [];
    private uint? _seed;

    /// <summary>Whatever its name is now: segments are made under other names.</summary>
    protected override IFile Wrap(string path, IFile file) => new WatchedFile(path, file, this);

    public override IFile Create(string path)
    {
        IFile file = base.Create(path);
        witness.Created(path);
        return file;
    }

    public override bool Exists(string path)
    {
        bool exists = base.Exists(path);
        if (exists && FenceEpoch(path) is { } epoch) witness.Looked(epoch, _flushed);
        return exists;
    }

    public override void Rename(string from, string to)
    {
        base.Rename(from, to);
        if (FenceEpoch(to) is { } epoch) witness.Claimed(epoch, process);
        else witness.Renamed(from, to);
    }

    public override bool TryRenameNew(string from, string to)
    {
        bool renamed = base.TryRenameNew(from, to);
        if (renamed) witness.Renamed(from, to);
        return renamed;
    }

    private static Epoch? FenceEpoch(string path) =>
        Path.GetFileName(path).Split('.') is ["epoch", _, var number] ? new Epoch(ulong.Parse(number, CultureInfo.InvariantCulture)) : null;

    private void Written(string path, in DiskWitness.Page page) => witness.Written(path, page, process);

    private DiskWitness.Page? Read(ref ReadOnlySpan<byte> bytes)
    {
        _seed ??= InstanceDirectory.TryRead(this, witness.Directory) is { } identity
            ? PageHeader.SeedOf(identity.Uuid, identity.Shard) : null;
        return _seed is { } known ? witness.Read(ref bytes, known) : null;
    }

    private sealed class WatchedFile(string path, IFile file, WatchedFiles owner) : WrappedFile(file)
    {
        private readonly List<DiskWitness.Page> _written = [];

        public override void Write(ReadOnlySpan<byte> bytes, long offset)
        {
            base.Write(bytes, offset);
            while (bytes.Length > 0 && owner.Read(ref bytes) is { } page)
            {
                _written.Add(page);
                owner.Written(path, page);
            }
        }

        public override void Flush()
        {
            base.Flush();
            owner._flushed.AddRange(_written);
            _written.Clear();
        }
    }
}
