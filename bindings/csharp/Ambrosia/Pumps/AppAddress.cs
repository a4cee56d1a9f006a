using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Ambrosia;

/// <summary>
/// Where an app finds its coordinator: <c>unix:PATH</c>, <c>tcp:PORT</c> on the loopback, or <c>ring:PATH</c>, a unix socket whose
/// coordinator offers rings (P5.19).
/// </summary>
internal sealed record AppAddress(EndPoint EndPoint, bool HasRings = false)
{
    /// <exception cref="FormatException">None of these forms, or a path longer than the system allows for a socket.</exception>
    internal static AppAddress Parse(string text)
    {
        if (text.StartsWith("unix:", StringComparison.Ordinal) && text.Length > 5) return new AppAddress(SocketAt(text));
        if (text.StartsWith("ring:", StringComparison.Ordinal) && text.Length > 5) return new AppAddress(SocketAt(text), HasRings: true);
        if (text.StartsWith("tcp:", StringComparison.Ordinal)
            && ushort.TryParse(text.AsSpan(4), NumberStyles.None, CultureInfo.InvariantCulture, out ushort port) && port != 0)
            return new AppAddress(new IPEndPoint(IPAddress.Loopback, port));
        throw new FormatException($"'{text}' is none of unix:PATH, ring:PATH and tcp:PORT");
    }

    private static UnixDomainSocketEndPoint SocketAt(string text)
    {
        try
        {
            return new UnixDomainSocketEndPoint(text[5..]);
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new FormatException(
                $"the path in '{text}' is too long for a socket: let the coordinator take a shorter one with --app-socket");
        }
    }

    /// <exception cref="SocketException">Nobody listens there.</exception>
    internal Socket Connect()
    {
        bool isUnix = EndPoint is UnixDomainSocketEndPoint;
        var socket = new Socket(EndPoint.AddressFamily, SocketType.Stream, isUnix ? ProtocolType.Unspecified : ProtocolType.Tcp);
        try
        {
            if (!isUnix) socket.NoDelay = true;
            socket.Connect(EndPoint);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
