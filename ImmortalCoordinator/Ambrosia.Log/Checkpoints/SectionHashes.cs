using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// The hashes of a checkpoint's contents (log-format L6.5), each byte looked at once: that of sections 2 to 4 together
/// follows from those of each.
/// </summary>
internal struct SectionHashes
{
    private CheckpointSection _section;
    private ulong _before; // of the sections before this one
    private ulong _hash;   // of this one so far
    private ulong _length;

    /// <summary>CRC-64/NVME of everything so far.</summary>
    public readonly ulong Digest => ChannelHash.Combine(_before, _hash, _length);

    /// <summary>CRC-64/NVME of the image so far.</summary>
    public readonly ulong Image => _section == CheckpointSection.Image ? _hash : 0;

    /// <summary>Adds content in file order; header and trailer are in no hash.</summary>
    public void Add(CheckpointSection section, ReadOnlySpan<byte> content)
    {
        if (section is not (CheckpointSection.Coordinator or CheckpointSection.Outbox or CheckpointSection.Image)) return;
        if (section != _section)
        {
            _before = Digest;
            _hash = _length = 0;
            _section = section;
        }
        _hash = ChannelHash.Append(_hash, content);
        _length += (ulong)content.Length;
    }
}
