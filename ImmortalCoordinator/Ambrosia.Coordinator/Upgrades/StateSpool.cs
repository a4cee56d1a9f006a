using System.Buffers;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>
/// Holds the state that the old app has sent, on its way to the new one: in a file, since a state may be larger than memory has room for
/// twice. The file means nothing to the log; nothing of it is flushed, and it goes with this object. One thread at a time: the one that
/// reads the old app writes it, then the one that sends to the new app reads it.
/// </summary>
internal sealed class StateSpool : IDisposable
{
    private const int ChunkBytes = 64 * 1024;

    private readonly IFileSystem _files;
    private readonly string _path;
    private readonly IFile _file;
    private readonly ImageBegin _begin;
    private ulong _hash;
    private long _length, _read;
    private bool _hasBegun, _isOver;

    /// <exception cref="IOException">The disk is full, or broken.</exception>
    public StateSpool(CoordinatorInputs inputs, ImageBegin begin)
    {
        (_files, _path, _begin) = (inputs.Files, PathOf(inputs.Options), begin);
        _files.Delete(_path); // a killed process has left it
        _file = _files.Create(_path);
    }

    /// <summary>Every record below is executed in the state.</summary>
    public Lsn Position => _begin.Position;

    public static string PathOf(CoordinatorOptions options) => Path.Combine(options.RunDirectory, $"upgrade.{options.Replica}");

    /// <exception cref="IOException">The disk is full, or broken.</exception>
    public void Add(ReadOnlySpan<byte> bytes)
    {
        _file.Write(bytes, _length);
        _length += bytes.Length;
        _hash = ChannelHash.Append(_hash, bytes);
    }

    /// <exception cref="ProtocolViolation">P5.7: another image than its end says.</exception>
    public void End(ImageEnd end)
    {
        if ((end.Length, end.Hash) != ((ulong)_length, _hash))
            throw new ProtocolViolation("P5.7", $"a state of {_length} bytes with hash {_hash:x16} that says {end.Length} and {end.Hash:x16}");
    }

    /// <summary>Writes the next frame for the new app; false: the image is complete.</summary>
    /// <exception cref="IOException">The disk is broken.</exception>
    public bool TryWriteNext(ArrayBufferWriter<byte> to)
    {
        if (!_hasBegun)
        {
            _hasBegun = true;
            FrameWriter.Write(to, _begin, 0, checkPayload: false);
        }
        else if (_read < _length)
        {
            byte[] chunk = new byte[(int)Math.Min(ChunkBytes, _length - _read)];
            if (_file.Read(chunk, _read) != chunk.Length) throw new IOException($"{_path} is shorter than what was written to it");
            _read += chunk.Length;
            FrameWriter.Write(to, FrameType.ImageChunk, chunk, 0, checkPayload: false);
        }
        else if (!_isOver)
        {
            _isOver = true;
            FrameWriter.Write(to, new ImageEnd((ulong)_length, _hash), 0, checkPayload: false);
        }
        else return false;
        return true;
    }

    public void Dispose()
    {
        try
        {
            _file.Dispose();
            _files.Delete(_path);
        }
        catch (IOException)
        {
            // What is left means nothing, and goes before the next one is made.
        }
    }
}
