using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Views;

/// <summary>Holds a call that the app of a view has made.</summary>
/// <param name="Number">On its channel.</param>
/// <param name="Message">Whole, as it stands in its run.</param>
public sealed record ViewedCall(InstanceId To, ulong Number, MessageKind Kind, ReadOnlyMemory<byte> Message);
