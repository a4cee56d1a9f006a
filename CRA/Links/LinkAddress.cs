using System.Net;
using System.Net.Sockets;

namespace CRA.Links;

/// <summary>
/// Reads and writes addresses, which are IP literals (or "localhost") with a port. Without certificates links are not encrypted, so
/// anything but loopback must be allowed. Addresses of IPv4 are read and written here, because the class library's code for them is generic
/// over the kind of characters. An image made ahead of time does not hold that code, so each start would compile it (experiment 18).
/// </summary>
internal static class LinkAddress
{
    public static IPEndPoint ToListen(string address, bool mayLeaveTheMachine) => Parse(address, mayLeaveTheMachine, "listen on");

    public static IPEndPoint ToDial(string address, bool mayLeaveTheMachine)
    {
        IPEndPoint end = Parse(address, mayLeaveTheMachine, "dial");
        if (end.Port == 0)
            throw new LinkAddressException(
                $"Cannot dial '{address}': port 0 names no listener. The catalog must hold the port that the listener was given.");
        return end;
    }

    private static IPEndPoint Parse(string address, bool mayLeaveTheMachine, string toDo)
    {
        string literal = address.StartsWith("localhost:", StringComparison.Ordinal)
            ? string.Concat("127.0.0.1", address.AsSpan("localhost".Length)) : address;
        // Without a port a literal parses as port 0; so the colon before the port is looked for.
        IPEndPoint? end = TryReadPlain(literal);
        if (end is null && (!IPEndPoint.TryParse(literal, out end) || !HasPort(literal)))
            throw new LinkAddressException(
                $"Cannot {toDo} '{address}': it is not an IP address with a port. Write it like 127.0.0.1:4711 or [::1]:4711.");
        if (!mayLeaveTheMachine && !IPAddress.IsLoopback(end.Address))
            throw new LinkAddressException(
                $"Cannot {toDo} '{address}': it can be reached from other machines, and links are not encrypted: everybody on the way could read and change them. "
                + "Use a loopback address such as 127.0.0.1; or encrypt with --tls-cert, --tls-key and --tls-ca ('ambrosia certs' makes certificates to begin with); "
                + "or allow it with --insecure on a network that you trust.");
        return end;
    }

    public static string TextOf(IPEndPoint end)
    {
        Span<byte> numbers = stackalloc byte[4];
        return end.AddressFamily == AddressFamily.InterNetwork && end.Address.TryWriteBytes(numbers, out _)
            ? $"{numbers[0]}.{numbers[1]}.{numbers[2]}.{numbers[3]}:{end.Port}" : end.ToString();
    }

    /// <summary>
    /// Reads four decimal numbers and a port, none with a zero in front (which would be octal). It returns null for anything else, which
    /// may be a valid address all the same.
    /// </summary>
    private static IPEndPoint? TryReadPlain(ReadOnlySpan<char> text)
    {
        Span<int> numbers = stackalloc int[5];
        int at = 0, digits = 0;
        foreach (char c in text)
        {
            if (char.IsAsciiDigit(c) && digits < 5 && (digits == 0 || numbers[at] > 0))
                (numbers[at], digits) = (numbers[at] * 10 + (c - '0'), digits + 1);
            else if (at < 4 && digits > 0 && c == (at == 3 ? ':' : '.')) (at, digits) = (at + 1, 0);
            else return null;
        }
        if (at < 4 || digits == 0 || numbers[4] > IPEndPoint.MaxPort) return null;
        long address = 0;
        for (int i = 0; i < 4; i++)
        {
            if (numbers[i] > byte.MaxValue) return null;
            address |= (long)numbers[i] << (8 * i);
        }
        return new IPEndPoint(address, numbers[4]);
    }

    private static bool HasPort(string literal)
    {
        int colon = literal.LastIndexOf(':');
        return literal.StartsWith('[') ? colon > literal.IndexOf(']') : colon >= 0 && colon == literal.IndexOf(':');
    }
}

/// <summary>
/// An address cannot be used. The message says what is wrong, why, and how to mend it. On a command line it means exit code 2.
/// </summary>
public sealed class LinkAddressException(string message, Exception? inner = null) : Exception(message, inner);
