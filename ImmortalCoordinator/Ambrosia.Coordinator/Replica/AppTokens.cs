using System.Security.Cryptography;

namespace Ambrosia.Coordinator.Replica;

/// <summary>
/// Knows which app a connection is of, by the token that it shows: the app of this replica, the old one of two, or one that is to become
/// the app of a running primary. Any thread; what is known changes at once.
/// </summary>
internal sealed class AppTokens(ReadOnlyMemory<byte> app, ReadOnlyMemory<byte> old)
{
    private volatile Known _known = new(app, old, default, null);

    /// <summary>Whoever shows it may be an app of this replica.</summary>
    public bool IsAny(ReadOnlyMemory<byte> token)
    {
        Known known = _known;
        return Are(token, known.App) | Are(token, known.Old) | Are(token, known.Next);
    }

    /// <summary>It is the old one of two apps.</summary>
    public bool IsOld(ReadOnlyMemory<byte> token) => Are(token, _known.Old);

    /// <summary>It is the one that is expected to become the app.</summary>
    public bool IsNext(ReadOnlyMemory<byte> token) => Are(token, _known.Next);

    /// <summary>An app that shows this token is to become the app.</summary>
    public void Expect(ReadOnlyMemory<byte> next) => _known = _known with { Next = next };

    /// <summary>The one that was expected is the app from here on, and the one that served is the old one of two.</summary>
    /// <param name="wasOld">That was the old one of two already, behind an upgrade that was given up.</param>
    public void TurnToNext(bool wasOld)
    {
        Known known = _known;
        _known = new Known(known.Next, wasOld ? known.Old : known.App, default, known);
    }

    /// <summary>Nobody is expected any more, and whoever was the app before <see cref="TurnToNext"/> is it again.</summary>
    public void TurnBack()
    {
        Known known = _known;
        _known = (known.Next.IsEmpty ? known.Before ?? known : known) with { Next = default };
    }

    private static bool Are(ReadOnlyMemory<byte> token, ReadOnlyMemory<byte> known) =>
        !known.IsEmpty && CryptographicOperations.FixedTimeEquals(token.Span, known.Span);

    private sealed record Known(ReadOnlyMemory<byte> App, ReadOnlyMemory<byte> Old, ReadOnlyMemory<byte> Next, Known? Before);
}
