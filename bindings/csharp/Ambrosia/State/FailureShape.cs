using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes a remote call's failure that the state keeps. Its stack is left out: it is not part of what is replayed, so two replicas' images
/// would differ by it.
/// </summary>
internal sealed class FailureShape : ObjectShape
{
    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        for (var failure = (RemoteCallException?)instance; failure is not null; failure = (RemoteCallException?)failure.InnerException)
        {
            to.WriteArrayHeader(3);
            Texts.Write(ref to, failure.TypeName);
            Texts.Write(ref to, failure.Message);
        }
        to.WriteNull();
    }

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        var chain = new Stack<(string? Type, string? Message)>();
        while (!from.TryReadNull())
        {
            from.ReadArrayHeader();
            chain.Push((Texts.Read(ref from), Texts.Read(ref from)));
        }
        RemoteCallException? failure = null;
        foreach ((string? type, string? message) in chain) failure = new RemoteCallException(type ?? "", message ?? "", failure);
        return failure ?? throw new InvalidDataException("The image holds an empty failure.");
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
    }
}
