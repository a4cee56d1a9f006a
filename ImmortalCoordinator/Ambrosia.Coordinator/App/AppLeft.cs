using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>The app said goodbye, or was sent away.</summary>
internal sealed class AppLeft(Goodbye goodbye) : Exception(goodbye.Why)
{
    public Goodbye Goodbye { get; } = goodbye;
}
