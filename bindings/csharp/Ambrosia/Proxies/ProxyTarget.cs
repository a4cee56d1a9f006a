using System.ComponentModel;
using Ambrosia.Outbound;
using Ambrosia.Proxies;

namespace Ambrosia;

/// <summary>
/// Tells a proxy to which instance it speaks, by way of the immortal that asked for the proxy. Generated code hands it on.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct ProxyTarget
{
    internal ProxyTarget(MessageSender sender, Destination destination)
    {
        Sender = sender;
        Destination = destination;
    }

    internal MessageSender Sender { get; }

    internal Destination Destination { get; }
}
