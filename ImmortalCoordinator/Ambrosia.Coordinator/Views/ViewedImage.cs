using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Coordinator.Views;

/// <summary>Holds what the app of a view has answered to a query.</summary>
/// <param name="Answer">The value or the failure, by <see cref="Status"/>.</param>
public sealed record ViewedAnswer(QueryStatus Status, ReadOnlyMemory<byte> Answer);

/// <summary>Holds the image of a state where a view has stopped.</summary>
/// <param name="Position">Everything below is executed whole.</param>
/// <param name="Hash">CRC-64/NVME of the image, as checkpoints have it.</param>
public sealed record ViewedImage(LargeBuffer Bytes, Lsn Position, uint Version, ulong Hash) : IDisposable
{
    public void Dispose() => Bytes.Dispose();
}
