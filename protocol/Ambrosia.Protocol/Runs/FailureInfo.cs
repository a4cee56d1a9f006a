namespace Ambrosia.Protocol.Runs;

/// <summary>
/// Describes a failure that travels between immortals (protocol P4.4) by names and texts; types do not travel. Its stack goes in an
/// extension block (<see cref="FailureStack"/>).
/// </summary>
/// <param name="TypeName">Full name of the exception's type where it was thrown, or a name of <see cref="FailureNames"/>. It is for people
/// and for comparing; no object is ever made from it.</param>
public sealed record FailureInfo(string TypeName, string Message, FailureInfo? Inner = null)
{
    /// <summary>A chain has at most this many failures, the outermost included; the rest is cut when it is written.</summary>
    public const int DepthMax = 16;

    /// <summary>
    /// Describes an exception and its causes by their own names and texts. Of one that <see cref="ListedFailures"/> knows the list says
    /// what travels, and its causes are left out, since their wording is the runtime's.
    /// </summary>
    public static FailureInfo Of(Exception exception) =>
        Of(exception, static e => NameOf(e.GetType()), static e => MessageOf(e) ?? ListedFailures.NoText(NameOf(e.GetType())));

    /// <summary>Describes an exception and its causes.</summary>
    /// <param name="nameOf">Gives the type name of one that is not in the list.</param>
    /// <param name="textOf">Gives the text of one that is not in the list.</param>
    public static FailureInfo Of(Exception exception, Func<Exception, string> nameOf, Func<Exception, string> textOf)
    {
        var chain = new List<Exception>(1);
        FailureInfo? info = null;
        for (Exception? e = exception; e is not null && info is null && chain.Count < DepthMax; e = e.InnerException)
        {
            info = ListedFailures.Of(e);
            if (info is null) chain.Add(e);
        }
        for (int i = chain.Count - 1; i >= 0; i--) info = new FailureInfo(nameOf(chain[i]), textOf(chain[i]), info);
        return info!;
    }

    /// <summary>
    /// Returns the full name of a type. The full name of a generic one would say in which versions of which assemblies its arguments are,
    /// and change with them.
    /// </summary>
    public static string NameOf(Type type) => type.IsGenericType ? type.ToString() : type.FullName ?? type.Name;

    /// <summary>Returns the text of an exception; null where its type has a text of its own, which throws.</summary>
    public static string? MessageOf(Exception exception)
    {
        try
        {
            return exception.Message;
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            return null;
        }
    }

    public void Write(ref CborWriter to)
    {
        FailureInfo? failure = this;
        for (int depth = 0; failure is not null && depth < DepthMax; depth++, failure = failure.Inner)
        {
            to.WriteArrayHeader(3);
            to.WriteString(failure.TypeName);
            to.WriteString(failure.Message);
        }
        to.WriteNull();
    }

    /// <summary>Reads a failure and its causes.</summary>
    /// <exception cref="CborException">The item is no failure, or the chain is longer than <see cref="DepthMax"/>.</exception>
    public static FailureInfo Read(ref CborReader from)
    {
        var chain = new List<(string TypeName, string Message)>(1);
        do
        {
            int at = from.Position;
            if (chain.Count == DepthMax) throw new CborException(CborError.TooDeep, at, $"failure nested deeper than {DepthMax}");
            int items = from.ReadArrayHeader();
            if (items != 3) throw new CborException(CborError.WrongType, at, $"failure of {items} items");
            chain.Add((from.ReadString(), from.ReadString()));
        }
        while (!from.TryReadNull());

        FailureInfo? failure = null;
        for (int i = chain.Count - 1; i >= 0; i--) failure = new FailureInfo(chain[i].TypeName, chain[i].Message, failure);
        return failure!;
    }
}
