using System.ComponentModel;

namespace Ambrosia;

/// <summary>What a proxy speaks to: an instance, by way of the immortal that asked for the proxy. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct ProxyTarget
{
    internal ProxyTarget(ImmortalRuntime runtime, Destination destination)
    {
        Runtime = runtime;
        Destination = destination;
    }

    internal ImmortalRuntime Runtime { get; }

    internal Destination Destination { get; }
}
